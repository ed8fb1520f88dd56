#!/usr/bin/env python3
"""pydantic-ai-harness with keep_user_messages: is the request that is being answered still sent?

    python3 adapters/findings/lost_request.py [adapter ...]

A plain conversation of n earlier question and answer pairs and the current request goes through SummarizingCompaction.
Every message carries a mark of its own; those that are neither in what the summarizer was asked nor in what the agent is sent
are gone without anybody having read them. Exit 0 when 0.30.0 still shows the published fault and 0.62.0 does not.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import trial
from install import interpreter
from stub_server import StubServer

RELEASES = ["pydantic_harness-0.30", "pydantic_harness"]

# keep_messages -> earlier turns: the longest conversation that 0.30.0 survives, and one turn more. 4 is the value that
# lightspeed-stack passes, 20 the library's default.
CASES = [(1, 0), (1, 1), (2, 1), (2, 2), (4, 4), (4, 5), (20, 28), (20, 29)]


def conversation(turns):
    messages = []
    for turn in range(1, turns + 1):
        messages.append({"role": "user", "content": f"Question q{turn:02}."})
        messages.append({"role": "assistant", "content": f"Answer a{turn:02}."})
    return [*messages, {"role": "user", "content": "The current request, q99."}]


def mark(message):
    return message["content"].rstrip(".").rsplit(" ", 1)[1]


def measure(name, stub, turns, settings):
    messages = conversation(turns)
    outcome = trial.run(name, messages, f"{stub.url}/stop", settings)
    if outcome.code != 0:
        sys.exit(outcome.stderr)
    summarized = json.dumps([seen["body"] for seen in stub.take_log()])
    sent = json.dumps(outcome.reply["context"])
    gone = [mark(message) for message in messages if mark(message) not in summarized + sent]
    return outcome.reply["notes"], "q99" in sent, gone, len(outcome.reply["context"])


def line(release, via, keep, keep_user, turns, sent, gone, count):
    shown = " ".join(gone[:6]) + (" ..." if len(gone) > 6 else "")
    print(f"{release:8} {via:12} {keep:>4} {keep_user:10} {turns:>5} {count:>4}  {'sent' if sent else 'LOST':7} "
          f"{len(gone):>4}  {shown}", flush=True)


def main():
    names = sys.argv[1:] or RELEASES
    stub = StubServer().start()
    print(f"{'release':8} {'entry':12} {'keep':>4} {'keep_user':10} {'turns':>5} {'sent':>4}  {'request':7} "
          f"{'gone':>4}  marks of the messages that are gone")
    lost = {}
    for name in names:
        if interpreter(name) is None:
            print(f"{name}: skipped, not installed")
            continue
        release = ""
        for keep_user in (True, False):
            for keep, turns in CASES if keep_user else CASES[-3:-1]:
                settings = {"options": {"keep_messages": keep, "keep_user_messages": keep_user}}
                notes, sent, gone, count = measure(name, stub, turns, settings)
                release = notes["library"].split(",")[0].split()[-1]
                lost[name, keep, turns, keep_user] = not sent
                line(release, "compact_now", keep, str(keep_user).lower(), turns, sent, gone, count)
        settings = {"via": "agent", "options": {"keep_messages": 4, "keep_user_messages": True}}
        _, sent, gone, count = measure(name, stub, 5, settings)
        line(release, "agent", 4, "true", 5, sent, gone, count)
        lost[name, "agent", 5, True] = not sent
    if set(names) >= set(RELEASES) and all(map(interpreter, RELEASES)):
        old, new = RELEASES
        fault = lost[old, 4, 5, True] and lost[old, "agent", 5, True] and not lost[old, 4, 5, False]
        fault = fault and not any(value for key, value in lost.items() if key[0] == new)
        print("\npydantic-ai-harness 0.30.0 loses the request being answered, 0.62.0 does not" if fault else
              "\nthe published fault was not seen as published")
        sys.exit(0 if fault else 1)


if __name__ == "__main__":
    main()
