"""Session: bump a vendored template library over a major version."""
from common import J, R, S, Session, T, W, X, TRUNCATED

LIB1 = '''
"""tinytmpl 1.4: {{ name }} and {{ name|filter }}."""
import html
import re

__version__ = "1.4.2"
FILTERS = {"upper": str.upper, "title": str.title}
AUTOESCAPE = False


def render(template, values, escape=None):
    escape = AUTOESCAPE if escape is None else escape

    def one(match):
        name, _, flt = match.group(1).partition("|")
        value = str(values.get(name.strip(), ""))
        if flt:
            value = FILTERS[flt.strip()](value)
        return html.escape(value) if escape else value
    return re.sub(r"\\{\\{(.*?)\\}\\}", one, template)


def add_filter(name, func):
    FILTERS[name] = func
'''
LIB2 = '''
"""tinytmpl 2.0: {{ name }}, {{ name|filter }}, {{ name|filter|filter }} and {{ name|raw }}."""
import html
import re

__version__ = "2.0.1"


class Missing(KeyError):
    """A name in the template has no value."""


class Engine:
    def __init__(self, filters=None, strict=True):
        self.filters = {"upper": str.upper, "title": str.title}
        self.filters.update(filters or {})
        self.strict = strict

    def render(self, template, values):
        def one(match):
            name, *chain = [part.strip() for part in match.group(1).split("|")]
            if name not in values:
                if self.strict:
                    raise Missing(name)
                return ""
            value, raw = str(values[name]), False
            for flt in chain:
                if flt == "raw":
                    raw = True
                else:
                    value = self.filters[flt](value)
            return value if raw else html.escape(value)
        return re.sub(r"\\{\\{(.*?)\\}\\}", one, template)


def render(template, values):
    return Engine().render(template, values)
'''
GUIDE = """
<html><head><title>Upgrade</title></head><body><h1>Upgrading tinytmpl from 1.4 to 2.0</h1>
<p>Version 2.0 is a clean-up release. Most projects need changes in three places.</p>
<h2>Escaping</h2><p>Values are HTML-escaped always. The module variable AUTOESCAPE and the parameter escape are gone. A value
that is already HTML needs the raw filter: <code>{{ body|raw }}</code>.</p>
<h2>Missing names</h2><p>A name without a value raises Missing. Use Engine(strict=False) for the old behaviour.</p>
<h2>Filters</h2><p>add_filter is gone, since it changed global state. Pass filters to Engine.</p>
<pre>
engine = Engine(filters={"shout": lambda s: s + "!"})
engine.render("{{ name|shout }}", {"name": "hello"})
</pre>
<h2>Changes</h2><table><tr><th>version</th><th>note</th></tr>
<tr><td>2.0.1</td><td>raw may stand anywhere in the chain (#61)</td></tr>
<tr><td>2.0.0</td><td>escaping always on (#52), strict names (#55), no global filters (#57)</td></tr>
<tr><td>1.4.2</td><td>last release of the 1.x line</td></tr></table></body></html>
"""
APP = '''
"""Weekly letter: one HTML file per reader group."""
import os

from vendor import tinytmpl

tinytmpl.add_filter("shout", lambda text: text + "!")


def load(name):
    with open(os.path.join(os.path.dirname(__file__), "templates", name)) as f:
        return f.read()


def letter(group, articles):
    items = "".join(tinytmpl.render(load("item.html"), a, escape=True) for a in articles)
    return tinytmpl.render(load("letter.html"), {"group": group, "items": items})
'''
TEST = '''
import unittest

from press.letter import letter


class Letter(unittest.TestCase):
    def setUp(self):
        self.text = letter("gardeners & growers", [
            {"title": "soil < stone", "author": "the editors"}, {"title": "a wet spring"}])

    def test_titles_are_escaped_once(self):
        self.assertIn("<li><b>Soil &lt; Stone</b>", self.text)

    def test_items_are_not_escaped_again(self):
        self.assertIn("<li>", self.text)
        self.assertNotIn("&lt;li&gt;", self.text)

    def test_missing_author_is_blank(self):
        self.assertIn("<b>A Wet Spring</b> <i></i>", self.text)

    def test_group_shouts(self):
        self.assertIn("Growers!", self.text)


if __name__ == "__main__":
    unittest.main()
'''


