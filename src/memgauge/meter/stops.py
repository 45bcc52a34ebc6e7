"""Decisions of ours to send no more: a product hears of them as an error among others, the run as its end."""


class Stop(Exception):  # noqa: N818 - a decision of ours, not a fault
    """No call is sent any more. ``whole_run`` says whether by nobody, or by the unit alone that asked.

    ``status`` and ``kind`` are what a client of the gateway is told: a 4xx that clients do not ask again after.
    """

    status = 424
    kind = "stopped"
    whole_run = True


class Halted(Stop):
    """The user wants the run to stop."""
