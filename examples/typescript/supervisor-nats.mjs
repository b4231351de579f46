// A supervisor that knows NATS and CloudEvents, and nothing of ours.
//
//   npm install @nats-io/transport-node @nats-io/jetstream cloudevents
//   irq serve --bus nats://127.0.0.1:4222
//   IRQ_TOKEN=$(irq token create --name ada --role supervisor) node supervisor-nats.mjs RUN/AGENT AGENT_TYPE TARGET_TYPE
//
// It asks a running agent to interrupt itself, says where the run goes on after the answer, and watches until that is over.

import { randomUUID } from "node:crypto";
import process from "node:process";

import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import { CloudEvent, HTTP } from "cloudevents";

const [agent, kind, target] = process.argv.slice(2);
const tenant = process.env.IRQ_TENANT ?? "local";
const ends = ["reroute.consumed", "reroute.expired", "reroute.superseded", "reroute.cancelled"];

// The event that asks for it. Published again, it is the same one: its id says so.
const id = randomUUID();
const event = new CloudEvent({
  id,
  source: "/supervisors/typescript",
  type: "dev.irq.interrupt.request_event.v1",
  datacontenttype: "application/json",
  data: {
    eventId: id,
    timestamp: new Date().toISOString(),
    nodeId: agent,
    sourceAgentType: kind,
    rerouteToAgentType: target,
    interruptType: "HUMAN_REVIEW",
    reason: "A supervisor wants a person to look",
    choices: [],
    confirmationItems: [],
    contextForDecision: "",
  },
});

const client = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222" });
// From before the command on, so that nothing of what becomes of it is missed.
const consumer = await jetstream(client).consumers.get("IRQ_EVENTS", {
  filter_subjects: [`irq.v1.${tenant}.${agent.split("/")[0]}.>`],
  deliver_policy: DeliverPolicy.New,
});
const events = await consumer.consume();

// The structured mode: the body is the whole event.
const message = HTTP.structured(event);
const told = headers();
told.set("Content-Type", "application/cloudevents+json");
told.set("Authorization", `Bearer ${process.env.IRQ_TOKEN}`);
const answer = await client.request(`irq.v1.${tenant}.cmd.reroute`, message.body, { headers: told, timeout: 10_000 });
const said = answer.json();
if (said.results === undefined) {
  console.error(`refused: ${said.detail} (${said.hint})`);
  process.exit(1);
}
console.log(`accepted: ${said.results[0].interrupt_id}`);

let name;
for await (const one of events) {
  name = one.subject.split(".").slice(5).join(".");
  const { data } = one.json();
  console.log(name, data.interrupt_id ?? data.event_id ?? "");
  if (ends.includes(name) && data.event_id === id) {
    break;
  }
}
await client.close();
process.exit(name === "reroute.consumed" ? 0 : 1);
