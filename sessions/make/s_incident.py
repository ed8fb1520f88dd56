"""Session: an incident worked out from logs that a small simulation wrote (large file)."""
from common import J, M, R, RE, S, Session, T, W, X, task_list

SIM = '''
"""Ferry booking: gateway -> worker pool -> seat store, on a simulated clock. Writes logs/*.log."""
import heapq
import json
import os
import random
import sys

rng = random.Random(int(sys.argv[1]))
conf = json.load(open("config/pool.json"))
os.makedirs("logs", exist_ok=True)
logs = {n: open("logs/%s.log" % n, "w") for n in ("gateway", "worker", "store")}
START = 6 * 3600


def stamp(t):
    t += START
    return "2026-02-09T%02d:%02d:%06.3fZ" % (t // 3600, t % 3600 // 60, t % 60)


def log(name, t, text):
    logs[name].write("%s %s\\n" % (stamp(t), text))


class Store:
    """A seat store with a fixed number of connections; a leaked one never comes back."""
    def __init__(self, size):
        self.size, self.busy, self.leaked = size, 0, 0

    def free(self):
        return self.size - self.busy - self.leaked


store, events, seq = Store(conf["connections"]), [], 0
t = 0.0
while t < 5400:
    t += rng.expovariate(0.30 if t < 1800 else 0.45)
    route = rng.choice(["skerry", "skerry", "holm", "northport", "lighthouse"])
    group = rng.random() < (0.02 if t < 2400 else 0.08)
    seq += 1
    heapq.heappush(events, (t, seq, "arrive", {"req": "b%05d" % seq, "route": route, "seats": rng.randint(11, 40) if group else rng.randint(1, 6), "try": 0}))
while events:
    t, _, kind, r = heapq.heappop(events)
    if kind == "arrive":
        if r["try"] == 0:
            log("gateway", t, "INFO request req=%s route=%s seats=%d" % (r["req"], r["route"], r["seats"]))
        if store.free() <= 0:
            r["try"] += 1
            if r["try"] > conf["retries"]:
                log("gateway", t, "ERROR status=503 req=%s reason=no-connection tries=%d" % (r["req"], r["try"]))
                log("worker", t, "ERROR give up req=%s pool free=0 busy=%d of=%d" % (r["req"], store.busy, store.size))
                continue
            log("worker", t, "WARN wait for connection req=%s try=%d busy=%d" % (r["req"], r["try"], store.busy))
            heapq.heappush(events, (t + conf["wait"], seq, "arrive", r)); seq += 1
            continue
        store.busy += 1
        took = rng.uniform(0.05, 0.4) + 0.04 * r["seats"]
        log("store", t, "DEBUG checkout req=%s in_use=%d" % (r["req"], store.busy + store.leaked))
        seq += 1
        heapq.heappush(events, (t + took, seq, "done", r))
    elif r["seats"] > conf["group_limit"]:
        store.busy -= 1
        store.leaked += 1
        log("worker", t, "ERROR booking failed req=%s error=GroupTooLarge seats=%d limit=%d" % (r["req"], r["seats"], conf["group_limit"]))
        log("gateway", t, "WARN status=422 req=%s reason=group-too-large" % r["req"])
    else:
        store.busy -= 1
        log("store", t, "DEBUG checkin req=%s in_use=%d" % (r["req"], store.busy + store.leaked))
        log("gateway", t, "INFO status=200 req=%s seats=%d" % (r["req"], r["seats"]))
for f in logs.values():
    f.close()
'''
WORKER = '''
"""Booking worker: the code path that the simulation models."""
from ferry.pool import Pool


class GroupTooLarge(Exception):
    pass


class Worker:
    def __init__(self, pool, group_limit):
        self.pool, self.group_limit = pool, group_limit

    def book(self, route, seats):
        conn = self.pool.checkout()
        if seats > self.group_limit:
            raise GroupTooLarge("%d seats, limit %d" % (seats, self.group_limit))
        ref = conn.reserve(route, seats)
        self.pool.checkin(conn)
        return ref
'''
WORKER_OLD = WORKER.replace('''        conn = self.pool.checkout()
        if seats > self.group_limit:
            raise GroupTooLarge("%d seats, limit %d" % (seats, self.group_limit))
''', '''        conn = self.pool.checkout()
''').replace('class GroupTooLarge(Exception):\n    pass\n\n\n', '').replace("pool, group_limit):", "pool):").replace(
    "self.pool, self.group_limit = pool, group_limit", "self.pool = pool")
