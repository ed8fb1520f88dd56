"""What every adapter shares: one trial in on stdin, one reply out on stdout.

An adapter imports this module before the library it drives, because importing it does two things on purpose:

* stdout is taken away. A library that prints would otherwise write into the reply, so whatever anybody prints from
  here on goes to stderr, and only `serve` writes to the real stdout.
* Connections are limited to this machine. The library under test is meant to talk to the trial's base URL and to
  nobody else; an update check or a telemetry upload is refused, and named in the reply's notes.

Only the standard library is used here.
"""

import ipaddress
import json
import os
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

PROTOCOL = "laundromat-exec/1"

# Settings that laundromat adds to every arm's own.
COMMON_SETTINGS = {"model", "date", "session"}

USAGE_ERROR = 2

REASON_CHARS = 400

# A lone surrogate is no UTF-8; one `?` is better than no reply.
_reply = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
os.dup2(2, 1)
sys.stdout = sys.stderr
# Last in the search path: the folder holds names like `hermes` that must not shadow a module of the library under test.
_here = Path(__file__).resolve().parent
sys.path.sort(key=lambda entry: Path(entry or ".").resolve() == _here)


class UsageError(Exception):
    """The trial or the arm's settings are not what this adapter can take."""


@dataclass
class Trial:
    """One session to compact, and where the summarizer is."""

    messages: list
    settings: dict
    base_url: str
    token: str
    model: str
    date: str
    notes: dict = field(default_factory=dict)

    @property
    def openai_base_url(self):
        return self.base_url + "/v1"


def plain(content):
    """The text of a message's content, whether it is a string, a list of parts, or missing."""
    if isinstance(content, list):
        return "\n".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content or ""


def arguments_of(call):
    """A call's arguments as an object; what is none is kept whole, since these libraries only store objects."""
    raw = call["function"].get("arguments") or "{}"
    try:
        value = json.loads(raw)
    except ValueError:
        return {"_raw": raw}
    return value if isinstance(value, dict) else {"_value": value}


def with_valid_arguments(messages):
    """The same messages with every call's arguments as the text of a JSON object, unchanged where they were one."""
    out = []
    for message in messages:
        calls = message.get("tool_calls")
        if calls:
            calls = [
                {**call, "function": {**call["function"], "arguments": _object_text(call)}} for call in calls
            ]
            message = {**message, "tool_calls": calls}
        out.append(message)
    return out


def _object_text(call):
    raw = call["function"].get("arguments")
    try:
        if isinstance(json.loads(raw), dict):
            return raw
    except (TypeError, ValueError):
        pass
    return json.dumps(arguments_of(call), ensure_ascii=False)


def split_system(messages):
    """The leading system text (empty when there is none) and the messages after it."""
    first = next((at for at, message in enumerate(messages) if message["role"] not in ("system", "developer")),
                 len(messages))
    return "\n\n".join(plain(message.get("content")) for message in messages[:first]), messages[first:]


def last_user_message(messages, context):
    """What became of the newest message of the user: `kept`, in an `other-role`, `absent`, or None without one."""
    wanted = next((plain(m.get("content")) for m in reversed(messages) if m["role"] == "user"), "").strip()
    if not wanted:
        return None
    roles = {m["role"] for m in context if wanted in plain(m.get("content"))}
    return "kept" if "user" in roles else "other-role" if roles else "absent"


def serve(compact, defaults):
    """Reads the trial, calls `compact(trial)` for the context, writes the reply, and ends the process.

    `defaults` names the settings this adapter knows and the value each has when the arm does not give it.
    """
    refused = []
    try:
        trial = _read_trial(defaults)
        _allow_only_this_machine(trial.base_url, refused)
        context = compact(trial)
        trial.notes["last_user_message"] = last_user_message(trial.messages, context)
    except UsageError as fault:
        print(f"adapter: {fault}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    except Exception as fault:  # the library's own failure; the last line of stderr is what a report shows
        traceback.print_exc()
        reason = " ".join(str(fault).split())[:REASON_CHARS]
        print(f"adapter: the library raised {type(fault).__name__}: {reason}", file=sys.stderr)
        sys.exit(1)
    if refused:
        trial.notes["refused_connections"] = sorted(set(refused))
    json.dump({"context": context, "notes": trial.notes}, _reply, ensure_ascii=False, default=str)
    _reply.write("\n")
    _reply.flush()
    # Libraries leave threads and event loops behind; the reply is out, so nothing is worth waiting for.
    sys.stderr.flush()
    os._exit(0)


def _read_trial(defaults):
    try:
        given = json.load(sys.stdin.buffer)
    except ValueError as fault:
        raise UsageError(f"stdin is not a JSON object: {fault}") from None
    if not isinstance(given, dict) or given.get("protocol") != PROTOCOL:
        raise UsageError(f"stdin has to be an object with \"protocol\": \"{PROTOCOL}\"")
    settings = given.get("settings") or {}
    unknown = sorted(set(settings) - set(defaults) - COMMON_SETTINGS)
    if unknown:
        raise UsageError(f"unknown setting {', '.join(unknown)}; known are {', '.join(sorted(defaults))}")
    base_url = os.environ.get("LAUNDROMAT_BASE_URL", "").rstrip("/")
    if not base_url:
        raise UsageError("LAUNDROMAT_BASE_URL is not set; give it the address of a gateway, "
                         "for example http://127.0.0.1:8080/t/token")
    messages = [{key: value for key, value in message.items() if key != "laundromat"}
                for message in given.get("messages") or []]
    return Trial(
        messages=messages,
        settings={**defaults, **settings},
        base_url=base_url,
        token=os.environ.get("LAUNDROMAT_TOKEN") or "none",
        model=os.environ.get("LAUNDROMAT_MODEL") or settings.get("model") or "summarizer",
        date=os.environ.get("LAUNDROMAT_DATE") or settings.get("date") or "2026-01-01",
    )


def _allow_only_this_machine(base_url, refused):
    allowed = {urlsplit(base_url).hostname, "localhost", None, ""}

    def is_local(host):
        host = host.decode() if isinstance(host, bytes) else host
        if host in allowed:
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def hook(event, args):
        if event == "socket.getaddrinfo":
            host = args[0]
        elif event == "socket.connect" and isinstance(args[1], tuple):
            host = args[1][0]
        else:
            return
        if not is_local(host):
            refused.append(str(host))
            raise OSError(f"the adapter lets the library reach {base_url} only, not {host}")

    sys.addaudithook(hook)
