"""Session: a failing unit test in a small export library (small file)."""
from common import J, R, S, Session, T, X, task_list

REGIONS = '''
"""Roll order lines up to regions."""
from decimal import Decimal, ROUND_HALF_UP

CENT = Decimal("0.01")


def to_money(value):
    return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)


def rollup(rows):
    """rows: (region, net, rate) -> {region: gross}."""
    totals = {}
    for region, net, rate in rows:
        gross = Decimal(net) * (1 + Decimal(rate))
        totals[region] = totals.get(region, Decimal(0)) + gross
    return {region: to_money(total) for region, total in totals.items()}


def ordered(totals):
    return sorted(totals.items())
'''
FORMATS = '''
"""Text forms of a roll-up."""
from export.regions import ordered


def as_csv(totals):
    lines = ["region,gross"]
    lines += ["%s,%s" % pair for pair in ordered(totals)]
    return "\\n".join(lines) + "\\n"


def as_table(totals):
    width = max(len(region) for region in totals)
    return "\\n".join("%-*s %12s" % (width, region, gross) for region, gross in ordered(totals))
'''
TESTS = '''
import unittest
from decimal import Decimal

from export.regions import rollup, ordered


class Rollup(unittest.TestCase):
    def test_single_line(self):
        self.assertEqual(rollup([("north", "10.00", "0.25")]), {"north": Decimal("12.50")})

    def test_many_small_lines(self):
        rows = [("west", "0.33", "0.075")] * 40
        self.assertEqual(rollup(rows), {"west": Decimal("14.19")})

    def test_regions_are_kept_apart(self):
        got = rollup([("east", "1.00", "0"), ("west", "2.00", "0"), ("east", "3.00", "0")])
        self.assertEqual(got, {"east": Decimal("4.00"), "west": Decimal("2.00")})

    def test_order_is_by_name(self):
        self.assertEqual([r for r, _ in ordered({"b": 1, "a": 2})], ["a", "b"])


if __name__ == "__main__":
    unittest.main()
'''
TESTS2 = '''
import unittest
from decimal import Decimal

from export.formats import as_csv, as_table


class Formats(unittest.TestCase):
    def test_csv(self):
        self.assertEqual(as_csv({"west": Decimal("2.00"), "east": Decimal("4.00")}),
                         "region,gross\\neast,4.00\\nwest,2.00\\n")

    def test_table_is_aligned(self):
        lines = as_table({"west": Decimal("2.00"), "northeast": Decimal("4.00")}).split("\\n")
        self.assertEqual(len(lines[0]), len(lines[1]))
'''


