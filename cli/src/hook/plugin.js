// Written by `irq hook install opencode`; `irq hook remove opencode` takes it away.
// irq asks a person whether opencode may use a tool. Whatever goes wrong is a refusal.
import { spawn } from "node:child_process";

const settings = SETTINGS;

// `bash|edit`, where `*` stands for anything.
const isMeant = (tool) =>
  settings.matcher.split("|").some((pattern) => {
    const parts = pattern.trim().split("*").map((part) => part.replace(/\W/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "i").test(tool);
  });

// The decision that irq prints, once it has ended well.
const decision = (event, folder) =>
  new Promise((decided) => {
    const deny = (reason) => decided({ status: "deny", reason: `irq could not ask a person: ${reason}` });
    try {
      const irq = spawn(settings.command[0], settings.command.slice(1), { cwd: folder });
      const late = setTimeout(() => {
        irq.kill("SIGKILL");
        deny("it took too long");
      }, Math.min(settings.seconds * 1000, 2 ** 31 - 1));
      const told = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"]) {
        irq[name].setEncoding("utf8").on("data", (piece) => (told[name] += piece));
      }
      irq.on("error", (error) => {
        clearTimeout(late);
        deny(error.message);
      });
      irq.on("close", (code) => {
        clearTimeout(late);
        try {
          const { status, reason } = JSON.parse(told.stdout);
          if (code === 0 && ["allow", "deny", "ask"].includes(status)) decided({ status, reason });
        } catch {}
        deny(told.stderr.trim() || `it ended with ${code}`);
      });
      irq.stdin.on("error", () => {}); // It has ended, and says why itself.
      irq.stdin.end(JSON.stringify(event));
    } catch (error) {
      deny(error.message);
    }
  });

export const InterruptRouter = async ({ client, directory }) => {
  const asked = (session, use, tool, input) =>
    decision(
      {
        hook_event_name: settings.event,
        session_id: session,
        tool_use_id: use,
        cwd: directory,
        tool_name: tool,
        tool_input: input,
      },
      directory,
    );
  if (settings.event === "PreToolUse") {
    return {
      "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
        if (!isMeant(tool)) return;
        const { status, reason } = await asked(sessionID, callID, tool, args);
        if (status !== "allow") throw new Error(reason);
      },
    };
  }
  const reply = async ({ id, sessionID }, response, message) => {
    // The method that the client declares carries no words, and so is the second choice.
    const body = { reply: response, message };
    const headers = { "Content-Type": "application/json" };
    const told = await client._client?.post({ url: `/permission/${id}/reply`, body, headers });
    if (told?.response?.ok) return;
    const path = { id: sessionID, permissionID: id };
    await client.postSessionIdPermissionsPermissionId({ path, body: { response } });
  };
  return {
    // opencode declares the hook `permission.ask` and never calls it: it tells of its questions as events.
    event: async ({ event }) => {
      if (event.type !== "permission.asked" || !isMeant(event.properties.permission)) return;
      const { id, sessionID, permission, patterns, metadata, tool } = event.properties;
      const { status, reason } = await asked(sessionID, tool?.callID ?? id, permission, { patterns, ...metadata });
      if (status === "allow") await reply(event.properties, "once");
      if (status === "deny") await reply(event.properties, "reject", reason);
    },
  };
};
