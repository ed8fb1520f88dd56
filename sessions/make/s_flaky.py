"""Session: a CI job that fails now and then, traced to hash order and a short timeout (small file)."""
from common import J, M, R, S, Session, T, X, TRUNCATED, task_list

BEATS = '''
"""Assign players to beats. The first player of a beat leads it."""


def leaders(players):
    """players: list of (name, beats) -> {beat: leader}."""
    out = {}
    for name, beats in players:
        for beat in set(beats):
            out.setdefault(beat, name)
    return out


def busiest(players):
    """The beat with the most players; the first one in the list of beats wins a tie."""
    count = {}
    order = []
    for _, beats in players:
        for beat in set(beats):
            if beat not in count:
                order.append(beat)
            count[beat] = count.get(beat, 0) + 1
    best = max(count.values())
    for beat in order:
        if count[beat] == best:
            return beat
'''
TEST = '''
import unittest

from metronome.beats import busiest, leaders

PLAYERS = [("ada", ["one", "two", "two"]), ("ben", ["two", "three"]), ("cy", ["one"])]


class Beats(unittest.TestCase):
    def test_leaders(self):
        self.assertEqual(leaders(PLAYERS), {"one": "ada", "two": "ada", "three": "ben"})

    def test_busiest_tie_goes_to_first(self):
        self.assertEqual(busiest(PLAYERS), "one")

    def test_busiest_clear(self):
        self.assertEqual(busiest(PLAYERS + [("di", ["three"]), ("eve", ["three"])]), "three")


if __name__ == "__main__":
    unittest.main()
'''