def build():
    s = Session("fix-region-rollup-test", "A rounding test fails after an invoice change",
                "harbor-export", "2026-03-04T09:02:11Z", stamps=False)
    s.file("src/export/__init__.py", "")
    s.file("src/export/regions.py", REGIONS)
    s.file("tests/test_regions.py", TESTS)
    s.file("Makefile", "test:\n\tPYTHONPATH=src python3 -m unittest discover -s tests\n")
    s.commit("Roll order lines up to regions (#371)")
    s.file("src/export/formats.py", FORMATS)
    s.file("tests/test_formats.py", TESTS2)
    s.commit("CSV and table output (#384)")
    s.file("src/export/regions.py", REGIONS.replace(
        "        gross = Decimal(net) * (1 + Decimal(rate))\n",
        "        gross = to_money(Decimal(net) * (1 + Decimal(rate)))\n"))
    s.commit("Round each line so that the roll-up matches the invoice lines (#398)")
    bad = s.sha()
    s.file("README.md", "# harbor-export\n\nRolls order lines up to regions. Run `make test`.\n")
    s.commit("Add a readme (#401)")

    s.system("You are a coding agent working in /srv/harbor-export. Keep changes small, run the tests after "
             "each change, and say plainly what you did and did not verify.")
    s.user("`make test` is red on main since some time in February. Issue is #412. Find out why and propose a fix, "
           "but don't commit to main: put it on a branch called fix-412.")
    s.do("I'll reproduce it first.", J("make test", err=True, ok=(0,)), T("git log --oneline"))
    s.do("One failure: `test_many_small_lines` gets 14.00 where 14.19 is expected. The other five pass. Looking at "
         "the code and at the test.", R("src/export/regions.py"), R("tests/test_regions.py", 1, 20, js=False))
    s.do(f"`rollup` rounds every line, and 0.33 × 1.075 = 0.35475 becomes 0.35 forty times. The log has a commit "
         f"about that, {bad} (#398).", T(f"git show --format='%h %ad %s' --date=short {bad}"))
    s.do("Confirming with a bisect that this commit is the first bad one, in a separate worktree so that the "
         "checkout stays as it is.",
         T("git worktree add -q ../harbor-export-bisect HEAD && cd ../harbor-export-bisect && git bisect start HEAD "
           "HEAD~3 > bisect.out && git bisect run make test 2>&1 | grep -E "
           "'is the first bad|^FAILED|^OK|Round each'"))
    s.do("The bisect agrees. Removing the worktree again.",
         T("git worktree remove ../harbor-export-bisect", err=True, ok=(0,)), T("git worktree list | wc -l"))
    s.do("It refuses because my `bisect.out` is in there. Nothing else is, so I'll force it.",
         T("ls ../harbor-export-bisect && git worktree remove --force ../harbor-export-bisect && git worktree list"))
    s.say(f"The cause is {bad}, \"Round each line so that the roll-up matches the invoice lines (#398)\". It moved the "
          "rounding from the sum to each line in `src/export/regions.py`. With many small lines the half-cents are "
          "lost: 40 × 0.35 = 14.00 instead of 14.19.\n\nThere are two ways to read this. Either #398 was wrong and the "
          "test in `tests/test_regions.py` is right, or #398 was intended and nobody updated the test. The code can't "
          "tell me which. Which rule do you want?")
    s.user("Invoices do round per line, so #398 had a reason. But the regional report has to match the ledger, and "
           "the ledger rounds once. So: keep both. Per-line rounding only when the caller asks for it. Default must be "
           "round once. And do not edit the existing tests in tests/test_regions.py, add new ones.")
    s.do("Checking who calls `rollup` before I change its signature.", S(r"\brollup\(|import.*rollup"),
         S("to_money", "src", js=False))
    s.do("Only the tests call it inside this repo. I'll add a keyword-only argument `per_line` which is false by default.",
         T("git switch -q -c fix-412 && git branch --show-current"),
         X('''
import re
path = "src/export/regions.py"
text = open(path).read()
text = text.replace("def rollup(rows):", "def rollup(rows, *, per_line=False):")
text = text.replace('"""rows: (region, net, rate) -> {region: gross}."""',
    '"""rows: (region, net, rate) -> {region: gross}.\\n\\n'
    '    The sum is rounded once, as the ledger does. With per_line each line is\\n'
    '    rounded first, as an invoice does.\\n    """')
text = text.replace(
    "        gross = to_money(Decimal(net) * (1 + Decimal(rate)))\\n",
    "        gross = Decimal(net) * (1 + Decimal(rate))\\n"
    "        if per_line:\\n            gross = to_money(gross)\\n")
open(path, "w").write(text)
print(text.count("per_line"), "mentions of per_line")
'''), T("git diff --stat"))
    s.do("", J("make test"))
    s.do("Green, six tests. Now the new tests, in their own file as you asked.",
         T("""cat > tests/test_per_line.py <<'PY'
import unittest
from decimal import Decimal

from export.regions import rollup

ROWS = [("west", "0.33", "0.075")] * 40


class PerLine(unittest.TestCase):
    def test_default_rounds_once(self):
        self.assertEqual(rollup(ROWS), rollup(ROWS, per_line=False))

    def test_per_line_matches_the_invoice(self):
        self.assertEqual(rollup(ROWS, per_line=True), {"west": Decimal("14.00")})

    def test_flag_must_be_named(self):
        with self.assertRaises(TypeError):
            rollup(ROWS, True)
PY
wc -l tests/test_per_line.py"""), J("make test"))
    s.harness(task_list((True, "find the commit that broke make test (#412)"),
                        (True, "per_line flag in src/export/regions.py"),
                        (True, "new tests in tests/test_per_line.py"), (False, "commit on branch fix-412"),
                        (False, "report back")))
    s.do("Committing on the branch. I'll check first that `tests/test_regions.py` is unchanged.",
         T("git diff --quiet main -- tests/test_regions.py && echo unchanged"),
         T("git add src tests && git commit -q -m 'Round the roll-up once unless per_line is asked for (#412)' && "
           "git log --oneline -2 && git status --short | wc -l"))
    fix = s.sha()
    s.say(f"Done on branch fix-412, commit {fix}:\n\n- `rollup(rows, *, per_line=False)` rounds once by default; "
          "`per_line=True` gives the invoice rule from #398.\n- `tests/test_regions.py` is untouched; the new cases are "
          "in `tests/test_per_line.py`.\n- `make test`: 9 tests, all pass.\n\nmain is where it was. Not verified: callers "
          "outside this repository, which would now need `per_line=True` if they depended on #398.")
    s.user("Good. Can you check what the CSV looks like with the fixed numbers? Just print it, I want to paste it in #412.")
    s.do("", X('''
import sys
sys.path.insert(0, "src")
from export.regions import rollup
from export.formats import as_csv
rows = [("west", "0.33", "0.075")] * 40 + [("east", "19.99", "0.25"), ("north", "104.10", "0.075"), ("north", "3.05", "0.25")]
print("rounded once");  print(as_csv(rollup(rows)))
print("per line");  print(as_csv(rollup(rows, per_line=True)))
'''))
    s.do("Also checking the table form, since it goes through the same code.", X('''
import sys
sys.path.insert(0, "src")
from export.formats import as_table
print(as_table({}))
''', err=True))
    s.say("CSV for #412 (rounded once):\n\n```\nregion,gross\neast,24.99\nnorth,115.72\nwest,14.19\n```\n\nPer line the "
          "only region that differs is west (14.00).\n\nA side finding: `as_table({})` in `src/export/formats.py` raises "
          "`ValueError` because `max()` gets an empty sequence. That is old (#384), not caused by this change. I have left "
          "it alone.")
    s.user("Leave as_table for now, I'll file it. One last thing: is the branch one commit ahead of main and nothing else?")
    s.do("", T("git rev-list --left-right --count main...fix-412"), T("git diff --name-status main fix-412"))
    s.say(f"Yes: 0 behind, 1 ahead. The one commit is {fix}, which changes `src/export/regions.py` and adds "
          "`tests/test_per_line.py`.")
    s.user("Thanks. Now write the pull request text for fix-412: three sentences, mention #398 and #412, no bullet list.")
    s.save()
