"""A LangGraph agent that asks before it pays. It does not know Interrupt Router: ten_lines.py takes its questions to people.

It asks any model server that speaks like OpenAI's: OPENAI_BASE_URL, OPENAI_API_KEY and MODEL say which.
"""

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

import httpx
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field


class Refund(BaseModel):
    """Pays money back."""

    cents: Annotated[int, Field(ge=1, le=100_000)]


class Legal(BaseModel):
    """Hands the order to the lawyers."""

    matter: Annotated[str, Field(max_length=2000)]


class State(TypedDict):
    order: int
    request: Refund | Legal | None


def do(*what: Any) -> None:
    """Stands for a shop, a bank and a law firm: each thing that happens is a line of the ledger."""
    with open("ledger.jsonl", "a") as ledger:
        ledger.write(json.dumps(what) + "\n")


def find_order(state: State) -> None:
    do("find-order", state["order"])


def review(state: State) -> dict[str, Any]:
    return {"request": interrupt({"question": f"Refund 120 € for order {state['order']}?", "answer_form": "yes_or_no"})}


def settle(state: State) -> None:
    match state["request"]:
        case Refund(cents=cents):
            do("pay", state["order"], cents)
        case Legal(matter=matter):
            do("call-lawyers", state["order"], matter)


def model(schema: Any, messages: Sequence[Mapping[str, str]]) -> str:
    """Asks the model for an object of the schema."""
    response = httpx.post(
        f"{os.environ.get('OPENAI_BASE_URL', 'https://api.openai.com/v1')}/chat/completions",
        headers={"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
        json={
            "model": os.environ.get("MODEL", "gpt-5-mini"),
            "messages": messages,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": schema.name, "schema": schema.schema, "strict": True},
            },
        },
        timeout=120,
    )
    return str(response.raise_for_status().json()["choices"][0]["message"]["content"])


serializer = JsonPlusSerializer(allowed_msgpack_modules=[Refund, Legal])
saver = SqliteSaver(sqlite3.connect("graph.db", check_same_thread=False), serde=serializer)
graph = StateGraph(State).add_sequence([find_order, review, settle]).add_edge(START, "find_order").compile(saver)
