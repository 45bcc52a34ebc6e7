"""The setting decides what is sent, and what was asked for is on record."""

from memgauge.meter.overrides import output_limit, overridden
from memgauge.spec import Setting


def test_model_effort_temperature_and_routing_are_the_settings() -> None:
    setting = Setting(effort="low", temperature=0.7, provider={"order": ["groq"]})
    asked = {"model": "gpt-9", "temperature": 0.1, "reasoning_effort": "high", "provider": {"order": ["x"]}, "top_p": 1}

    sent, replaced = overridden(setting, "gpt-oss-20b", asked, seed=3)

    assert sent == {
        "model": "gpt-oss-20b", "temperature": 0.7, "reasoning_effort": "low", "provider": {"order": ["groq"]},
        "top_p": 1, "seed": 3,
    }  # fmt: skip
    assert replaced == {
        "model": "gpt-9", "temperature": 0.1, "reasoning_effort": "high", "provider": {"order": ["x"]},
    }  # fmt: skip


def test_what_the_setting_is_silent_about_is_dropped_where_it_would_change_the_backbone() -> None:
    sent, replaced = overridden(Setting(), "m", {"reasoning": {"effort": "high"}, "models": ["a", "b"]}, seed=0)

    assert "reasoning" not in sent
    assert "models" not in sent
    assert set(replaced) == {"reasoning", "models"}


def test_a_lower_limit_stands_and_a_higher_one_is_capped() -> None:
    setting = Setting(max_output_tokens=100)

    assert output_limit(overridden(setting, "m", {"max_tokens": 20}, 0)[0]) == 20
    assert output_limit(overridden(setting, "m", {"max_completion_tokens": 64_000}, 0)[0]) == 100
    assert output_limit(overridden(setting, "m", {}, 0)[0]) == 100


def test_how_the_reply_travels_is_not_the_upstreams_business() -> None:
    sent, replaced = overridden(Setting(), "m", {"stream": True, "stream_options": {"include_usage": False}}, 0)

    assert "stream" not in sent
    assert "stream_options" not in sent
    assert replaced == {}


def test_openrouter_takes_effort_in_its_own_field() -> None:
    setting = Setting(effort="medium", base_url="https://openrouter.ai/api/v1")

    assert overridden(setting, "m", {}, 0)[0]["reasoning"] == {"effort": "medium"}
