"""Ctrl+C and SIGTERM: the first one ends what is under way and gives its runs back, the second one ends the process.

Only signals that the program left to their defaults are taken, and only for the time of a block in the main thread. Where
the event loop has a Ctrl+C of its own, it does the same.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

DEFAULTS: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


def ending(number: int) -> BaseException:
    """What ends the process as the signal does: with the exit code 130 or 143."""
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


class Draining:
    """The time of a block, in which the first signal calls `cancel`. After the last such block, the process ends."""

    _open: tuple[Draining, ...] = ()
    _taken: tuple[int, ...] = ()
    _signal: int | None = None

    def __init__(self, cancel: Callable[[int], object]) -> None:
        self._cancel = cancel

    @classmethod
    def of_task(cls) -> Draining:
        """Cancels the task that makes this."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        return cls(lambda _: loop.call_soon_threadsafe(task.cancel))

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if not Draining._open:
            Draining._taken = tuple(number for number, given in DEFAULTS.items() if signal.getsignal(number) is given)
            for number in Draining._taken:
                signal.signal(number, _drain)
        Draining._open += (self,)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if self not in Draining._open:
            return
        Draining._open = tuple(other for other in Draining._open if other is not self)
        if Draining._open:
            return
        number, Draining._signal = Draining._signal, None
        _restore()
        if number is not None and not isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise ending(number) from error


def _drain(number: int, _: FrameType | None) -> None:
    Draining._signal = number
    _restore()
    for each in Draining._open:
        each._cancel(number)


def _restore() -> None:
    for number in Draining._taken:
        signal.signal(number, DEFAULTS[number])
    Draining._taken = ()
