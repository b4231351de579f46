"""The pictures of the documentation, made anew from the program: `pictures.py IRQ [FOLDER]`, FOLDER is docs/images.

Needs what proof.py needs, and tmux. The page is drawn by Chromium; so are the terminal's screens, from what tmux
has of them. Each picture is written with a palette, so that it stays small.
"""

import contextlib
import html
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[3]
IRQ = str(pathlib.Path(sys.argv[1]).resolve())
FOLDER = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/images"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
TOUR = ROOT / "examples/scripts/tour.json"
GOAL = "Describe this project"
COLUMNS, ROWS = 100, 28
PATIENCE = 60

# --- the terminal -------------------------------------------------------------------------------------------------

INK, GROUND = "#d7dde4", "#11161d"
COLOURS = ["#3b4048", "#ff7b86", "#8fdca6", "#ffc266", "#8cbcff", "#d7a6ff", "#7fd6e0", "#d7dde4"]
SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m")


class Pen:
    """How the next characters look, by the sequences so far."""

    def __init__(self):
        self.change([0])

    def change(self, codes):
        codes = list(codes)
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.ink, self.ground, self.bold, self.faint, self.turned = None, None, False, False, False
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.faint = True
            elif code == 7:
                self.turned = True
            elif code == 22:
                self.bold = self.faint = False
            elif code == 27:
                self.turned = False
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.ink = COLOURS[code % 10]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.ground = COLOURS[code % 10]
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.ground = None
            elif code in (38, 48) and codes[:1] == [5]:
                colour = COLOURS[codes[1] % 8]
                if code == 38:
                    self.ink = colour
                else:
                    self.ground = colour
                codes = codes[2:]

    def style(self):
        ink, ground = self.ink or INK, self.ground or GROUND
        if self.turned:
            ink, ground = ground, ink
        weight = "font-weight:700;" if self.bold else ""
        faint = "opacity:.66;" if self.faint else ""
        return f"color:{ink};background:{ground};{weight}{faint}"


def as_html(screen):
    pen, parts = Pen(), []
    for line in screen.split("\n"):
        at = 0
        for found in SEQUENCE.finditer(line):
            parts.append((pen.style(), line[at : found.start()]))
            pen.change([int(code or 0) for code in found.group(1).split(";")])
            at = found.end()
        parts.append((pen.style(), line[at:] + "\n"))
    spans = "".join(f'<span style="{style}">{html.escape(text)}</span>' for style, text in parts if text)
    return (
        f'<body style="margin:0;background:{GROUND}"><pre id="it" style="margin:0;padding:14px 16px;display:inline-block;'
        f"font:15px/1.3 'DejaVu Sans Mono',monospace;color:{INK};background:{GROUND}\">{spans}</pre></body>"
    )


class Terminal:
    def __init__(self, environment):
        self.socket = f"pictures-{os.getpid()}"
        self.environment = environment

    def tmux(self, *arguments):
        command = ["tmux", "-L", self.socket, "-f", "/dev/null", *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout

    def open(self, name, *command):
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self.tmux("new-session", "-d", "-s", name, *size, "exec " + " ".join(command))

    def press(self, name, *keys):
        for key in keys:
            self.tmux("send-keys", "-t", name, key)
            time.sleep(0.3)

    def shows(self, name, text):
        return until(text, lambda: text in self.tmux("capture-pane", "-p", "-t", name))

    def screen(self, name):
        lines = self.tmux("capture-pane", "-e", "-p", "-t", name).rstrip("\n").split("\n")
        # Where the project lies on this machine is nobody's matter.
        return "\n".join(line for line in lines if str(ROOT) not in line and "files read" not in line)

    def close(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")


# --- small pictures -----------------------------------------------------------------------------------------------


def pixels(png):
    """The rows of pixels, each three bytes, of a picture as Chromium makes it."""
    at, data, size = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        at += length + 12
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
    width, height, depth, colour = size[:4]
    assert depth == 8 and colour in (2, 6), size
    step = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(data), [], bytearray(width * step)
    for row in range(height):
        start = row * (width * step + 1)
        how, line = raw[start], bytearray(raw[start + 1 : start + 1 + width * step])
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            up = before[i]
            if how == 1:
                line[i] = (line[i] + left) & 255
            elif how == 2:
                line[i] = (line[i] + up) & 255
            elif how == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif how == 4:
                corner = before[i - step] if i >= step else 0
                guess = left + up - corner
                near = min((left, up, corner), key=lambda value: abs(guess - value))
                line[i] = (line[i] + near) & 255
        rows.append([bytes(line[i : i + 3]) for i in range(0, len(line), step)])
        before = line
    return width, height, rows


def small(png):
    """The same picture with at most 256 colours: the most frequent ones, and for the others the nearest of them."""
    width, height, rows = pixels(png)
    counts = {}
    for row in rows:
        for pixel in row:
            counts[pixel] = counts.get(pixel, 0) + 1
    palette = sorted(counts, key=counts.get, reverse=True)[:256]

    def nearest(pixel):
        distance = lambda other: sum((a - b) ** 2 for a, b in zip(pixel, palette[other]))
        return min(range(len(palette)), key=distance)

    index = {pixel: nearest(pixel) for pixel in counts}
    raw = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in rows)
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"PLTE", b"".join(palette)), chunk(b"IDAT", zlib.compress(raw, 9)), chunk(b"IEND", b"")]
    return png[:8] + b"".join(parts)


