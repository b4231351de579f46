from __future__ import annotations

from interrupt_router.backoff import Backoff


def test_waits_double_up_to_a_limit() -> None:
    backoff = Backoff(first=1.0, longest=4.0)
    bounds = [(0.5, 1.0), (1.0, 2.0), (2.0, 4.0), (2.0, 4.0)]
    for low, high in bounds:
        assert low <= backoff.next_delay() <= high
    backoff.reset()
    assert backoff.next_delay() <= 1.0


def test_the_server_can_ask_for_a_longer_wait() -> None:
    assert Backoff(first=0.1).next_delay(retry_after=7.0) == 7.0
