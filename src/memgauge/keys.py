"""API keys: read from the environment where a spec says so, and held nowhere else."""

import os

from memgauge.errors import UserError


def api_key(variable: str | None) -> str | None:
    """The key in the environment variable, None where a spec names none; raises UserError where it is not set."""
    if variable is None:
        return None
    if not (key := os.environ.get(variable)):
        raise UserError(f"the environment variable {variable}, which should hold the API key, is not set")
    return key