def keep(name, png):
    made = small(png)
    (FOLDER / name).write_bytes(made)
    print(f"{name}: {len(made) // 1024} KiB")


# --- the program --------------------------------------------------------------------------------------------------


def until(what, look):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    sys.exit(f"never: {what}")


def served(folder, environment):
    """A server: itself, its address, and a function that asks it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    create = [IRQ, "token", "create", "--name", "ada", "--role", "admin"]
    token = subprocess.run(create, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    command = [IRQ, "serve", "--listen", base[7:], "--workspace", str(ROOT), "--pace", "400"]
    log = (folder / "log").open("w")
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)

    def call(path, body=None):
        headers = {"Authorization": f"Bearer {token}", "content-type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
            return json.load(answer)

    return server, server.stdout.readline().strip(), base, call


def page(browser, folder, environment):
    server, address, base, call = served(folder, environment)
    try:
        order = {"goal": GOAL, "options": {"script": json.loads(TOUR.read_text())}}
        run = call("/v1/runs", order)["run_id"]
        path = f"/v1/interrupts?status=open&run_id={run}"
        question = until("a question", lambda: call(path)["interrupts"])[0]["id"]
        plan = call("/v1/runs", {"goal": "Write the chapter on ovens", "options": {"workflow": "plan-execute"}})["run_id"]
        until("its agents", lambda: call(f"/v1/agents?run_id={plan}")["agents"])
        stop = {"type": "PAUSE", "mode": "graceful", "scope": "run", "reason": "The ovens are delivered a week later"}
        call(f"/v1/agents/{plan}%2Froot/interrupts", stop)
        waits = lambda: [it for it in call(f"/v1/interrupts?status=open&run_id={plan}")["interrupts"] if it["state"] == "awaiting_review"]
        until("a pause", waits)
        context = browser.new_context(viewport={"width": 960, "height": 600})
        shown = context.new_page()
        shown.goto(address)
        pictures = [("inbox", "/", False), ("review", f"/review/{question}", True), ("run", f"/runs/{run}", False)]
        for name, path, whole in pictures:
            shown.goto(base + path)
            keep(f"page-{name}.png", shown.screenshot(full_page=whole))
        context.close()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)


def terminal(browser, environment):
    shells = Terminal(environment)
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    drawn = context.new_page()

    def picture(name, of):
        drawn.set_content(as_html(shells.screen(of)))
        keep(f"terminal-{name}.png", drawn.locator("#it").screenshot())

    try:
        run = f"'{IRQ}' run '{GOAL}' --workspace '{ROOT}' --script '{TOUR}' --pace 150"
        shells.open("run", run)
        shells.shows("run", "? help")
        picture("run", "run")
        shells.open("watch", f"'{IRQ}' watch --silent --inbox")
        shells.shows("watch", "HUMAN_REVIEW")
        shells.press("watch", "Enter")
        shells.shows("watch", "By layer")
        picture("review", "watch")
        shells.press("run", "1", "Enter")
        shells.shows("run", "tests be read")
        shells.press("run", "y", "Enter")
        shells.press("watch", "1")
        shells.shows("watch", "worker")
        shells.press("watch", "j", "j", "Escape")
        shells.shows("watch", "paused")
        shells.press("watch", "look at the tests first")
        picture("interrupted", "watch")
    finally:
        shells.close()
        context.close()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folder = pathlib.Path(folder)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            for part, make in (("page", page), ("terminal", None)):
                environment = {**os.environ, "IRQ_STORE": str(folder / f"{part}.db"), "IRQ_USER": "ada", "TERM": "xterm-256color"}
                if make:
                    make(browser, folder, environment)
                else:
                    terminal(browser, environment)
        finally:
            browser.close()


main()
