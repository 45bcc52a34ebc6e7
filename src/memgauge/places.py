"""Where memgauge keeps what it downloads (models, tokenizers, data sets) and what it builds (environments)."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """The user's cache of memgauge: ``$MEMGAUGE_CACHE``, else ``$XDG_CACHE_HOME/memgauge``, else ``~/.cache``'s."""
    if own := os.environ.get("MEMGAUGE_CACHE"):
        return Path(own).expanduser()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification asks that a relative path be ignored.
    base = Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".cache"
    return base / "memgauge"


def models_dir() -> Path:
    """Model files, each verified by its SHA-256 before it came here."""
    return cache_dir() / "models"


def data_dir() -> Path:
    """Data sets, each verified by its SHA-256 before it came here."""
    return cache_dir() / "data"


def environments_dir() -> Path:
    """Environments of outside products: below ``$MEMGAUGE_DATA``, ``$XDG_DATA_HOME`` or ``~/.local/share``."""
    if own := os.environ.get("MEMGAUGE_DATA"):
        return Path(own).expanduser() / "environments"
    xdg = os.environ.get("XDG_DATA_HOME", "")
    base = Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".local" / "share"
    return base / "memgauge" / "environments"
