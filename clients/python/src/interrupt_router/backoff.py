"""How long to wait before a request is sent again."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass
class Backoff:
    """Waits that double, up to a limit. Half of each is random, so that many clients do not come back together."""

    first: float = 0.1
    longest: float = 5.0
    _next: float = 0.0

    def next_delay(self, retry_after: float | None = None) -> float:
        """The next wait in seconds; at least as long as the server asked for."""
        delay = self._next or self.first
        self._next = min(delay * 2, self.longest)
        return max(delay * random.uniform(0.5, 1.0), retry_after or 0.0)

    def reset(self) -> None:
        """A request succeeded: the next failure starts with a short wait."""
        self._next = 0.0
