from __future__ import annotations

from interrupt_router.sse import SseMessage, SseParser


def read(text: str) -> list[SseMessage]:
    parser = SseParser()
    return [message for line in text.split("\n") if (message := parser.line(line)) is not None]


def test_events_are_read_with_their_positions() -> None:
    assert read('retry: 2000\n\nid: 7\ndata: {"a":1}\n\nid:8\ndata:{\ndata:}\n\n') == [
        SseMessage("7", '{"a":1}'),
        SseMessage("8", "{\n}"),
    ]


def test_comments_and_the_end_of_a_cut_off_stream_are_no_events() -> None:
    assert read(": alive\n\nid: 9\ndata: half") == []
