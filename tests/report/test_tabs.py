from memgauge.report.tabs import tabs
from tags import Tags


def test_one_choice_needs_no_button():
    assert tabs("cell", [("400 × 200", "shown")], "Cell") == "<div>shown</div>"


def test_the_first_choice_is_made_and_every_choice_has_its_panel():
    found = Tags(tabs("cell", [("one", "<first>"), ("two", "second")], "Cell", kind="cell")).found
    buttons = [attributes for tag, attributes in found if tag == "input"]
    assert [(button["name"], "checked" in button) for button in buttons] == [("cell", True), ("cell", False)]
    assert [button["data-choice"] for button in buttons] == ["one", "two"]
    assert [attributes["for"] for tag, attributes in found if tag == "label"] == [button["id"] for button in buttons]
    assert sum(attributes.get("class") == "panel" for _, attributes in found) == 2
