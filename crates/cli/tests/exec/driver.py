"""A harness for tests: compacts by one flat prompt, speaks to its model in any of four shapes, and misbehaves
as it is told."""
import json
import os
import subprocess
import sys
import time
import urllib.request

told = json.load(sys.stdin)
settings, messages = told["settings"], told["messages"]
mode = settings.get("mode", "")
base, token = os.environ["LAUNDROMAT_BASE_URL"], os.environ["LAUNDROMAT_TOKEN"]


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def ask(client, prompt):
    model = settings["model"]
    if client == "chat":
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], "max_tokens": 900}
        return post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)["choices"][0]["message"]["content"]
    if client == "responses":
        return post(base + "/v1/responses", {"model": model, "input": prompt})["output"][0]["content"][0]["text"]
    if client == "anthropic":
        body = {"model": model, "max_tokens": 900, "messages": [{"role": "user", "content": prompt}]}
        return post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body)["content"][0]["text"]
    body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    url = os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/" + model + ":generateContent"
    return post(url, body)["candidates"][0]["content"]["parts"][0]["text"]


def plain(content):
    return content if isinstance(content, str) else json.dumps(content or "")


if "log" in settings:
    with open(settings["log"], "a", encoding="utf-8") as log:
        log.write(json.dumps({"session": settings["session"], "env": dict(os.environ)}) + "\n")
if mode == "hang":
    child = subprocess.Popen(["sleep", "300"])
    with open(settings["pid"], "w", encoding="utf-8") as file:
        file.write(f"{child.pid} {os.getpid()}")
    time.sleep(300)
if mode == "crash":
    sys.stderr.write("a \x1b[31mred\x1b[0m word\nlast words\n")
    sys.exit(7)
if mode == "junk":
    print("done!")
    sys.exit(0)
if mode == "huge":
    while True:
        sys.stdout.write("x" * (1 << 20))
if mode == "same":
    print(json.dumps({"context": messages}))
    sys.exit(0)
if mode == "token":
    try:
        post(base[:-4] + "0000/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]})
    except urllib.error.HTTPError as error:
        sys.exit(f"refused with {error.code}")

turns = [m for m in messages if mode != "no-tools" or m["role"] != "tool"]
longest = 80 if mode == "cut" else 10**9
lines = []
for message in turns:
    text = plain(message.get("content"))
    # What is planted stands at the end of a result.
    lines.append(f"[{message['role'].upper()}]: " + (text[-longest:] if message["role"] == "tool" else text))
client = settings.get("client", "chat")
prompt = "Summarize the conversation.\n\n" + "\n\n".join(lines)
summary = ask(client, prompt)
if mode == "twice":
    summary = ask(client, "Summarize the conversation.\n\nOnce more:\n" + summary)
current = [m for m in messages if m["role"] == "user"][-1]
print(json.dumps({"context": [{"role": "user", "content": "For context:\n" + summary}, current], "notes": {"k": 1}}))
