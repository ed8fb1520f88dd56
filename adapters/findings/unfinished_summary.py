#!/usr/bin/env python3
"""What each library does with a summary that did not end normally.

    python3 adapters/findings/unfinished_summary.py [adapter ...]

The stub plays a summarizer whose answer was cut by the length limit, refused, or blocked by a filter. The session holds
one early fact, which only the complete summary repeats: where a summary without it replaced the history, the agent's next
request no longer has it. Exit 0 when google-adk still shows the published fault.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import trial
from install import interpreter, known
from stub_server import FACT, StubServer

ENDINGS = [("stop", "a complete summary"), ("length", "cut by the length limit"), ("filter", "a refusal, filtered"),
           ("blocked", "filtered, no text"), ("empty", "ended normally, no text"), ("error", "HTTP 500")]

# What gets the ten messages of the example compacted.
SETTINGS = {
    "hermes": {"entry": "pipeline"},
    "pydantic_harness": {"options": {"keep_messages": 2, "preserve_first_user_message": False}},
    "langchain_summarization": {"keep": {"messages": 2}},
}


def history_is(outcome):
    if outcome.code != 0:
        return f"the run fails: {outcome.last_words.removeprefix('adapter: the library raised ').partition(':')[0]}"
    notes = outcome.reply["notes"]
    if not notes["compacted"]:
        return "kept"
    return "replaced by a text made without a model" if notes.get("fallback") else "replaced"


def row(name, behaviour, label, stub, messages):
    settings = SETTINGS.get(name.partition("-")[0], {})
    outcome = trial.run(name, messages, f"{stub.url}/{behaviour}", settings)
    calls = len(stub.take_log())
    fact = "-" if outcome.code != 0 else "present" if FACT in str(outcome.reply["context"]) else "absent"
    became = history_is(outcome)
    seen = ",".join(outcome.reply["notes"].get("finish_reasons") or []) if outcome.code == 0 else ""
    print(f"{label:26} {seen or '-':12} {calls:5}  {fact:8} {became}", flush=True)
    return became, fact


def main():
    names = sys.argv[1:] or known()
    stub = StubServer().start()
    messages = trial.load(trial.EXAMPLE)
    shown = {}
    for name in names:
        if interpreter(name) is None:
            print(f"{name}: skipped, not installed\n")
            continue
        library = trial.run(name, messages, f"{stub.url}/stop", SETTINGS.get(name.partition("-")[0], {})).reply
        stub.take_log()
        print(f"{name}: {library['notes']['library']}, {len(messages)} messages")
        print(f"{'summary':26} {'seen as':12} {'calls':5}  {'fact':8} history")
        for behaviour, label in ENDINGS:
            shown[name, behaviour] = row(name, behaviour, label, stub, messages)
        print()
    if "adk" in names and interpreter("adk"):
        fault = all(shown["adk", ending] == ("replaced", "absent") for ending in ("length", "filter"))
        print("google-adk: a summary ended by length or by safety", "replaces the history" if fault else
              "no longer replaces the history")
        sys.exit(0 if fault else 1)


if __name__ == "__main__":
    main()
