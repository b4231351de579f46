"""A supervisor that knows NATS and CloudEvents, and nothing of ours.

    pip install nats-py cloudevents
    irq serve --bus nats://127.0.0.1:4222
    IRQ_TOKEN=$(irq token create --name ada --role supervisor) \
        python supervisor_nats.py RUN/AGENT AGENT_TYPE TARGET_TYPE

It asks a running agent to interrupt itself, says where the run goes on after the answer, and watches until that is over.
"""

import asyncio
import json
import os
import sys
import uuid
from datetime import datetime, timezone

import nats
from cloudevents.core.bindings.http import to_binary_event
from cloudevents.core.v1.event import CloudEvent
from nats.js.api import ConsumerConfig, DeliverPolicy

TENANT = os.environ.get("IRQ_TENANT", "local")
ENDS = {"reroute.consumed", "reroute.expired", "reroute.superseded", "reroute.cancelled"}


def reroute(agent: str, kind: str, target: str) -> CloudEvent:
    """The event that asks for it. Published again, it is the same one: its id says so."""
    event = str(uuid.uuid4())
    data = {
        "eventId": event,
        "timestamp": datetime.now(timezone.utc).isoformat(),
        "nodeId": agent,
        "sourceAgentType": kind,
        "rerouteToAgentType": target,
        "interruptType": "HUMAN_REVIEW",
        "reason": "A supervisor wants a person to look",
        "choices": [],
        "confirmationItems": [],
        "contextForDecision": "",
    }
    attributes = {
        "id": event,
        "source": "/supervisors/python",
        "type": "dev.irq.interrupt.request_event.v1",
        "datacontenttype": "application/json",
    }
    return CloudEvent(attributes, data)


async def main(agent: str, kind: str, target: str) -> int:
    client = await nats.connect(os.environ.get("NATS_URL", "nats://127.0.0.1:4222"))
    run = agent.split("/")[0]
    # From before the command on, so that nothing of what becomes of it is missed.
    events = await client.jetstream().subscribe(
        f"irq.v1.{TENANT}.{run}.>",
        ordered_consumer=True,
        config=ConsumerConfig(deliver_policy=DeliverPolicy.NEW),
    )
    event = reroute(agent, kind, target)
    # The binary mode: the attributes are headers, as of HTTP.
    message = to_binary_event(event)
    headers = {**message.headers, "Authorization": f"Bearer {os.environ['IRQ_TOKEN']}"}
    answer = await client.request(f"irq.v1.{TENANT}.cmd.reroute", message.body, timeout=10, headers=headers)
    said = json.loads(answer.data)
    if "results" not in said:
        print(f"refused: {said['detail']} ({said['hint']})", file=sys.stderr)
        return 1
    print(f"accepted: {said['results'][0]['interrupt_id']}", flush=True)
    async for told in events.messages:
        name = ".".join(told.subject.split(".")[5:])
        data = json.loads(told.data)["data"]
        print(name, data.get("interrupt_id") or data.get("event_id") or "", flush=True)
        if name in ENDS and data["event_id"] == event.get_id():
            break
    await client.close()
    return 0 if name == "reroute.consumed" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
