"""The client without ``async``, over the real server."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import store_for
from desk import DESK, Model, RefundRequest

from interrupt_router import Declined, Expired, LeaseLost, RouterError, RunFinished, Stopped, sync
from interrupt_router.operator import Verdict
from interrupt_router.sync import Operator, Router, Run

SOON = datetime.timedelta(seconds=30)
"""A test that waits for a decision in vain fails with the deadline's."""


@pytest.fixture
def router(binary: Path, tmp_path: Path) -> Iterator[Router]:
    with Router.local(store_for(tmp_path), binary=binary) as router:
        yield router


@pytest.fixture
def ann(router: Router) -> Iterator[Operator]:
    with router.operator("ann") as ann:
        yield ann


class Person(threading.Thread):
    """Decides about each question as the feed tells of it, until it was asked so many."""

    def __init__(self, ann: Operator, questions: int) -> None:
        super().__init__(daemon=True)
        self._ann = ann
        self._questions = questions
        self.asked: list[str] = []

    def run(self) -> None:
        for event in self._ann.events("interrupt.opened", after="0"):
            interrupt = self._ann.interrupt(event.data["interrupt_id"])
            self.asked.append(interrupt.reason)
            self._ann.decide(interrupt, "approve", choices=["yes"])
            if len(self.asked) == self._questions:
                return


def test_a_run_asks_fills_and_pays(router: Router, ann: Operator) -> None:
    person = Person(ann, 1)
    person.start()
    with router.run(DESK, alias="t", input={"order": 17}) as run:
        assert (run.alias, run.input) == ("t", {"order": 17})
        with run.agent("REFUNDS") as refunds:
            assert (refunds.id, refunds.kind) == ("root/refunds", "REFUNDS")
            routed = refunds.ask("Refund?", key="refund", choices=["yes", "no"], deadline=SOON)
            assert isinstance(routed, sync.Answered)
            assert (routed.key, routed.decided_as, routed.choices) == ("refund", "answered", ("yes",))
            assert routed.route is not None
            assert routed.fill(Model("no", {"refund": {"cents": 5}})) == RefundRequest(5)
            assert routed.request == RefundRequest(5)
        assert {agent.status for agent in ann.agents(run_id=run.id) if agent.node_id != "root"} == {"completed"}
        run.checkpoint({"paid": True})
        assert not run.interrupted()
        run.result = {"paid": 5}
    person.join(30)
    assert person.asked == ["Refund?"]
    with pytest.raises(RunFinished) as finished, router.run(DESK, alias="t", input={"order": 17}):
        pytest.fail("it is completed")
    assert finished.value.result == {"paid": 5}


def test_each_decision_has_its_class(router: Router, ann: Operator) -> None:
    def decide(key: str, verdict: Verdict, reroute_to: str | None = None) -> sync.Decided:
        def person() -> None:
            for event in ann.events("interrupt.opened", after=whoami):
                ann.decide(ann.interrupt(event.data["interrupt_id"]), verdict, reroute_to=reroute_to, text="Well.")
                return

        whoami = str(ann._portal.call(ann._inner._transport.get("/v1/whoami"))["seq"])
        thread = threading.Thread(target=person)
        thread.start()
        decided = refunds.ask("Refund?", key=key, deadline=SOON)
        thread.join()
        return decided

    with router.run(DESK) as run, run.agent("REFUNDS") as refunds:
        assert isinstance(decide("one", "approve"), sync.Approved)
        assert isinstance(decide("two", "respond"), sync.Answered)
        assert isinstance(decide("three", "reroute", "LEGAL"), sync.Rerouted)
        assert isinstance(decide("four", "reject"), Declined)
        soon = datetime.timedelta(milliseconds=50)
        assert isinstance(refunds.ask("Refund?", key="five", deadline=soon), Expired)


def test_functions_are_called_in_the_thread_of_the_caller(router: Router) -> None:
    threads = []

    def pay(cents: int) -> int:
        threads.append(threading.current_thread())
        return cents

    with router.run(DESK) as run:
        assert run.root.effect("pay", pay, 5) == 5
        assert run.root.effect("pay", pay, 5) == 5
    assert threads == [threading.current_thread()]


def test_what_a_function_raises_is_raised(router: Router, ann: Operator) -> None:
    def fails() -> None:
        raise OSError("closed")

    with pytest.raises(OSError, match="closed"), router.run(DESK) as run:
        run.root.effect("pay", fails)
    assert ann.run(run.id).status == "failed"


def test_a_stop_is_raised(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped), router.run(DESK) as run:
        ann.cancel(run.id, reason="enough")
        while True:
            run.root.ask("Go on?", key="go", deadline=SOON)
    assert ann.run(run.id).status == "cancelled"


def test_an_interrupted_effect_gives_the_run_back(router: Router) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), router.run(DESK, alias="t") as run:
        run.root.effect("pay", interrupted)
    with router.run(DESK, alias="t", wait_for_owner=0) as run:
        assert run.root.effect("pay", lambda: 5, lookup=lambda: None) == 5


def test_runs_are_handled_in_threads(router: Router, ann: Operator) -> None:
    person = Person(ann, 2)
    person.start()
    threads = set()
    done = threading.Event()
    left = {"one", "two"}

    def handle(run: Run) -> str:
        threads.add(threading.current_thread())
        answered = run.root.ask(f"{run.input}?", key="go", choices=["yes"], deadline=SOON)
        assert isinstance(answered, sync.Answered)
        assert run.root.effect("work", lambda: threading.current_thread().name) == threading.current_thread().name
        left.discard(run.input)
        if not left:
            done.set()
        return answered.choices[0]

    with router.run(DESK, alias="one", input="one") as one:
        pass_back(one)
    with router.run(DESK, alias="two", input="two") as two:
        pass_back(two)
    # The loop has no end of its own: it goes with the router.
    threading.Thread(target=_work, args=(router, handle), daemon=True).start()
    assert done.wait(30)
    person.join(30)
    assert sorted(person.asked) == ["one?", "two?"]
    assert threading.current_thread() not in threads


def pass_back(run: Run) -> None:
    """Gives a run back, so that any worker may take it."""
    run._portal.call(run._inner.lease.release())
    run._inner.has_ended = True


def _work(router: Router, handle: object) -> None:
    with pytest.raises(BaseException):  # noqa: B017, PT011 - it is cancelled with the router
        router.work(DESK, handle)  # type: ignore[arg-type]


def test_a_client_that_is_not_open_says_so() -> None:
    with pytest.raises(RouterError, match="not open"):
        Router("http://127.0.0.1:9", "irq_x").register(DESK)
    with pytest.raises(RouterError, match="not open"):
        Operator("http://127.0.0.1:9", "irq_x").whoami()


def test_a_worker_has_what_its_runs_need(binary: Path, tmp_path: Path) -> None:
    with Router.local(store_for(tmp_path), binary=binary, labels=["gpu"]) as router:
        with router.run(DESK, alias="t", needs=["gpu"]) as run:
            run.root.check()
            run.end("cancelled", "enough")
        with pytest.raises(RunFinished) as finished, router.run(DESK, alias="t", needs=["gpu"]):
            pytest.fail("it has ended")
        assert finished.value.state == "cancelled"
        with pytest.raises(RouterError, match="tpu"), router.run(DESK, alias="other", needs=["tpu"]):
            pytest.fail("it needs something else")


def test_a_lost_run_is_told(router: Router) -> None:
    with pytest.raises(LeaseLost), router.run(DESK) as run:
        run._portal.call(run._inner.lease.release())
        run.checkpoint(1)
