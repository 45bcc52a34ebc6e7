"""The shape of the house holds: imports run one way, and the core stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import memgauge

ROOT = Path(memgauge.__file__).parent
LEFT = {"meter", "memories", "protocols", "runner", "backbones", "embedders", "workloads"}
RIGHT = {"metrics", "analysis", "report", "prices", "published"}
MODULES = sorted(ROOT.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Rooms of memgauge that a module imports, at any depth of nesting."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("memgauge"):
            names = [node.module] if node.module != "memgauge" else [f"memgauge.{name.name}" for name in node.names]
            rooms |= {name.split(".")[1] for name in names if "." in name}
        elif isinstance(node, ast.Import):
            rooms |= {name.name.split(".")[1] for name in node.names if name.name.startswith("memgauge.")}
    return rooms


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    rooms = imported(path)
    if room in RIGHT:
        assert not rooms & LEFT, "the right wing reads the ledger alone"
    if room in LEFT - {"runner"}:
        assert not rooms & (RIGHT | {"runner"}), "the left wing does not know what its ledger is used for"
    if room == "ledger":
        assert not rooms & (LEFT | RIGHT)
    if room not in ("cli.py", "commands", "console"):
        assert not rooms & {"cli", "console"}


def test_importing_memgauge_and_asking_for_help_loads_nothing_heavy() -> None:
    heavy = ["aiohttp", "polars", "numpy", "onnxruntime", "xllamacpp", "rich", "genai_prices", "toktok"]
    code = f"import sys, memgauge.cli; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