POOL = '''
"""A fixed-size connection pool."""


class Empty(Exception):
    pass


class Conn:
    def reserve(self, route, seats):
        return "%s-%03d" % (route, seats)


class Pool:
    def __init__(self, size):
        self.size = size
        self.idle = [Conn() for _ in range(size)]

    def checkout(self):
        if not self.idle:
            raise Empty("0 of %d connections free" % self.size)
        return self.idle.pop()

    def checkin(self, conn):
        self.idle.append(conn)
'''
ONCALL = """
<html><body><h1>On-call guide: ferry booking</h1>
<h2>503 from the gateway</h2><p>A 503 with reason=no-connection means that the worker gave up waiting for a connection to
the seat store. First look at in_use in logs/store.log.</p>
<ul><li>in_use high and moving: the store is slow or there is real load. Raise an incident with the store team.</li>
<li>in_use stuck at the pool size: connections are not returned. Restarting the worker frees them, and hides the cause:
save the logs first.</li></ul>
<h2>Limits</h2><p>Changing config/pool.json on a live system needs a second person (#509). The group limit came with #517.</p>
<h2>History</h2><table><tr><th>incident</th><th>cause</th></tr><tr><td>#488</td><td>store upgrade, slow queries</td></tr>
<tr><td>#502</td><td>retry storm after a network change</td></tr></table></body></html>
"""
TICKET = """{"number": 523, "title": "503s on bookings since the morning of 9 February", "state": "open",
 "reported": "2026-02-09T07:22:00Z", "labels": ["incident", "booking"],
 "body": "Counter staff see 'try again later' on all routes. Began some time before 07:15. A restart of the worker at 07:31 helped.",
 "comments": [{"n": 1, "text": "Could be the retry storm of #502 again."},
  {"n": 2, "text": "Group bookings went live that morning, see #517."}]}
"""


