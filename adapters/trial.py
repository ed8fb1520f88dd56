#!/usr/bin/env python3
"""One trial of one adapter, by hand: what laundromat does with an exec arm, against a stub or any local server.

    python3 adapters/trial.py hermes sessions/fix-region-rollup-test.json
    python3 adapters/trial.py adk adapters/example_session.json --behaviour length
    python3 adapters/trial.py hermes adapters/example_session.json --base-url http://127.0.0.1:8080 --model qwen

It prints the requests that the library sent (with the stub) and the adapter's reply.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from install import ADAPTERS, DEFAULT_FOLDER, interpreter
from stub_server import StubServer

EXAMPLE = ADAPTERS / "example_session.json"
TOKEN = "trial-token"
DATE = "2026-03-02"
TIMEOUT_S = 300


@dataclass
class Outcome:
    code: int
    stdout: str
    stderr: str

    @property
    def reply(self):
        return json.loads(self.stdout)

    @property
    def last_words(self):
        return (self.stderr.strip().splitlines() or [""])[-1]


def script(name):
    """`pydantic_harness-0.30` is another release under the script `pydantic_harness.py`."""
    return ADAPTERS / f"{name.partition('-')[0]}.py"


def environment(base_url, home, model="summarizer"):
    """Exactly what an exec arm is given."""
    return {
        "PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8",
        "LAUNDROMAT_BASE_URL": base_url, "LAUNDROMAT_TOKEN": TOKEN, "LAUNDROMAT_MODEL": model, "LAUNDROMAT_DATE": DATE,
        "OPENAI_BASE_URL": f"{base_url}/v1", "OPENAI_API_KEY": TOKEN,
        "ANTHROPIC_BASE_URL": base_url, "ANTHROPIC_API_KEY": TOKEN,
        "GOOGLE_GEMINI_BASE_URL": base_url, "GEMINI_API_KEY": TOKEN,
    }


def run(name, messages, base_url, settings=None, model="summarizer", folder=DEFAULT_FOLDER):
    """Runs the adapter over one session and waits for it."""
    given = {"protocol": "laundromat-exec/1", "messages": messages,
             "settings": {"model": model, "date": DATE, "session": "by-hand", **(settings or {})}}
    with tempfile.TemporaryDirectory(prefix="laundromat-trial-") as home:
        done = subprocess.run(
            [str(interpreter(name, folder)), str(script(name))], input=json.dumps(given), text=True, capture_output=True,
            cwd=home, env=environment(base_url, home, model), timeout=TIMEOUT_S)
    return Outcome(done.returncode, done.stdout, done.stderr)


def load(path):
    """The messages of a session file, or of a bare list of messages."""
    session = json.loads(Path(path).read_text(encoding="utf-8"))
    return session["messages"] if isinstance(session, dict) else session


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", help="for example hermes, or pydantic_harness-0.30")
    parser.add_argument("session", type=Path)
    parser.add_argument("--behaviour", default="stop", help="of the stub: stop, length, filter, blocked, empty, naive, error")
    parser.add_argument("--base-url", help="a server to use in place of the stub, without /v1")
    parser.add_argument("--model", default="summarizer")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a setting of the arm")
    parser.add_argument("--installed", type=Path, default=DEFAULT_FOLDER, help="where install.py put the libraries")
    args = parser.parse_args()
    if interpreter(args.adapter, args.installed) is None:
        sys.exit(f"{args.adapter} is not installed; run: python3 adapters/install.py {args.adapter}")
    settings = {name: json.loads(value) for name, _, value in (item.partition("=") for item in args.set)}
    stub = StubServer().start()
    outcome = run(args.adapter, load(args.session), args.base_url or f"{stub.url}/{args.behaviour}", settings,
                  args.model, args.installed)
    if outcome.code != 0:
        sys.stderr.write(outcome.stderr)
        sys.exit(outcome.code)
    requests = [{"path": seen["path"], "body": seen["body"]} for seen in stub.take_log()]
    print(json.dumps({"requests": requests, **outcome.reply}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
