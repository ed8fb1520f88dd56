"""Checks every sessions/*.json against the rules of the corpus and prints the table."""
import glob
import json
import os
import re
import sys
from collections import Counter

OUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LABEL = re.compile(r"^\s*(?:\[(?:user|assistant|human|system|tool)\]|\[tool result|(?:user|human|assistant)\s*:"
                   r"|#+\s*(?:user|assistant|human|system)\b)", re.I)
IDENTS = {
    "number": re.compile(r"(?<![\w&])#\d{1,6}\b"),
    "path": re.compile(r"(?<![\w./:-])/?(?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_-][A-Za-z0-9_.-]*\.[A-Za-z]{1,5}\b"),
    "sha": re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"),
}
BANNED = {
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+\.\w"),
    "machine path": re.compile(r"(?<![\w.])/(?:work|root|tmp|home|Users)(?:/|\b)|\.pyenv"),
    "secret assignment": re.compile(r"(?i)\b\w*(?:key|token|password|passwd|secret)\s*=\s*['\"\w]"),
    "bearer": re.compile(r"(?i)\bbearer\s+\w|BEGIN [A-Z ]*PRIVATE|\b(?:sk|ghp|xox[bp])[-_]\w{8}|AKIA[0-9A-Z]{8}"),
    "long hex": re.compile(r"\b[0-9a-f]{41,}\b"),
    "ansi": re.compile(r"\x1b"),
    "phrase": re.compile(r"(?i)standing[ -]approval|pre-?approved"),
    "domain": re.compile(r"(?i)\b[\w-]+\.(?:com|org|net|io|dev|ai|co)\b"),
    "vendor": re.compile(r"(?i)anthropic|claude|openai|chatgpt|gemini|copilot|llama|language model"),
    "phone": re.compile(r"(?<![\w.-])\+\d{2}[ -]?\d{3}[ -]?\d{3}"),
}
HOST = re.compile(r"https?://([^/\s:\"'<>)`]+)")
HOST_OK = re.compile(r"^(?:localhost|127\.0\.0\.1|[\w.-]+\.(?:example|invalid))$")
UNWRAPPED = {"terminal", "read_file", "search_files", "execute_code"}


def texts(msg):
    yield msg["content"]
    for call in msg.get("tool_calls", []):
        args = json.loads(call["function"]["arguments"])
        for value in args.values():
            yield value if isinstance(value, str) else json.dumps(value)


def check(path):
    bad = []
    raw = open(path, encoding="utf-8").read()
    doc = json.loads(raw)
    stem = os.path.basename(path)[:-5]
    if raw != json.dumps(doc, indent=1, ensure_ascii=False) + "\n":
        bad.append("not in canonical form")
    if set(doc) != {"schema", "id", "title", "origin", "messages"}:
        bad.append("top-level keys")
    if doc["schema"] != "laundromat-session/1" or doc["id"] != stem or doc["origin"] != "constructed":
        bad.append("header values")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", stem):
        bad.append("name is not kebab case")
    msgs = doc["messages"]
    waiting, names, seen_ids = [], {}, set()
    row = dict(id=stem, title=doc["title"], messages=len(msgs), results=0, bytes=len(raw.encode()), users=0,
               harness=0, errors=0, wrapped=0, parallel=0, long=0, vlong=0, short=0, system=0,
               jsonres=0, rawres=0, idents=0, last=msgs[-1]["role"])
    for n, msg in enumerate(msgs):
        where, role = "message %d" % n, msg.get("role")
        extra = msg.get("laundromat", {})
        allowed = {"role", "content", "laundromat"} | {"assistant": {"tool_calls"}, "tool": {"tool_call_id"}}.get(role, set())
        if role not in ("system", "user", "assistant", "tool") or set(msg) - allowed:
            bad.append(where + ": keys " + str(sorted(msg)))
        if set(extra) - {"synthetic", "is_error", "ts"}:
            bad.append(where + ": laundromat keys")
        if "synthetic" in extra and role != "user" or "is_error" in extra and role != "tool":
            bad.append(where + ": misplaced mark")
        if not isinstance(msg.get("content"), str):
            bad.append(where + ": content is not a string")
        if role == "tool":
            if not waiting or waiting[0] != msg["tool_call_id"]:
                bad.append(where + ": result out of order")
            else:
                waiting.pop(0)
            name, body = names.get(msg["tool_call_id"], "?"), msg["content"]
            wrapped = body.startswith('<untrusted_tool_result source="%s">\n' % name)
            if wrapped != (name not in UNWRAPPED) or wrapped and not body.endswith("\n</untrusted_tool_result>"):
                bad.append(where + ": wrapping of " + name)
            if not re.fullmatch(r"terminal|read_file|search_files|execute_code|web_extract|browser_\w+|mcp_\w+", name):
                bad.append(where + ": tool " + name)
            row["results"] += 1
            row["wrapped"] += wrapped
            row["errors"] += bool(extra.get("is_error"))
            row["long"] += len(body) > 6000
            row["vlong"] += len(body) > 12000
            row["short"] += len(body) < 200
            row["jsonres" if body.startswith("{") else "rawres"] += 1
        else:
            if waiting:
                bad.append(where + ": calls without a result")
            waiting = []
        if role == "system":
            row["system"] += 1
            if n:
                bad.append(where + ": system row not first")
        if role in ("user", "assistant"):
            plain = re.sub(r"```.*?```|`[^`]*`", "", msg["content"], flags=re.S)
            if re.search(r"\{[a-z_]\w*\}|\bplaceholder\b", plain) and "synthetic" not in extra:
                bad.append(where + ": unfilled text: " + plain[:80])
        if role == "user":
            row["harness" if "synthetic" in extra else "users"] += 1
        if role == "assistant":
            calls = msg.get("tool_calls")
            if calls is not None and not calls or not calls and not msg["content"]:
                bad.append(where + ": empty assistant row")
            for call in calls or []:
                if call["id"] in seen_ids:
                    bad.append(where + ": repeated call id")
                seen_ids.add(call["id"])
                waiting.append(call["id"])
                names[call["id"]] = call["function"]["name"]
            row["parallel"] += len(calls or []) > 1
        for text in texts(msg):
            for line in text.replace("\\n", "\n").split("\n"):
                if LABEL.match(line):
                    bad.append(where + ": turn label: " + line[:60])
            for what, rule in BANNED.items():
                hit = rule.search(text)
                if hit:
                    bad.append("%s: %s: %s" % (where, what, text[max(0, hit.start() - 20):hit.end() + 20]))
            for host in HOST.findall(text):
                if not HOST_OK.match(host):
                    bad.append(where + ": host " + host)
    if waiting:
        bad.append("calls without a result at the end")
    counts = Counter()
    for msg in msgs:
        for text in texts(msg):
            for kind, rule in IDENTS.items():
                for hit in rule.findall(text):
                    counts[kind, hit] += 1
    twice = [k for k, c in counts.items() if c >= 2]
    row["idents"] = len(twice)
    row["kinds"] = Counter(kind for kind, _ in twice)
    if len(twice) < 8:
        bad.append("only %d identifiers occur twice" % len(twice))
    if not 45 <= len(msgs) <= 80:
        bad.append("%d messages" % len(msgs))
    if row["results"] < 10:
        bad.append("%d tool results" % row["results"])
    if not 8000 <= row["bytes"] <= 153600:
        bad.append("%d bytes" % row["bytes"])
    if not 4 <= row["users"] <= 8:
        bad.append("%d real user rows" % row["users"])
    if row["last"] not in ("user", "assistant") or "synthetic" in msgs[-1].get("laundromat", {}):
        bad.append("last row")
    if not row["short"]:
        bad.append("no short result")
    return row, bad


