"""Session: a configuration rollout in waves, with a stop and a roll back (large file)."""
import json
import random

from common import BG, J, R, S, Session, T, W, X, task_list

RENDER = '''
"""Render out/<box>.conf from conf/base.json, conf/groups/<group>.json and conf/hosts/<box>.json."""
import json
import os
import sys


def load(path):
    return json.load(open(path)) if os.path.exists(path) else {}


def merge(low, high):
    out = dict(low)
    for name, value in high.items():
        out[name] = merge(out[name], value) if isinstance(value, dict) and isinstance(out.get(name), dict) else value
    return out


def flat(tree, prefix=""):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, prefix + name + ".")
        else:
            yield prefix + name, value


def render(box):
    host = load("conf/hosts/%s.json" % box)
    conf = merge(merge(load("conf/base.json"), load("conf/groups/%s.json" % host["group"])), host)
    lines = ["# %s, group %s. Rendered, do not edit." % (box, host["group"])]
    lines += ["%-28s %s" % pair for pair in sorted(flat(conf)) if pair[0] != "group"]
    return "\\n".join(lines) + "\\n"


if __name__ == "__main__":
    os.makedirs("out", exist_ok=True)
    boxes = sys.argv[1:] or sorted(n[:-5] for n in os.listdir("conf/hosts"))
    for box in boxes:
        with open("out/%s.conf" % box, "w") as f:
            f.write(render(box))
    print("rendered", len(boxes))
'''
BOXD = '''
"""boxd.py BOX: read boxes/BOX/signal.conf, check it, run 20 polls on a simulated line and print what happened."""
import random
import sys

LIMITS = {"poll.interval_ms": (100, 5000), "poll.timeout_ms": (20, 2000), "poll.retries": (0, 5), "lamp.dim_percent": (5, 100), "log.keep_days": (1, 60)}


def read(path):
    conf = {}
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            name, value = line.split(None, 1)
            conf[name] = value.strip()
    return conf


def main(box):
    conf = read("boxes/%s/signal.conf" % box)
    for name, (low, high) in LIMITS.items():
        try:
            value = int(conf[name])
        except (KeyError, ValueError) as why:
            print("%s config error: %s: %r" % (box, name, why))
            return 2
        if not low <= value <= high:
            print("%s config error: %s = %d is outside %d..%d" % (box, name, value, low, high))
            return 2
    interval, timeout, retries = (int(conf["poll." + n]) for n in ("interval_ms", "timeout_ms", "retries"))
    if timeout * (retries + 1) > interval:
        print("%s config error: %d tries of %d ms do not fit into %d ms" % (box, retries + 1, timeout, interval))
        return 2
    rng = random.Random(box)
    slow = int(conf["line.delay_ms"])
    late = sum(all(rng.expovariate(1 / slow) > timeout for _ in range(retries + 1)) for _ in range(20))
    print("%s ok interval=%d timeout=%d retries=%d late=%d/20" % (box, interval, timeout, retries, late))
    return 1 if late > 3 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
'''
APPLY = '''
"""apply.py BOX...: copy out/BOX.conf to boxes/BOX/signal.conf, keep the old file as signal.conf.prev, run boxd. Stops at the first bad box."""
import shutil
import subprocess
import sys

for box in sys.argv[1:]:
    live = "boxes/%s/signal.conf" % box
    shutil.copy(live, live + ".prev")
    shutil.copy("out/%s.conf" % box, live)
    code = subprocess.run([sys.executable, "tools/boxd.py", box]).returncode
    if code:
        shutil.copy(live + ".prev", live)
        print("%s put back to the old file, stopping" % box)
        sys.exit(1)
print("applied", len(sys.argv) - 1)
'''
WATCH = '''
"""watch.py SECONDS: run boxd for every box again and again, print late boxes."""
import subprocess
import sys
import time

end, n = time.time() + float(sys.argv[1]), 0
boxes = sorted(l.strip() for l in open("boxes/LIST"))
while time.time() < end:
    n += 1
    for box in boxes:
        r = subprocess.run([sys.executable, "tools/boxd.py", box], capture_output=True, text=True)
        if r.returncode:
            print("ALERT round %d: %s" % (n, r.stdout.strip()), flush=True)
    print("round %d finished, %d boxes" % (n, len(boxes)), flush=True)
    time.sleep(0.2)
'''
PLAN = """
<html><body><h1>Rollout plan: faster polling (#208)</h1><p>Target: poll.interval_ms from 2000 to 1200 on all boxes, and log.keep_days 14.</p>
<h2>Waves</h2><table><tr><th>wave</th><th>boxes</th></tr><tr><td>canary</td><td>box-03, box-11</td></tr><tr><td>1</td><td>group north</td></tr>
<tr><td>2</td><td>group south</td></tr><tr><td>3</td><td>group yard</td></tr></table>
<h2>Stop rule</h2><p>Any config error, or more than 3 late polls of 20 on any box, stops the wave. A stopped box goes back to its old file. The next wave needs a decision of the
person who owns the rollout.</p><h2>Notes</h2><ul><li>Rendered files are never edited by hand.</li><li>Group yard has long lines: line.delay_ms is higher there (#177).</li>
<li>Host files with own poll settings are exceptions and have a reason in the commit (#190).</li></ul></body></html>
"""


