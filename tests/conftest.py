"""Settings for all tests."""

from hypothesis import settings

# Tests are never timed: a machine that is busy must not fail a property.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
