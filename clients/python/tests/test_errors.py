from __future__ import annotations

import pytest

from interrupt_router import (
    AlreadyResolved,
    AnswerRejected,
    Conflict,
    FieldError,
    Forbidden,
    Invalid,
    LeaseLost,
    NotFound,
    RateLimited,
    RouterError,
    RunOwned,
    RunPaused,
    StaleVersion,
    Unauthenticated,
    Unavailable,
)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", Unauthenticated),
        (403, "forbidden", Forbidden),
        (404, "question-not-found", NotFound),
        (409, "lease-lost", LeaseLost),
        (409, "run-owned", RunOwned),
        (409, "run-paused", RunPaused),
        (412, "stale-version", StaleVersion),
        (422, "answer-rejected", AnswerRejected),
        (429, "rate-limited", RateLimited),
        (503, "store-gone", Unavailable),
    ],
)
def test_a_code_has_its_class(status: int, code: str, kind: type[RouterError]) -> None:
    error = RouterError.of_problem(status, {"code": code, "detail": "no"})
    assert type(error) is kind
    assert error.code == code
    assert error.status == status


@pytest.mark.parametrize(
    ("status", "kind"), [(400, RouterError), (404, NotFound), (409, Conflict), (422, Invalid), (500, Unavailable)]
)
def test_an_unknown_code_has_the_class_of_its_status(status: int, kind: type[RouterError]) -> None:
    assert type(RouterError.of_problem(status, {"code": "from-the-future"})) is kind


def test_an_error_says_what_why_and_where() -> None:
    problem = {
        "code": "answer-rejected",
        "detail": "the answer does not fit",
        "hint": "tell the model",
        "errors": [{"pointer": "/refund/cents", "message": "is too large"}],
        "corrections_left": 2,
    }
    error = RouterError.of_problem(422, problem)
    assert isinstance(error, AnswerRejected)
    assert error.corrections_left == 2
    assert error.errors == (FieldError("/refund/cents", "is too large"),)
    assert str(error) == "the answer does not fit\n  /refund/cents: is too large\n  hint: tell the model"


def test_who_was_faster_is_told() -> None:
    error = RouterError.of_problem(409, {"code": "already-resolved", "resolved_by": "ann"})
    assert isinstance(error, AlreadyResolved)
    assert error.resolved_by == "ann"
