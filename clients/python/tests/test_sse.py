from __future__ import annotations

from interrupt_router.sse import SseMessage, SseParser


def read(text: str, size: int = 1 << 20) -> list[SseMessage]:
    """What comes of a stream that arrives in chunks of so many bytes."""
    parser, stream = SseParser(), text.encode()
    chunks = (stream[at : at + size] for at in range(0, len(stream), size))
    return [message for chunk in chunks for message in parser.read(chunk)]


def test_events_are_read_with_their_positions() -> None:
    assert read('retry: 2000\n\nid: 7\ndata: {"a":1}\n\nid:8\ndata:{\ndata:}\n\n') == [
        SseMessage("7", '{"a":1}'),
        SseMessage("8", "{\n}"),
    ]


def test_comments_and_the_end_of_a_cut_off_stream_are_no_events() -> None:
    assert read(": alive\n\nid: 9\ndata: half") == []


def test_a_stream_may_be_cut_anywhere_and_only_at_newlines_into_lines() -> None:
    whole = 'id: 7\r\ndata: {"a":"Gr\u00fc\u00dfe\u2028an \U0001f980"}\r\n\r\nid: 8\ndata: x\n\n'
    for size in range(1, 20):
        assert read(whole, size) == [
            SseMessage("7", '{"a":"Gr\u00fc\u00dfe\u2028an \U0001f980"}'),
            SseMessage("8", "x"),
        ]
