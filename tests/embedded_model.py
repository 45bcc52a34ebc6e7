"""Tells a test whether the embedded model is here; CI installs it, elsewhere its tests skip and say why."""

import pytest

from memgauge import install

MISSING = [part.name for part in install.status() if part.found is None]

needs_embedded_model = pytest.mark.skipif(
    bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; run: memgauge install embedded"
)
