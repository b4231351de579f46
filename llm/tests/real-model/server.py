"""server.py MODEL PORT: llama.cpp's own HTTP server with one model, on this machine alone. SIGTERM ends it.

THREADS (1), SLOTS (2) and CONTEXT (8192 tokens for each slot) in the environment change it.
"""

import os
import signal
import sys

import xllamacpp

model, port = sys.argv[1], int(sys.argv[2])
threads = int(os.environ.get("THREADS", "1"))
slots = int(os.environ.get("SLOTS", "2"))
context = int(os.environ.get("CONTEXT", "8192"))

settings = xllamacpp.CommonParams()
settings.model.path = model
settings.model_alias = {os.path.basename(model)}
settings.hostnames = ["127.0.0.1"]
settings.port = port
settings.n_parallel = slots
settings.n_ctx = context * slots  # divided among the slots
settings.cpuparams.n_threads = threads
settings.cpuparams_batch.n_threads = threads
settings.endpoint_metrics = True
settings.endpoint_slots = True
settings.use_jinja = True
settings.offline = True
if template := os.environ.get("CHAT_TEMPLATE"):
    settings.chat_template = template

server = xllamacpp.Server(settings)
print("listening at", server.listening_address, flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
os._exit(0)
