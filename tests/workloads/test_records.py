"""Records are found in one pass over a mapped file, and decoded one at a time."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from memgauge.errors import UserError
from memgauge.workloads import records

DECODER = msgspec.json.Decoder(dict[str, int])


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b'[{"a": 1}, {"a": 2}]',
        b'\xef\xbb\xbf\n  [\n    {\n        "a": 1\n    },\n    {"a": 2}\n]\n',
        b'{"a": 1}\n{"a": 2}\n',
        b'\n{"a": 1}\n\n{"a": 2}',
    ],
    ids=["list", "indented list with a byte order mark", "lines", "lines with blank ones"],
)
def test_records_stand_in_a_list_or_one_a_line(tmp_path: Path, content: bytes) -> None:
    found = records.opened(written(tmp_path, content), "expected numbers")
    assert [found.decoded(index, DECODER) for index in range(len(found))] == [{"a": 1}, {"a": 2}]
    assert found.sha256() == hashlib.sha256(content).hexdigest()


def test_a_lone_object_is_one_record(tmp_path: Path) -> None:
    found = records.opened(written(tmp_path, b'{\n "a": 1\n}\n'), "expected numbers")
    assert len(found) == 1
    assert found.decoded(0, DECODER) == {"a": 1}


def test_only_the_record_that_is_asked_for_has_to_be_right(tmp_path: Path) -> None:
    path = written(tmp_path, b'[{"a": 1}, {"a": "two"}]')
    found = records.opened(path, "expected numbers")
    assert found.decoded(0, DECODER) == {"a": 1}
    with pytest.raises(UserError) as caught:
        found.decoded(1, DECODER)
    assert str(caught.value) == f"{path}: record 2: expected numbers: Expected int, got str - at $[...]"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected numbers: it is empty"),
        (b" \n ", "expected numbers: it is empty"),
        (b"[]", "expected numbers: it is empty"),
        (b'[{"a": 1}, {"a": 2', "expected numbers: the file breaks off; bring it again"),
        (b'[{"a": 1},', "expected numbers: the file breaks off; bring it again"),
        (b'{"a": 1}\n{"a":', "expected numbers: the file breaks off; bring it again"),
        (b"version https://git-lfs", "expected numbers: JSON is malformed: invalid character (byte 0)"),
        (b'"text"', "expected numbers: Expected array, got str"),
    ],
)
def test_a_file_without_records_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(UserError) as caught:
        records.opened(path, "expected numbers")
    assert str(caught.value) == f"{path}: {message}"


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nested too deep"):
        records.opened(written(tmp_path, b"[" * 100_000), "expected numbers")


def test_a_file_that_is_not_there_names_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.json: fetch it first"):
        records.opened(tmp_path / "absent.json", "expected numbers", "fetch it first")
    with pytest.raises(UserError, match="Is a directory"):
        records.opened(tmp_path, "expected numbers")


def test_a_large_record_is_not_decoded_to_be_found(tmp_path: Path) -> None:
    # A record of another kind is passed over: only what is asked for is read.
    content = json.dumps([{"a": 1}, {"a": ["x" * 100_000]}]).encode()
    found = records.opened(written(tmp_path, content), "expected numbers")
    assert len(found) == 2
    assert found.decoded(0, DECODER) == {"a": 1}