def build():
    s = Session("ferry-booking-incident", "Find the cause of an hour of 503 answers from three logs", "ferry",
                "2026-02-10T10:05:00Z")
    s.file("ferry/__init__.py", "")
    s.file("ferry/pool.py", POOL)
    s.file("ferry/worker.py", WORKER_OLD)
    s.file("config/pool.json", '{"connections": 12, "retries": 3, "wait": 2.0, "group_limit": 100}\n')
    s.file("sim/ferry_sim.py", SIM)
    s.file(".gitignore", "logs/\nwiki/\n")
    s.commit("Booking worker with a connection pool (#471)")
    s.file("config/pool.json", '{"connections": 12, "retries": 3, "wait": 2.0, "group_limit": 24}\n')
    s.file("ferry/worker.py", WORKER)
    s.commit("Refuse groups above the limit (#517)")
    s.sh("python3 sim/ferry_sim.py 523")
    s.file("wiki/oncall.html", ONCALL)
    s.file("wiki/523.json", TICKET)
    s.serve("wiki", 18205)

    s.system("You help the on-call engineer of a booking service. Work in /srv/ferry. Logs are evidence: never edit or "
             "delete anything below logs/. State times in UTC.")
    s.user("Incident review for #523: bookings gave 503 for a while on 9 February. logs/ has the three logs of that morning. "
           "Find the cause, not just the symptom. Guide is http://127.0.0.1:18205/oncall.html. Read only please, and do not "
           "change config/pool.json whatever you find, that needs a second person.")
    s.do("I'll get the ticket, the guide and an overview of the logs.",
         M("mcp_tracker_get_issue", {"number": 523}, "http://127.0.0.1:18205/523.json"),
         W("http://127.0.0.1:18205/oncall.html"), T("wc -l logs/*.log; head -n 3 logs/*.log; tail -n 1 logs/*.log"))
    s.do("When did it start, and how do the answers spread over time?", X('''
import collections, re
per = collections.defaultdict(collections.Counter)
for line in open("logs/gateway.log"):
    m = re.search(r"status=(\\d+)", line)
    if m:
        per[line[11:15] + "0"][m.group(1)] += 1
for minute in sorted(per):
    c = per[minute]
    print(minute, "200:%4d  422:%3d  503:%4d" % (c["200"], c["422"], c["503"]))
'''), J("grep -m1 -n 'status=503' logs/gateway.log"), T("grep -c 'status=503' logs/gateway.log"))
    first = s.grab(r"(\d\d:\d\d:\d\d)\.\d+Z ERROR", 1)
    count = s.out[2].strip()
    s.do(f"{count} answers with 503, the first at {first}. After that there are no 200s worth mentioning. What does the worker "
         "say around the first one?",
         T("grep -n '' logs/worker.log | sed -n '1,60p'"))
    s.do("Only GroupTooLarge errors before the waits begin. Let me see all warnings and errors of the worker up to the first "
         "give up, and some time after it.", T("n=$(grep -n -m1 'give up' logs/worker.log | cut -d: -f1); sed -n "
                                              "\"1,$((n+230))p\" logs/worker.log"))
    s.do("The guide says to look at in_use in `logs/store.log`. Printing it just before the end of service.",
         T("tail -n 200 logs/store.log"), T("awk '{print $1, $5}' logs/store.log | sort -t= -k2 -n | tail -n 3"))
    s.say(f"So far: the first 503 is at {first}. The store log ends with in_use at the pool size and then goes silent: the "
          "connections are all out and none comes back. That is the second case of the guide, \"connections are not "
          "returned\". It does not look like the retry storm of #502, since the load on the store is nil.\n\nNext I want to "
          "know which requests hold the connections.")
    s.user("Good. I want the list of requests that checked out and never checked in. Compare with the 422s.")
    s.do("", X('''
import re
out, back = {}, set()
for line in open("logs/store.log"):
    req = re.search(r"req=(\\S+)", line).group(1)
    if " checkout " in line:
        out[req] = line[11:23]
    else:
        back.add(req)
stuck = {r: t for r, t in out.items() if r not in back}
e422 = {re.search(r"req=(\\S+)", l).group(1) for l in open("logs/gateway.log") if "status=422" in l}
print("checked out, never in:", len(stuck), " 422 answers:", len(e422), " both:", len(stuck.keys() & e422))
for r, t in stuck.items():
    print(r, t, "422" if r in e422 else "-")
'''))
    n = s.grab(r"never in: (\d+)")
    s.do(f"A perfect match: {n} connections out, {n} refused groups, the same requests. One request end to end through the "
         "three logs, and the code.",
         T("r=$(grep -m1 'status=422' logs/gateway.log | grep -o 'req=[^ ]*'); grep -h \"$r\" logs/*.log | sort"),
         R("ferry/worker.py"), R("ferry/pool.py", js=False), J("cat config/pool.json"))
    s.do("`book` takes a connection, then raises `GroupTooLarge` before `checkin`. When did that come in?",
         T("git log --format='%h %ad %s' --date=short -- ferry/worker.py"),
         T("git diff HEAD~1 HEAD -- ferry config"))
    sha, old = s.sha(), s.sha("HEAD~1")
    s.do("Reproducing it on the code alone, without the simulation's logs.", X('''
from ferry.pool import Pool
from ferry.worker import Worker, GroupTooLarge
pool = Pool(3)
worker = Worker(pool, group_limit=24)
for seats in (2, 30, 4, 31, 25):
    try:
        print(seats, worker.book("skerry", seats), "idle", len(pool.idle))
    except GroupTooLarge as why:
        print(seats, "refused:", why, "idle", len(pool.idle))
print(worker.book("holm", 1))
''', err=True))
    s.say(f"Cause found. {sha} \"Refuse groups above the limit (#517)\" added the check in `ferry/worker.py` after "
          "`checkout()`. When it raises, the connection is not returned. Each refused group costs one of the 12 connections "
          f"for good; the {n}th refusal took the last one. My reproduction with a pool of 3 ends the same way: three refusals, then "
          "`Empty` on a booking for one seat.\n\nThe load rise after 06:30 only made it come sooner. #502 is not related.")
    s.user("Convincing. I need a timeline for the review: each leak with the time and how many connections were left, then the "
           "first wait, the first 503, and the number of failed requests per route.")
    s.do("", X('''
import re, collections
size, rows, lost = 12, [], 0
for line in open("logs/worker.log"):
    if "GroupTooLarge" in line:
        lost += 1
        rows.append((line[:24], "leak %2d, %2d connections left" % (lost, size - lost)))
    elif "wait for" in line and not any("first wait" in r[1] for r in rows):
        rows.append((line[:24], "first wait for a connection"))
    elif "give up" in line and not any("first 503" in r[1] for r in rows):
        rows.append((line[:24], "first 503"))
for r in rows:
    print(*r)
route = {}
failed = collections.Counter()
for line in open("logs/gateway.log"):
    req = re.search(r"req=(\\S+)", line).group(1)
    if " request " in line:
        route[req] = re.search(r"route=(\\S+)", line).group(1)
    elif "status=503" in line:
        failed[route[req]] += 1
print("failed per route:", dict(sorted(failed.items())), "sum", sum(failed.values()))
'''))
    wait = s.grab(r"T(\d\d:\d\d:\d\d)\.\d+Z first wait")
    s.do("The first wait can come before the last leak if the remaining connections were all busy, so I'll look at the raw lines "
         "around it before I write that down. I'm also taking a full list of the 503s of the first minutes for the appendix.",
         T(f"grep -h 'T{wait[:5]}' logs/worker.log logs/store.log | sort | head -n 120"),
         T("grep 'status=503' logs/gateway.log | head -n 260"))
    s.harness(task_list((True, "cause of #523"), (True, "timeline of the leaks"), (False, "check the ticket's claims"),
                        (False, "a fix proposal for ferry/worker.py, not applied"), (False, "summary for the review")))
    s.do(f"So the first wait, at {wait}, came before the last leak: the few connections left were all busy. The ticket says that a restart "
         "of the worker at 07:31 helped. The logs can confirm or deny that.",
         T("tail -n 2 logs/gateway.log logs/worker.log"), J("grep -c 'T07:[3-5]' logs/gateway.log", ok=(0, 1)),
         RE("logs/restart.log"))
    s.say("The logs can't confirm the restart: they end at about 07:30, all with 503s, and there is no restart log. The ticket's "
          "\"began before 07:15\" is right, but far too late: see the first 503 above.\n\nThe next thing is the fix proposal. I "
          "understand that you want it as a diff only.")
    s.user("Yes, diff only, print it here. And tell me which alarm would have caught it.")
    s.do("I'll make the change in a copy outside the repository's files, test it there and print the diff.",
         T("""mkdir -p ../ferry-copy && cp -r ferry ../ferry-copy/ && cd ../ferry-copy && python3 - <<'PY'
p = "ferry/worker.py"
t = open(p).read()
t = t.replace('''        conn = self.pool.checkout()
        if seats > self.group_limit:
            raise GroupTooLarge("%d seats, limit %d" % (seats, self.group_limit))
        ref = conn.reserve(route, seats)
        self.pool.checkin(conn)
        return ref
''', '''        if seats > self.group_limit:
            raise GroupTooLarge("%d seats, limit %d" % (seats, self.group_limit))
        conn = self.pool.checkout()
        try:
            return conn.reserve(route, seats)
        finally:
            self.pool.checkin(conn)
''')
open(p, "w").write(t)
PY
cd ../ferry && diff -u ferry/worker.py ../ferry-copy/ferry/worker.py | sed '1,2s/\\t.*//'""", ok=(0, 1)),
         T("""cd ../ferry-copy && python3 - <<'PY'
from ferry.pool import Pool
from ferry.worker import Worker, GroupTooLarge
pool = Pool(3)
worker = Worker(pool, 24)
for seats in [2, 30, 4, 31, 25] * 20:
    try:
        worker.book("skerry", seats)
    except GroupTooLarge:
        pass
print("idle", len(pool.idle), "of", pool.size)
PY"""))
    s.do("All three connections are back after 100 calls with 60 refusals. For the alarm I'll test the obvious candidate, "
         "\"in_use has not been below N for five minutes\", on the data.", X('''
import re
lines = [(int(l[11:13]) * 3600 + int(l[14:16]) * 60 + float(l[17:23]), int(l.rsplit("=", 1)[1])) for l in open("logs/store.log")]
def hms(t): return "%02d:%02d:%02d" % (t // 3600, t % 3600 // 60, t % 60)
for limit in (2, 4, 6, 8):
    since = None
    for t, used in lines:
        if used < limit:
            since = None
        else:
            since = since if since is not None else t
            if t - since >= 300:
                print("in_use >= %d for 5 min: alarm at %s" % (limit, hms(t)))
                break
    else:
        print("in_use >= %d for 5 min: never" % limit)
'''), T("rm -r ../ferry-copy && git status --short | wc -l"))
    alarm = s.grab(r">= 4 for 5 min: alarm at (\S+)", 0)
    s.say("Proposal: check the limit before taking a connection, and return the connection in a `finally`. The diff is above; "
          "with it a pool of 3 survives 100 calls with 60 refusals. It is not applied.\n\nAlarm: \"in_use at 4 or more for "
          f"five minutes\" would have gone off at {alarm}, against the first 503 at {first}. The copy is removed, the "
          "repository is clean, and config/pool.json and logs/ are as I found them.")
    s.user("Write the review summary for #523 now: what happened, cause with the commit, impact in numbers, what we change. "
           "Twelve lines at most, and no names.")
    s.save()
