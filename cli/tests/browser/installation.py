"""A store, a folder to speak about, a server over both, and what is asked in it."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

IRQ = sys.argv[1]
QUESTION = "which way?"
SCRIPT = {
    "version": 1,
    "steps": [
        {
            "agent": "ORCHESTRATOR",
            "turn": 1,
            "interrupt": {
                "type": "HUMAN_REVIEW",
                "reason": QUESTION,
                "choices": [
                    {"label": "Left", "value": "left", "description": "the short way"},
                    {"label": "Right", "value": "right", "description": "the long way"},
                ],
                "confirmationItems": [{"id": "sure", "prompt": "Sure?", "defaultValue": False}],
                "contextForDecision": "both lead there",
            },
        }
    ],
}
# Nothing has to be chosen or confirmed, so several of these can be decided together.
PLAIN = json.loads(json.dumps(SCRIPT))
PLAIN["steps"][0]["interrupt"] |= {"reason": "may I?", "choices": [], "confirmationItems": []}
TWICE = json.loads(json.dumps(SCRIPT))
TWICE["steps"].append(json.loads(json.dumps(SCRIPT["steps"][0])) | {"turn": 2})

# Two workers that ask, and one that waits for both.
WORKERS = {
    "version": 1,
    "steps": [
        json.loads(json.dumps(SCRIPT["steps"][0])) | {"agent": "TICKET_AGENT", "node": node, "turn": 1}
        for node in ("worker-1", "worker-2")
    ],
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Installation:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "work").mkdir()
        (self.folder / "work/README.md").write_text("# Bakery\n\nBread.\n")
        self.environment = {**os.environ, "IRQ_STORE": str(self.folder / "irq.db"), "IRQ_USER": "ada"}
        self.base = f"http://127.0.0.1:{free_port()}"
        create = [IRQ, "token", "create", "--name", "script", "--role", "admin"]
        made = subprocess.run(create, env=self.environment, capture_output=True, text=True, check=True)
        self.token = made.stdout.strip()
        self.server = None

    def serve(self, *more):
        command = [IRQ, "serve", "--listen", self.base[7:], "--workspace", str(self.folder / "work"), *more]
        log = (self.folder / "log").open("a")
        self.server = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        return self.server.stdout.readline().strip()

    def stop(self, how=signal.SIGTERM):
        self.server.send_signal(how)
        return self.server.wait(timeout=30)

    def call(self, path, body=None, method=None):
        headers = {"Authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def text(self, path):
        request = urllib.request.Request(self.base + path, headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def decide(self, question, body):
        version = self.call(f"/v1/interrupts/{question}")["version"]
        headers = {
            "Authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "if-match": f'"{version}"',
        }
        address = f"{self.base}/v1/interrupts/{question}/decisions"
        with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as answer:
            return json.load(answer)

    def ask(self, script=SCRIPT):
        order = {"goal": "Describe the bakery", "options": {"script": script}}
        return self.call("/v1/runs", order)["run_id"]


def settled_question(installation, run):
    # As long as the other tests give a run: how fast the server answers a poll says nothing of how fast a run is.
    end = time.monotonic() + 60
    while time.monotonic() < end:
        page = installation.call(f"/v1/interrupts?run_id={run}&status=open")
        waiting = [it["id"] for it in page["interrupts"] if it["state"] == "awaiting_review"]
        if waiting:
            return waiting[0]
        time.sleep(0.02)
    raise SystemExit("the run does not ask")
