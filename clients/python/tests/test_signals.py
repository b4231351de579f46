from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interrupt_router import Signals, Stop, Stopped

if TYPE_CHECKING:
    from interrupt_router import api


def stop(kind: api.StopTypeName, scope: api.ScopeName, agent_id: str, mode: api.ModeName = "graceful") -> Stop:
    return Stop("int_1", kind, mode, scope, agent_id, "because")


@pytest.mark.parametrize(
    ("given", "concerned", "spared"),
    [
        (stop("PAUSE", "run", "root"), ["root", "root/a"], []),
        # A pause of an agent pauses its run.
        (stop("PAUSE", "agent", "root/a"), ["root", "root/a", "root/b"], []),
        (stop("PRUNE", "agent", "root/a"), ["root/a", "root/a/b"], ["root", "root/ab", "root/b"]),
        (stop("STOP", "agent", "root/a"), ["root/a"], ["root"]),
        (stop("STOP", "agent", "root"), ["root", "root/a"], []),
    ],
)
def test_whom_a_stop_concerns(given: Stop, concerned: list[str], spared: list[str]) -> None:
    assert all(given.concerns(agent) for agent in concerned)
    assert not any(given.concerns(agent) for agent in spared)


def test_the_hardest_stop_counts() -> None:
    soft, hard = stop("PAUSE", "run", "root"), stop("STOP", "run", "root", "immediate")
    assert Signals(stops=[soft, hard]).stop_of("root/a") == hard
    assert Signals(stops=[hard, soft]).stop_of("root/a") == hard
    assert Signals().stop_of("root") is None


def test_signals_are_read() -> None:
    body: api.SignalsView = {
        "stopping": True,
        "stops": [
            {
                "interrupt_id": "int_1",
                "type": "PAUSE",
                "mode": "graceful",
                "scope": "run",
                "agent_id": "root",
                "reason": "lunch",
            }
        ],
        "asked": [{"interrupt_id": "int_2", "agent_id": "root/a", "reason": "look", "reroute_to": "LEGAL"}],
        "messages": [{"position": 12, "agent_id": "root/a", "text": "Be quick.", "from": "ann"}],
        "decided": ["refund"],
        "cursor": 41,
    }
    signals = Signals.of_json(body)
    assert signals.stops[0].reason == "lunch"
    assert signals.asked[0].reroute_to == "LEGAL"
    assert (signals.messages[0].sender, signals.messages[0].text) == ("ann", "Be quick.")
    assert signals.decided == ["refund"]
    assert signals.cursor == 41


def test_a_stop_is_an_exception_that_says_why() -> None:
    assert str(Stopped(stop("PRUNE", "agent", "root/a"))) == "PRUNE of the agent root/a: because"
    assert str(Stopped(stop("PAUSE", "agent", "root/a"))) == "PAUSE of the run: because"
    assert issubclass(Stopped, Exception)