def build():
    s = Session("trace-flaky-metronome-job", "A CI job that fails about every other time", "metronome", "2026-03-02T16:44:00Z", stamps=False)
    s.file("metronome/__init__.py", "")
    s.file("metronome/beats.py", BEATS.replace("set(beats)", "dict.fromkeys(beats)"))
    s.file("tests/__init__.py", "")
    s.file("tests/test_beats.py", TEST.split("    def test_busiest_clear")[0] + TEST[TEST.index("\n\nif __name__"):].lstrip("\n").join(["\n", ""]))
    s.file("ci/run.sh", "#!/bin/sh\n# What the CI job runs.\nexec python3 -m unittest discover -t . -s tests\n", 0o755)
    s.file(".gitignore", "wiki/\n")
    s.commit("Leaders and busiest beat (#31)")
    s.file("metronome/beats.py", BEATS)
    s.commit("Simplify: a set removes double beats (#44)")
    s.file("tests/test_beats.py", TEST)
    s.commit("One more test for busiest (#45)")
    base, culprit = s.sha(), s.sha("HEAD~1")
    s.file("wiki/jobs.json", '[{"job": 501, "commit": "%s", "result": "ok"}, {"job": 502, "commit": "%s", "result": "failed"},\n {"job": 503, "commit": "%s", "result": "ok", "note": "rerun of 502"},'
           ' {"job": 504, "commit": "%s", "result": "failed"}, {"job": 505, "commit": "%s", "result": "ok", "note": "rerun of 504"}]\n' % (s.sha("HEAD~2"), culprit, culprit, base, base))
    s.serve("wiki", 18209)

    s.system("You look after the CI of a small project in /srv/metronome. A rerun is not a fix. Be brief.")
    s.user("Our CI job fails about every other time and a rerun makes it green. Issue #47. Find the real reason. Please don't add retries or skips to ci/run.sh, and keep that file as it is.")
    s.do("Job history and the script.", M("mcp_ci_list_jobs", {"project": "metronome", "last": 5}, "http://127.0.0.1:18209/jobs.json"), R("ci/run.sh"), T("git log --oneline"))
    s.do(f"Every failure is at {culprit} or later, the job before it was ok. Running the job 20 times here.",
         T("for i in $(seq 20); do ci/run.sh > /dev/null 2>&1 && printf 'ok ' || printf 'FAILED '; done; echo"))
    s.grab("(FAILED)")
    s.do("It does fail here too, now and then. A test that depends on the run, with no clock and no network in it: hash order is the first suspect. With fixed seeds it should be repeatable.",
         X('''
import os, subprocess
bad = []
for seed in range(20):
    env = dict(os.environ, PYTHONHASHSEED=str(seed))
    r = subprocess.run(["ci/run.sh"], env=env, capture_output=True, text=True)
    if r.returncode:
        bad.append(seed)
print("seeds that fail:", bad, "of 20")
again = [s for s in bad if subprocess.run(["ci/run.sh"], env=dict(os.environ, PYTHONHASHSEED=str(s)), capture_output=True).returncode]
print("fail again with the same seed:", again == bad)
'''))
    seed = s.grab(r"fail: \[(\d+)")
    count = len(s.grab(r"fail: \[([\d, ]+)\]").split(","))
    s.do(f"{count} of 20 seeds fail, always the same ones. So it is the hash order of strings. The failure with seed {seed}:",
         J(f"PYTHONHASHSEED={seed} ci/run.sh", err=True))
    s.do("Only `test_busiest_tie_goes_to_first`. The code:", R("metronome/beats.py", js=False), S(r"set\(", "metronome"))
    s.do(f"`set(beats)` in `busiest`: the order in which beats are first seen decides a tie, and a set has no fixed order for strings. Checking {culprit}.",
         T(f"git show --format='%h %s' {culprit}"), T(f"git stash list | wc -l; git show {culprit}~1:metronome/beats.py | grep -n 'fromkeys'"))
    s.say(f"The reason: {culprit} (#44) replaced `dict.fromkeys(beats)` by `set(beats)` in `metronome/beats.py`. A dict keeps the order, a set of strings does not: Python's hash seed differs in every "
          "run. For a tie in `busiest` the \"first beat in the list\" is then random. The test is right, the code is wrong, and not only in CI: users get changing answers too.\n\n"
          "In `leaders` the same change does no harm, since the outer order is that of the players.")
    s.user("Makes sense. Fix it on a branch fix-47, both functions the same way for consistency. I want a test that fails every time with the old code, not every other time.")
    s.do("A test that always fails with the old code has to run several seeds, in child processes. First the test, on the old code.",
         T("""git switch -q -c fix-47 && cat > tests/test_seeds.py <<'PY'
import os
import subprocess
import sys
import unittest

CODE = "from metronome.beats import busiest; print(busiest([('a', ['one', 'two']), ('b', ['two', 'one'])]))"


class Seeds(unittest.TestCase):
    def test_same_answer_with_every_hash_seed(self):
        answers = set()
        for seed in range(8):
            env = dict(os.environ, PYTHONHASHSEED=str(seed))
            run = subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True)
            answers.add(run.stdout.strip())
        self.assertEqual(answers, {"one"})
PY
for i in 1 2 3 4 5; do python3 -m unittest tests.test_seeds 2>&1 | tail -n 1; done"""),
         J("python3 -m unittest tests.test_seeds 2>&1 | grep -A3 AssertionError; exit ${PIPESTATUS[0]}", err=True))
    s.do("Fails five times of five. Now the fix.", T("sed -i 's/set(beats)/dict.fromkeys(beats)/' metronome/beats.py && git diff -U0 | grep '^[+-]'"),
         T("for i in 1 2 3 4 5; do python3 -m unittest tests.test_seeds 2>&1 | tail -n 1; done"))
    s.say("Green with the new code. Next I run the whole job with the 20 seeds and")
    s.harness(TRUNCATED)
    s.do("with a few more, then commit.", X('''
import os, subprocess
bad = [seed for seed in range(40) if subprocess.run(["ci/run.sh"], env=dict(os.environ, PYTHONHASHSEED=str(seed)), capture_output=True).returncode]
print("seeds that fail:", bad, "of 40")
'''), T("git diff --quiet main -- ci/run.sh && echo 'ci/run.sh unchanged'"))
    s.do("", T("git add -A metronome tests && git commit -q -m 'Keep the order of beats, a set loses it (#47)' && git log --oneline -2 && git diff --stat main"), J("git status --short"))
    fix = s.sha()
    s.say(f"Committed on fix-47 as {fix}: `metronome/beats.py` and the new `tests/test_seeds.py`. None of 40 seeds fails. ci/run.sh is as it was.")
    s.user("How much slower is the job with the child processes?")
    s.do("", X('''
import subprocess, time
def best(*cmd):
    out = []
    for _ in range(3):
        t = time.time(); subprocess.run(cmd, capture_output=True); out.append(time.time() - t)
    return min(out)
print("without %.2f s, with %.2f s" % (best("python3", "-m", "unittest", "tests.test_beats"), best("ci/run.sh")))
'''))
    a, b = s.grab(r"without ([\d.]+)"), s.grab(r"with ([\d.]+) s$")
    s.say(f"{a} s before, {b} s now (best of three, on this machine). Eight short Python starts.")
    s.user("Acceptable. Are there other places with the same pattern, for example in the tests or elsewhere in metronome/?")
    s.do("", S(r"set\(|\{[a-z]+ for ", ".", js=False), J("grep -rnE 'hash\\(|os.listdir|glob\\(|random' metronome tests ci || echo none"))
    s.say("No. The only sets left are in `tests/test_seeds.py` itself, compared as sets and never walked in order. No directory listings, no `hash()`, no random.")
    s.user(f"Good. Draft the closing comment for #47: what it was, since which commit, how {fix} keeps it from coming back. Three or four sentences.")
    s.save()
