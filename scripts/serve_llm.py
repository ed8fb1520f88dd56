"""llama.cpp's HTTP server in the foreground, on 127.0.0.1 alone, until it is asked to end.

    python serve_llm.py MODEL.gguf PORT NAME

demo_llm.py starts it in the environment that has the wheel.
"""

import os
import signal
import sys
import threading

import xllamacpp

# The demo's longest request is about 2,000 tokens; the server must never shorten one by itself.
CONTEXT_TOKENS = 8192
# A tiny model may not find an end. Above what the scenario asks for, so that the scenario's bound is the one that holds.
REPLY_TOKENS = 2048
PROMPT_CACHE_MIB = 512


def main():
    model, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    ended = threading.Event()
    for asked in (signal.SIGTERM, signal.SIGINT):
        signal.signal(asked, lambda *_: ended.set())

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = 1
    params.n_ctx = CONTEXT_TOKENS
    params.n_predict = REPLY_TOKENS
    params.fit_params = False
    # The model's own chat template, which knows tool calls and tool results.
    params.use_jinja = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    # Two generation threads on a machine that has other work wait for each other and are far slower than one.
    params.cpuparams.n_threads = int(os.environ.get("LAUNDROMAT_LLM_THREADS", "1"))
    params.cpuparams_batch.n_threads = os.cpu_count() or 1
    params.ui = False

    server = xllamacpp.Server(params)
    ended.wait()
    del server


if __name__ == "__main__":
    main()