def build():
    s = Session("rollout-signalbox-polling", "Roll out a polling change to 24 boxes in waves", "signalbox", "2026-02-26T09:30:00Z")
    rng = random.Random(208)
    base = {"poll": {"interval_ms": 2000, "timeout_ms": 300, "retries": 2}, "lamp": {"dim_percent": 60, "test_hour": 4, "warm_start": "yes"},
            "log": {"keep_days": 30, "level": "info", "path": "/var/log/boxd"}, "line": {"delay_ms": 60, "kind": "pair"},
            "report": {"every_min": 15, "format": "short"}, "clock": {"drift_warn_ms": 250, "source": "line"}}
    s.file("conf/base.json", json.dumps(base, indent=2) + "\n")
    s.file("conf/groups/north.json", '{"lamp": {"dim_percent": 40}}\n')
    s.file("conf/groups/south.json", '{"report": {"every_min": 30}}\n')
    s.file("conf/groups/yard.json", '{"line": {"delay_ms": 190, "kind": "long"}, "poll": {"timeout_ms": 450}}\n')
    for n in range(1, 25):
        host = {"group": ("north", "south", "yard")[(n - 1) // 8], "name": "signal box %d" % n, "lamp": {"count": rng.randint(4, 22)}, "track": {"zone": "z%02d" % rng.randint(1, 9)}}
        s.file("conf/hosts/box-%02d.json" % n, json.dumps(host) + "\n")
    for path, text in (("tools/render.py", RENDER), ("tools/boxd.py", BOXD), ("tools/apply.py", APPLY), ("tools/watch.py", WATCH), (".gitignore", "out/\nboxes/\nwiki/\n")):
        s.file(path, text)
    s.commit("Render box configuration from base, group and host (#150)")
    s.file("conf/hosts/box-14.json", '{"group": "south", "name": "signal box 14", "lamp": {"count": 9}, "track": {"zone": "z02"}, "poll": {"timeout_ms": 500}}\n')
    s.commit("box-14: longer timeout, old relay (#190)")
    s.sh("python3 tools/render.py && for f in out/*.conf; do b=$(basename $f .conf); mkdir -p boxes/$b; cp $f boxes/$b/signal.conf; done; ls boxes | grep box- > boxes/LIST; rm -r out")
    start = s.sha()
    s.file("wiki/plan.html", PLAN)
    s.serve("wiki", 18210)

    s.user("Start the rollout of #208, plan at http://127.0.0.1:18210/plan.html. Prepare the change on a branch poll-208 and roll out the canary only, then stop and show me. Never push to main, and never apply a later "
           "wave without me saying so in this chat.")
    s.do("Plan, tools and the present state.", W("http://127.0.0.1:18210/plan.html"), R("tools/apply.py"), R("tools/boxd.py", js=False), T("git log --oneline; ls conf conf/groups; wc -l boxes/LIST"))
    s.do("A baseline before any change: every box with its live file, and the live files themselves for the record.",
         T("for b in $(cat boxes/LIST); do python3 tools/boxd.py $b; done"), T("for b in $(cat boxes/LIST); do cat boxes/$b/signal.conf; done"))
    s.do("24 boxes ok. The change is in base: interval 1200 and keep_days 14. Before I edit, who overrides poll or log?", S(r"\"poll\"|\"log\"", "conf"),
         R("conf/base.json"), R("conf/groups/yard.json", js=False), T("cat conf/hosts/box-14.json"))
    s.say("Two overrides matter. boxd demands that timeout × (retries + 1) fits into the interval:\n\n- base: 300 × 3 = 900, fits into 1200.\n- group yard: 450 × 3 = 1350, does not fit into 1200.\n- box-14 (#190): 500 × 3 = 1500, does not fit.\n\n"
          "So with the plan as written, wave 3 and box-14 in wave 2 will be refused. The canary and north are not concerned. I'll prepare the change as planned and go on to the canary, unless you want the numbers changed first.")
    s.user("Go on with the canary as planned. We decide on yard and box-14 later.")
    s.do("", T("git switch -q -c poll-208 && sed -i 's/\"interval_ms\": 2000/\"interval_ms\": 1200/; s/\"keep_days\": 30/\"keep_days\": 14/' conf/base.json && git diff -U0 | grep '^[+-]' && "
               "git commit -qam 'Poll every 1200 ms, keep logs for 14 days (#208)' && git log --oneline -1"), J("python3 tools/render.py"))
    c1 = s.sha()
    s.do("The full difference between live and rendered, for all boxes. Only two lines per box should differ.",
         T("for b in $(cat boxes/LIST); do diff -U1 --label live/$b.conf --label new/$b.conf boxes/$b/signal.conf out/$b.conf; done; true"),
         J("for b in $(cat boxes/LIST); do diff boxes/$b/signal.conf out/$b.conf | grep -c '^>'; done | sort | uniq -c"))
    s.do("Two lines in each of the 24. Applying to the canary boxes.", T("python3 tools/apply.py box-03 box-11"), J("ls boxes/box-03 boxes/box-11 && sha256sum boxes/box-03/signal.conf out/box-03.conf | cut -c1-12"))
    s.do("And a watch in the background, over all boxes.", BG("proc_w208", "python3 tools/watch.py 6", "ALERT|round 2"))
    s.bg_event("proc_w208", "ALERT|round 2", 40)
    s.say(f"Canary is done with {c1}: box-03 and box-11 run 1200 ms, both without a stop condition, and the watch shows no alert in two rounds over all 24 boxes. Old files are kept as signal.conf.prev. I stop here, as you said.")
    s.user("Looks fine. Do wave 1 (north) now. Only that.")
    s.do("", T("python3 tools/apply.py $(grep -l '\"north\"' conf/hosts/*.json | xargs -n1 basename -s .json)"), J("for b in $(cat boxes/LIST); do grep -h interval boxes/$b/signal.conf; done | sort | uniq -c"))
    s.do("Eight north boxes and box-11 are on 1200. Everything else is at 2000, as it should be. Checking north in detail, with each poll's share of time that is left for retries.",
         X('''
import glob, re
for path in sorted(glob.glob("boxes/box-0[1-9]/signal.conf")):
    conf = dict(re.match(r"(\\S+)\\s+(.*)", l).groups() for l in open(path) if not l.startswith("#"))
    i, t, r = (int(conf["poll." + n]) for n in ("interval_ms", "timeout_ms", "retries"))
    print(path.split("/")[1], "interval", i, "worst case", t * (r + 1), "spare", i - t * (r + 1))
'''), T("for b in $(cat boxes/LIST); do python3 tools/boxd.py $b; done | awk '{print $NF}' | sort | uniq -c"))
    s.harness(task_list((True, "change on branch poll-208"), (True, "canary box-03 box-11"), (True, "wave 1 north"), (False, "decision on box-14 and group yard"), (False, "wave 2 south"), (False, "wave 3 yard")))
    s.say("Wave 1 is finished, 8 of 8 boxes ok (box-03 was there from the canary and was applied again with the same file). 300 ms are spare per poll in the worst case.\n\nFor wave 2, box-14 will be refused. It is the sixth of the eight in order, so apply.py would stop there and leave "
          "box-15 and box-16 on the old file. What do you want to do with box-14?")
    s.user("Let it run into the stop, I want to see that the stop rule works. Wave 2 please.")
    s.do("", T("python3 tools/apply.py $(grep -l '\"south\"' conf/hosts/*.json | xargs -n1 basename -s .json)", err=True), J("for n in 09 10 11 12 13 14 15 16; do printf \"box-$n \"; grep -h interval boxes/box-$n/signal.conf; done"))
    s.do("It stopped at box-14 as calculated, and put that box back. Verifying that box-14 is really as before, against git's start commit.",
         T(f"git stash list | wc -l; mkdir -p out/check && git archive {start} conf tools | tar -x -C out/check && (cd out/check && python3 tools/render.py box-14 > /dev/null) && cmp out/check/out/box-14.conf boxes/box-14/signal.conf && echo 'box-14 equal to {start}'; rm -r out/check"),
         J("python3 tools/boxd.py box-14"), S("box-14|#190", "conf"))
    s.say("The stop rule works: box-09 to box-13 are on 1200, box-14 was refused (3 tries of 500 ms do not fit into 1200 ms) and has its old file, byte for byte. box-15 and box-16 were not reached.\n\nOptions for box-14:\n1. own interval of 2000 in `conf/hosts/box-14.json`: stays as it is, an exception as of #190;\n"
          "2. retries 1: 500 × 2 = 1000, fits, but an old relay needs the retries most;\n3. timeout 400: exactly 1200, no spare.\n\nI'd take 1.")
    s.user("1 for box-14. For yard do the calculation first: which timeout and retries would hold the late polls down at 1200? Try values without applying anything.")
    s.do("A trial with the same simulation as boxd, on the delay of group yard, outside the live files. I also run boxd once for a box that does not exist, to see how it reports that.", X('''
import random
boxes = ["box-%02d" % n for n in range(17, 25)]
print("timeout retries worst-case  late of 20 per box                       max")
for timeout, retries in ((450, 2), (400, 2), (390, 2), (300, 2), (300, 3), (590, 1), (200, 5), (1200, 0)):
    late = []
    for box in boxes:
        rng = random.Random(box)
        late.append(sum(all(rng.expovariate(1 / 190) > timeout for _ in range(retries + 1)) for _ in range(20)))
    print("%7d %7d %10d  %-40s %3d %s" % (timeout, retries, timeout * (retries + 1), late, max(late), "" if timeout * (retries + 1) <= 1200 else "too long"))
'''), J("python3 tools/boxd.py box-99", err=True))
    s.do("An unknown box gives a traceback instead of a config error, with exit code 1, which apply.py would treat as a stop. Good enough. Now the exception for box-14, on the branch, rendered and compared. Nothing applied yet. I also want the rendered file of each remaining box in view.", T("""python3 - <<'PY'
import json
p = "conf/hosts/box-14.json"
c = json.load(open(p))
c["poll"]["interval_ms"] = 2000
open(p, "w").write(json.dumps(c) + "\\n")
PY
git commit -qam 'box-14 keeps an interval of 2000 ms (#190, #208)' && python3 tools/render.py && diff boxes/box-14/signal.conf out/box-14.conf; git log --oneline -2"""),
         T("for b in box-14 box-15 box-16; do cat out/$b.conf; done"))
    c2 = s.sha()
    s.say(f"box-14 is prepared in {c2}: only log.keep_days changes for it.\n\nYard: everything but 450 × 3 fits into 1200. 400 × 3, 390 × 3 and 300 × 4 have no late poll in the trial, 300 × 3 has one. 590 × 2 leaves little room and 1200 × 1 has no second try. "
          "I'd propose timeout 390 and retries 2 for `conf/groups/yard.json`, which leaves 30 ms. That is a proposal from a simulated line, not a measurement.\n\nTo finish wave 2 I need your word for box-14, box-15 and box-16.")
    s.user("Yes, finish wave 2 with those three boxes. Yard is postponed to next week, so no wave 3 today. Then give me the final table.")
    s.do("", T("python3 tools/apply.py box-14 box-15 box-16"), J("for b in $(cat boxes/LIST); do grep -h interval boxes/$b/signal.conf; done | sort | uniq -c"))
    s.do("The final table, from the live files, and a comparison with what the branch renders.", X('''
import re
print("%-8s %-6s %9s %8s %8s %10s" % ("box", "group", "interval", "timeout", "retries", "keep_days"))
for box in open("boxes/LIST").read().split():
    text = open("boxes/%s/signal.conf" % box).read()
    conf = dict(re.findall(r"^(\\S+)\\s+(\\S+)", text, re.M))
    same = text == open("out/%s.conf" % box).read()
    print("%-8s %-6s %9s %8s %8s %10s %s" % (box, re.search("group (\\\\w+)", text).group(1), conf["poll.interval_ms"], conf["poll.timeout_ms"], conf["poll.retries"], conf["log.keep_days"], "" if same else "old file"))
'''), T("for b in $(cat boxes/LIST); do python3 tools/boxd.py $b || echo BAD $b; done"), T("git status --short | wc -l; git log --oneline main..poll-208"))
    s.say(f"Final state: north and south are done (15 boxes on 1200 ms, box-14 on 2000 ms by exception), yard has its old files. All 24 boxes pass boxd.\n\nBranch poll-208 has {c1} and {c2}, not pushed. `out/` for yard is rendered from the plan's numbers and must not be applied as it is: boxd would refuse it.")
    s.user("Write a handover note for next week about wave 3: what is decided, what is not, the numbers for yard, and the commands in order. Mention #177 and #190.")
    s.save()