def features(r):
    out = []
    if r["system"]:
        out.append("system row")
    out.append("%d parallel" % r["parallel"])
    out.append("%d failed" % r["errors"])
    if r["wrapped"]:
        out.append("%d wrapped" % r["wrapped"])
    out.append("%d harness" % r["harness"])
    if r["long"]:
        out.append("%d over 6k" % r["long"] + (", %d over 12k" % r["vlong"] if r["vlong"] else ""))
    out.append("ends on %s" % r["last"])
    return ", ".join(out)


def readme(rows):
    """Put the table into README.md, between its two marks."""
    path = os.path.join(OUT, "README.md")
    text = open(path, encoding="utf-8").read()
    table = ["| session | job | messages | tool results | bytes | identifiers | features |", "|---|---|---|---|---|---|---|"]
    table += ["| [%s](%s.json) | %s | %d | %d | %d | %d | %s |" % (
        r["id"], r["id"], r["title"], r["messages"], r["results"], r["bytes"], r["idents"], features(r)) for r in rows]
    new = re.sub(r"(<!-- table -->\n).*?(<!-- end of table -->)", lambda m: m.group(1) + "\n".join(table) + "\n" + m.group(2), text, flags=re.S)
    if new != text:
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(new)


def main(write_readme=False):
    rows, failed = [], 0
    for path in sorted(glob.glob(os.path.join(OUT, "*.json"))):
        row, bad = check(path)
        rows.append(row)
        for line in bad:
            failed += 1
            print("FAIL %s: %s" % (row["id"], line))
    if write_readme:
        readme(rows)
    head = "| session | messages | results | bytes | idents (#/path/sha) | users | harness | errors | wrapped | parallel | >6k | >12k | json/raw | last |"
    print(head + "\n" + "|" + "---|" * (head.count("|") - 1))
    for r in rows:
        print("| %s | %d | %d | %d | %d (%d/%d/%d) | %d | %d | %d | %d | %d | %d | %d | %d/%d | %s |" % (
            r["id"], r["messages"], r["results"], r["bytes"], r["idents"], r["kinds"]["number"], r["kinds"]["path"],
            r["kinds"]["sha"], r["users"], r["harness"], r["errors"], r["wrapped"], r["parallel"], r["long"],
            r["vlong"], r["jsonres"], r["rawres"], r["last"]))
    want = [("sessions", len(rows), 12)] + [
        ("with " + k, sum(1 for r in rows if r[k]), least) for k, least in
        (("harness", 6), ("errors", 6), ("wrapped", 5), ("parallel", 6), ("long", 6), ("vlong", 2), ("system", 4))]
    want.append(("of 90 KB or more", sum(1 for r in rows if r["bytes"] >= 90000), 2))
    want.append(("of 20 KB or less", sum(1 for r in rows if r["bytes"] <= 20480), 2))
    want.append(("ending on a user row", sum(1 for r in rows if r["last"] == "user"), 3))
    want.append(("ending on an assistant row", sum(1 for r in rows if r["last"] == "assistant"), 3))
    for what, have, least in want:
        print("%-28s %d (at least %d)%s" % (what, have, least, "" if have >= least else "  FAIL"))
        failed += have < least
    print("all good" if not failed else "%d problems" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
