"""Stops a run in order: what is under way is paid for, so it is let finish, and no call is sent after it."""

from memgauge.meter.budget import Budget


class Brake:
    """Held by whoever may want a run to stop; the run ties it to its budget once there is one."""

    def __init__(self) -> None:
        self.pulled = False
        self._budget: Budget | None = None

    def tie(self, budget: Budget) -> None:
        """From here on ``pull`` closes ``budget``."""
        self._budget = budget

    def pull(self) -> bool:
        """Lets no further call be sent; False where none can have been yet, so that nothing need be waited for."""
        if self._budget is None:
            return False
        self.pulled = True
        self._budget.close()
        return True
