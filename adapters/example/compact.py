#!/usr/bin/env python3
"""The smallest exec arm: keeps the first and the last turns, and has one flat summary written of the rest."""
import json
import os
import sys
import urllib.request

told = json.load(sys.stdin)
messages, settings = told["messages"], told["settings"]
keep = settings.get("keep", 2)
middle, tail = messages[1:-keep], messages[-keep:]


def plain(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


transcript = "\n".join(f"[{m['role'].upper()}]: {plain(m)}" for m in middle)
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({
        "model": os.environ["LAUNDROMAT_MODEL"],
        "messages": [{"role": "user", "content": "Summarize this session for whoever goes on with it.\n\n" + transcript}],
    }).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
with urllib.request.urlopen(request) as response:
    summary = json.load(response)["choices"][0]["message"]["content"]

context = [messages[0], {"role": "user", "content": "Summary of the session so far:\n" + summary}, *tail]
json.dump({"context": context, "notes": {"summarized": len(middle)}}, sys.stdout)
