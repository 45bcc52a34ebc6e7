"""Data comes from its pinned address with its pinned content, or not at all."""

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from memgauge.errors import UserError
from memgauge.runner import plan
from memgauge.spec import WorkloadUse, load
from memgauge.workloads import fetch, registry
from memgauge.workloads.base import Card, DataFile

CONTENT = b"all that was said\n" * 10_000
REAL = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def pinned(url: str, content: bytes = CONTENT) -> Card:
    file = DataFile("talk.json", url, hashlib.sha256(content).hexdigest(), len(content))
    return Card("talk", "Talk", "a test", "", "1", "", "", ("recall",), (file,))


@contextmanager
def serving(content: bytes, status: int = 200, promised: int | None = None) -> Iterator[str]:
    """A server that answers every request with ``content``, breaking off where it ``promised`` more."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content) if promised is None else promised))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/talk.json"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refused(card: Card, path: Path | None = None) -> str:
    """The one line that a fetch ends with; nothing of it stays in the cache."""
    with pytest.raises(UserError) as caught:
        fetch.fetch(card, path)
    folder = fetch.folder(card.name)
    assert not folder.exists() or list(folder.iterdir()) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_is_downloaded_once(cache: Path) -> None:
    seen: list[int] = []
    with serving(CONTENT) as url:
        card = pinned(url)
        (path,) = fetch.fetch(card, progress=lambda file, size: seen.append(size))
    assert path == cache / "data" / "talk" / "talk.json"
    assert path.read_bytes() == CONTENT
    assert seen == sorted(seen)
    assert seen[-1] == len(CONTENT)
    assert fetch.fetch(card) == (path,), "the server is gone by now, and is not needed"


def test_the_state_of_a_file_is_told(cache: Path) -> None:
    card = pinned("http://unused")
    (file,) = card.files
    assert fetch.state(card, file) == "missing"
    target = fetch.location(card, file)
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT[:-1] + b"!")
    assert fetch.state(card, file) == "damaged"
    target.write_bytes(CONTENT)
    assert fetch.state(card, file) == "present"


def test_a_damaged_file_is_replaced() -> None:
    with serving(CONTENT) as url:
        card = pinned(url)
        target = fetch.location(card, card.files[0])
        target.parent.mkdir(parents=True)
        target.write_bytes(b"half of it")
        fetch.fetch(card)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"?" + CONTENT[1:], "sha256"),
        (CONTENT + b"!", "more than its 180000 bytes"),
        (CONTENT[:-1], "179999 bytes where 180000 were expected"),
    ],
)
def test_another_content_is_refused(content: bytes, message: str) -> None:
    with serving(content) as url:
        assert message in refused(pinned(url))


@pytest.mark.parametrize(("status", "message"), [(404, "answered 404 Not Found"), (503, "answered 503 Service Un")])
def test_a_refusal_of_the_server_is_passed_on(status: int, message: str) -> None:
    with serving(b"", status) as url:
        assert message in refused(pinned(url))


def test_a_download_that_breaks_off_is_refused() -> None:
    with serving(CONTENT[:100], promised=len(CONTENT)) as url:
        assert refused(pinned(url)).startswith(url)


def test_without_a_network_it_says_what_to_do() -> None:
    with serving(b"") as url:
        pass  # its port is closed now
    assert "cannot be reached (connection refused); download talk.json elsewhere and give it with --path" in refused(
        pinned(url)
    )
    assert "cannot be reached" in refused(pinned("http://nowhere.invalid/talk.json"))


def test_a_file_at_hand_is_copied_from_a_path_or_its_folder(tmp_path: Path) -> None:
    own = tmp_path / "talk.json"
    own.write_bytes(CONTENT)
    card = pinned("http://unused")
    for path in (own, tmp_path):
        (target,) = fetch.fetch(card, path)
        assert target.read_bytes() == CONTENT
        target.unlink()


def test_a_wrong_or_missing_file_at_hand_is_named(tmp_path: Path) -> None:
    own = tmp_path / "other.json"
    card = pinned("http://unused")
    assert refused(card, own) == f"{own}: no such file; expected talk.json (180000 bytes)"
    own.write_bytes(b"something else")
    assert refused(card, own) == f"{own}: not the pinned talk.json: 14 bytes where 180000 were expected"


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    own = tmp_path / "talk.json"
    own.write_bytes(CONTENT)
    monkeypatch.setattr("os.fsync", full)
    assert refused(pinned("http://unused"), own).endswith("talk.json: cannot be written: the disk is full")


@pytest.mark.skipif(not REAL.is_file(), reason="LoCoMo's own file is not at hand")
def test_locomo_is_pinned_to_the_file_at_hand() -> None:
    (path,) = fetch.fetch(registry.card("locomo"), REAL)
    assert path.stat().st_size == 2_805_274
    assert len(registry.create("locomo", {}).items()) == 10


def two_files() -> Card:
    """A required file and an optional one beside it."""
    files = [
        DataFile(name, "http://unused", hashlib.sha256(content).hexdigest(), len(content), optional)
        for name, content, optional in (("talk.json", CONTENT, False), ("more.json", CONTENT[::-1], True))
    ]
    return Card("talk", "Talk", "a test", "", "1", "", "", ("recall",), tuple(files))


def test_an_optional_file_is_fetched_when_it_is_named(tmp_path: Path) -> None:
    card = two_files()
    (tmp_path / "talk.json").write_bytes(CONTENT)
    assert [path.name for path in fetch.fetch(card, tmp_path)] == ["talk.json"]
    assert [path.name for path in fetch.fetch(card)] == ["talk.json"], "it is here already"
    with pytest.raises(UserError, match=r"no such file; expected more\.json"):
        fetch.fetch(card, tmp_path, only="more.json")
    (tmp_path / "more.json").write_bytes(CONTENT[::-1])
    assert [path.name for path in fetch.fetch(card, tmp_path, only="more.json")] == ["more.json"]
    with pytest.raises(UserError, match=r"unknown file of talk 'mor\.json'; did you mean 'more\.json'"):
        fetch.fetch(card, only="mor.json")


def test_a_folder_brings_the_optional_files_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_bytes(CONTENT)
    (tmp_path / "more.json").write_bytes(CONTENT[::-1])
    assert [path.name for path in fetch.fetch(two_files(), tmp_path)] == ["talk.json", "more.json"]


def test_a_lone_file_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "more.json").write_bytes(CONTENT[::-1])
    assert [path.name for path in fetch.fetch(two_files(), tmp_path / "more.json")] == ["more.json"]
    (tmp_path / "talk-2.json").write_bytes(CONTENT)
    assert [path.name for path in fetch.fetch(two_files(), tmp_path / "talk-2.json")] == ["talk.json"]


def test_the_command_that_fetches_a_file_names_it_where_it_must() -> None:
    card = two_files()
    assert [fetch.to_get(card, file) for file in card.files] == [
        "memgauge data fetch talk",
        "memgauge data fetch talk more.json",
    ]


@pytest.mark.skipif(not REAL.is_file(), reason="LoCoMo's own file is not at hand")
def test_a_workload_is_planned_without_its_optional_files() -> None:
    fetch.fetch(registry.card("locomo"), REAL)
    use = WorkloadUse(name="locomo", protocols=("recall",), optional=True)
    loaded = plan.load(replace(load("quickstart"), workloads=(use,)))
    assert [use.name for use, _ in loaded.workloads] == ["locomo"]
    assert loaded.left_out == ()