def build():
    s = Session("bump-pressroom-templates", "Bump a vendored template library from 1.4 to 2.0", "pressroom",
                "2026-03-11T15:30:00Z", stamps=False)
    s.file("vendor/__init__.py", "")
    s.file("vendor/tinytmpl.py", LIB1)
    s.file("press/__init__.py", "")
    s.file("press/letter.py", APP)
    s.file("press/templates/item.html", "<li><b>{{ title|title }}</b> <i>{{ author }}</i></li>\n")
    s.file("press/templates/letter.html", "<html><body><h1>{{ group|title|shout }}</h1>\n<ul>\n{{ items }}</ul></body></html>\n"
           .replace("|title|shout", "|shout"))
    s.file("tests/__init__.py", "")
    s.file("tests/test_letter.py", TEST.replace('"Growers!"', '"growers!"'))
    s.file("vendor/VERSIONS", "tinytmpl 1.4.2\n")
    s.commit("Weekly letter with tinytmpl 1.4.2 (#19)")
    base = s.sha()
    s.file("wiki/upgrade.html", GUIDE)
    s.file("wiki/tinytmpl-2.0.1.py", LIB2)
    s.sh("printf 'wiki/\\n' > .git/info/exclude; sha256sum wiki/tinytmpl-2.0.1.py | cut -c1-12 > wiki/SUMS")
    s.serve("wiki", 18204)

    s.user("Bump vendor/tinytmpl.py from 1.4.2 to 2.0.1 (#27). The new file is at http://127.0.0.1:18204/tinytmpl-2.0.1.py, the first 12 "
           "digits of its checksum are in SUMS next to it. Upgrade notes: http://127.0.0.1:18204/upgrade.html. Keep the letters byte for byte the "
           "same except where escaping was wrong before.")
    s.do("Notes first, and the state of the tests before the bump.", W("http://127.0.0.1:18204/upgrade.html"),
         J("python3 -m unittest discover -s tests -t ."), T("cat vendor/VERSIONS; git log --oneline; git status --short"))
    s.do("Four tests pass on 1.4.2. Where is the library used?", S(r"tinytmpl|\{\{"), R("press/letter.py", js=False))
    s.do("All three breaking changes of the notes apply: `add_filter`, the `escape` parameter, and an item without an author. "
         "I'll keep a letter made with 1.4.2 to compare with.",
         X('''
from press.letter import letter
from vendor import tinytmpl
arts = [{"title": "soil < stone", "author": "the editors"}, {"title": "a wet spring"}, {"title": "\\"dig\\" & delve", "author": "m & n"}]
import os
os.makedirs("out", exist_ok=True)
for g in ("gardeners & growers", "readers"):
    with open("out/%s-1.4.2.html" % g.split()[0], "w") as f:
        f.write(letter(g, arts))
print(tinytmpl.__version__, sorted(os.listdir("out")))
'''), T("cat out/gardeners-1.4.2.html"))
    s.do("Noted: the group name is not escaped in the old letter (`gardeners & growers`), that is a place where escaping was wrong. "
         "Fetching the new file and checking its sum before it goes anywhere.",
         T("mkdir -p out && curl -sf -o out/tinytmpl.new http://127.0.0.1:18204/tinytmpl-2.0.1.py && sha256sum out/tinytmpl.new | cut -c1-12; "
           "curl -s http://127.0.0.1:18204/SUMS"), T("diff <(grep -n '^def\\|^class\\|^__v\\|^[A-Z]' vendor/tinytmpl.py) <(grep -n "
                                                "'^def\\|^class\\|^__v\\|^[A-Z]' out/tinytmpl.new)", ok=(0, 1)))
    total = s.out[0].split("\n")[0]
    s.do(f"Both say {total}. On a branch, only the file, to see what breaks.",
         T("git switch -q -c bump-27 && cp out/tinytmpl.new vendor/tinytmpl.py && echo 'tinytmpl 2.0.1' > vendor/VERSIONS && git diff --stat"),
         J("python3 -m unittest discover -s tests -t .", err=True))
    s.say("As the notes say, it fails at import on `add_filter`. Changes I propose in `press/letter.py` and the templates:\n\n1. one "
          "`Engine(filters={\"shout\": ...})` in `press/letter.py` in place of the global filter;\n2. `{{ items|raw }}` in "
          "`press/templates/letter.html`, because items is HTML already;\n3. for the missing author either strict=False, or a default in the code.\n\n"
          "For 3 I'd rather keep strict on and give `author` a default of \"\", so that a typo in a template is found. Agreed?")
    s.user("Agreed on all three. strict stays on. Don't edit vendor/tinytmpl.py itself, not even formatting, it must stay equal to upstream.")
    s.do("", T("""python3 - <<'PY'
p = "press/letter.py"
t = open(p).read()
t = t.replace('tinytmpl.add_filter("shout", lambda text: text + "!")\\n',
              'ENGINE = tinytmpl.Engine(filters={"shout": lambda text: text + "!"})\\nDEFAULTS = {"author": ""}\\n')
t = t.replace('tinytmpl.render(load("item.html"), a, escape=True)', 'ENGINE.render(load("item.html"), {**DEFAULTS, **a})')
t = t.replace('return tinytmpl.render(load("letter.html"), {', 'return ENGINE.render(load("letter.html"), {')
open(p, "w").write(t)
PY
git diff -U1 press"""), J("python3 -m unittest discover -s tests -t .", err=True))
    s.do("The import works again. The three that fail are all about the list: the items are escaped twice since the template lacks raw. That was change 2.",
         T("sed -i 's/{{ items }}/{{ items|raw }}/' press/templates/letter.html && cat press/templates/letter.html"),
         J("python3 -m unittest discover -s tests -t ."))
    s.do("All four pass. Now the comparison with the old letters.", X('''
from press.letter import letter
import difflib
arts = [{"title": "soil < stone", "author": "the editors"}, {"title": "a wet spring"}, {"title": "\\"dig\\" & delve", "author": "m & n"}]
for g in ("gardeners & growers", "readers"):
    old = open("out/%s-1.4.2.html" % g.split()[0]).read()
    new = letter(g, arts)
    print(g, "same" if old == new else "DIFFERENT")
    print("\\n".join(difflib.unified_diff(old.split("\\n"), new.split("\\n"), "1.4.2", "2.0.1", "", "", 0, "")))
'''))
    s.say("The only difference is the heading of the first group: `gardeners & growers!` is now `gardeners &amp; growers!`. That is the old "
          "escaping fault. The other letter is byte for byte the same, and the vendored file")
    s.harness(TRUNCATED)
    s.do("still has to be compared with upstream, which I do now.", T("sha256sum vendor/tinytmpl.py | cut -c1-12"),
         T("curl -s http://127.0.0.1:18204/tinytmpl-2.0.1.py | cmp - vendor/tinytmpl.py && echo equal"))
    s.say(f"It is equal to the served file ({total}). What is left: commit on bump-27, and perhaps a test for the heading.")
    s.user("Add that test in tests/test_letter.py and one that a misspelt name raises Missing. Then commit, two commits: the bump, then the tests.")
    s.do("", T("git add vendor press && git commit -q -m 'Bump tinytmpl from 1.4.2 to 2.0.1 (#27)' && git show --stat --format='%h %s' HEAD"),
         T("""python3 - <<'PY'
p = "tests/test_letter.py"
t = open(p).read()
t = t.replace('from press.letter import letter\\n', 'from press.letter import ENGINE, letter\\nfrom vendor.tinytmpl import Missing\\n')
t = t.replace('\\n\\nif __name__', '''
    def test_group_is_escaped(self):
        self.assertIn("gardeners &amp; growers!", self.text)

    def test_misspelt_name(self):
        with self.assertRaises(Missing):
            ENGINE.render("{{ titel }}", {"title": "x"})


if __name__''', 1)
open(p, "w").write(t)
PY
python3 -m unittest discover -s tests -t . 2>&1 | tail -3"""))
    bump = s.sha()
    s.do("", J("git add tests && git commit -q -m 'Test escaping of the group and misspelt names (#27)' && git log --oneline"),
         T("git status --short"))
    tests = s.sha()
    s.do("`out/` is mine and shouldn't stay.", T("rm -r out && git status --short | wc -l"))
    s.say(f"Two commits on bump-27:\n\n- {bump}: `vendor/tinytmpl.py` 2.0.1, `vendor/VERSIONS`, `press/letter.py`, "
          f"`press/templates/letter.html`.\n- {tests}: two new tests, six in all, all pass.\n\nThe branch starts at {base} (#19).")
    s.user("If we have to go back, what is the shortest way, and does it lose the tests?")
    s.do("Trying it in a throw-away worktree.",
         T(f"git worktree add -q --detach ../pressroom-back bump-27 && cd ../pressroom-back && git revert --no-edit {tests} {bump} >/dev/null && "
           "git diff --stat main HEAD | wc -l && python3 -m unittest discover -s tests -t . 2>&1 | tail -1"),
         T("git worktree remove --force ../pressroom-back && git worktree list | wc -l"))
    s.say(f"`git revert {tests} {bump}` in that order. I tried it: the result has no difference to main and the four old tests pass. It does take "
          f"the two new tests away, and must, because both depend on 2.0. Reverting only {bump} would leave `tests/test_letter.py` with an "
          "import of `Missing` that 1.4.2 does not have.")
    s.save()
