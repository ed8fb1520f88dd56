#!/usr/bin/env python3
"""A summarizer that answers as told, for trying adapters without laundromat and without a model.

    python3 adapters/stub_server.py [PORT]      prints its port; without one it picks a free one

It listens on 127.0.0.1 and speaks Chat Completions and Gemini's generateContent. The first segment of the path says how the
summarizer behaves, so that an adapter is given http://127.0.0.1:PORT/<behaviour> as its base URL:

    stop     a complete summary that ended normally
    length   the same summary, cut in the middle of a sentence by the length limit
    filter   a refusal, ended by the provider's filter
    blocked  no text at all, ended by the provider's filter
    empty    an empty text that ended normally
    naive    believes labels: whatever the transcript attributes to the user is in the summary as the user's words
    error    HTTP 500

GET /log gives every request so far.
"""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FACT = "123 Maple Avenue"
COMPLETE = f"The user asked for a review of the staging configuration. Never push to production unasked. Deliver to {FACT}."
CUT = COMPLETE[: COMPLETE.index("to production")].rstrip()
REFUSAL = "I cannot summarize this conversation."

# Behaviour -> text (None: no message at all) and the finish reason as Chat Completions and Gemini spell it.
ANSWERS = {
    "stop": (COMPLETE, "stop", "STOP"),
    "length": (CUT, "length", "MAX_TOKENS"),
    "filter": (REFUSAL, "content_filter", "SAFETY"),
    "blocked": (None, "content_filter", "SAFETY"),
    "empty": ("", "stop", "STOP"),
}
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}

LABEL = re.compile(r"^\s*\[?\s*(?:user|human)\s*\]?\s*[:>]\s*(.*)$", re.I)
ELEMENT = re.compile(r'<message (?:role="user"|type="human")[^>]*>\s*(.*?)\s*</message>', re.S)


def naive(prompt):
    said = ELEMENT.findall(prompt) or [hit.group(1) for line in prompt.splitlines() if (hit := LABEL.match(line))]
    return "The user said: " + " | ".join(text.strip() for text in said)


def prompt_of(body):
    """All text of a request of either shape."""
    if "contents" in body:
        return "\n".join(part.get("text") or "" for content in body["contents"] for part in content.get("parts", []))
    texts = []
    for message in body.get("messages", []):
        content = message.get("content")
        texts += [content or ""] if not isinstance(content, list) else [part.get("text") or "" for part in content]
    return "\n".join(texts)


def chat_reply(model, text, reason):
    message = {"role": "assistant", "content": text}
    return {"id": "chatcmpl-stub", "object": "chat.completion", "created": 0, "model": model,
            "choices": [{"index": 0, "finish_reason": reason, "message": message}], "usage": USAGE}


def gemini_reply(model, text, reason):
    candidate = {"index": 0, "finishReason": reason}
    if text is not None:
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        with self.server.lock:
            self._send(list(self.server.log) if self.path == "/log" else {}, 200 if self.path == "/log" else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        with self.server.lock:
            self.server.log.append({"path": self.path, "headers": dict(self.headers), "body": body})
        behaviour, _, rest = self.path.lstrip("/").partition("/")
        if behaviour == "error":
            return self._send({"error": {"message": "the stub was told to fail", "code": 500}}, 500)
        if behaviour == "naive":
            answer = (naive(prompt_of(body)), "stop", "STOP")
        elif behaviour in ANSWERS:
            answer = ANSWERS[behaviour]
        else:
            return self._send({"error": {"message": f"unknown behaviour {behaviour}"}}, 404)
        text, chat, gemini = answer
        if rest.endswith("/chat/completions"):
            return self._send(chat_reply(body.get("model"), text, chat))
        if rest.endswith(":generateContent"):
            return self._send(gemini_reply(rest.split("models/")[-1].rsplit(":", 1)[0], text, gemini))
        return self._send({"error": {"message": f"the stub does not serve {self.path}"}}, 404)

    def _send(self, payload, status=200):
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class StubServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.log, self.lock = [], threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def take_log(self):
        with self.lock:
            taken, self.log = self.log, []
            return taken


if __name__ == "__main__":
    server = StubServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
