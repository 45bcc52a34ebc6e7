"""Where tables go: the terminal as it is, and anything else wide enough to keep a row on a line."""

from rich.console import Console

WIDTH = 130


def wide_console() -> Console:
    """A console on standard output; a pipe or file has no width of its own, and gets WIDTH columns."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)
