"""Session: links and options of a command-line handbook are checked (large file)."""
import random

from common import B, J, R, S, Session, T, W, X, TRUNCATED

TERN = '''
"""tern: keeps small collections of field notes. The commands are data, see COMMANDS."""
import argparse
import sys

from commands import COMMANDS


def parser():
    top = argparse.ArgumentParser(prog="tern", formatter_class=lambda prog: argparse.HelpFormatter(prog, width=96))
    sub = top.add_subparsers(dest="command")
    for name, (about, args, options) in COMMANDS.items():
        p = sub.add_parser(name, help=about, description=about, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=96))
        for arg in args:
            p.add_argument(arg)
        for opt, (kind, default, text) in options.items():
            if kind == "flag":
                p.add_argument("--" + opt, action="store_true", help=text)
            else:
                p.add_argument("--" + opt, metavar=kind.upper(), default=default, help=text + " (default: %(default)s)")
    return top


if __name__ == "__main__":
    args = parser().parse_args()
    if not args.command:
        parser().print_help()
        sys.exit(2)
    print("tern", args.command, "is not part of this checkout")
'''
CHECK = '''
"""linkcheck.py BASE: walk all pages from BASE/index.html and report every link that does not work."""
import collections
import re
import sys
import urllib.error
import urllib.request

base = sys.argv[1].rstrip("/")
verbose = "-v" in sys.argv
pages, todo, refs = {}, ["/index.html"], collections.defaultdict(list)
while todo:
    path = todo.pop(0)
    if path in pages:
        continue
    try:
        with urllib.request.urlopen(base + path) as reply:
            pages[path] = (reply.status, reply.read().decode())
    except urllib.error.HTTPError as why:
        pages[path] = (why.code, "")
    for no, line in enumerate(pages[path][1].split("\\n"), 1):
        for href in re.findall(r'href="([^"]+)"', line):
            if href.startswith(("http:", "https:")):
                continue
            target, _, anchor = href.partition("#")
            folder = path.rsplit("/", 1)[0]
            full = path if not target else target if target.startswith("/") else folder + "/" + target
            while "/../" in full:
                full = re.sub(r"/[^/]+/\\.\\./", "/", full, count=1)
            refs[full, anchor].append((path, no, href))
            if full not in pages:
                todo.append(full)
bad = 0
for (full, anchor), places in sorted(refs.items()):
    status, body = pages[full]
    problem = "" if status == 200 else "page: %d" % status
    if not problem and anchor and 'id="%s"' % anchor not in body:
        problem = "anchor"
    if verbose:
        print("%-7s %-44s used %d times" % (problem or "ok", full + ("#" + anchor if anchor else ""), len(places)))
    if problem:
        bad += 1
        for path, no, href in places:
            print("BAD %s line %d: %s -> %s" % (path, no, href, problem))
print("%d pages, %d links, %d bad targets" % (len([p for p in pages.values() if p[0] == 200]), sum(map(len, refs.values())), bad))
sys.exit(1 if bad else 0)
'''
VERBS = {
    "add": "Add a note from a file or from standard input", "list": "List notes, newest first", "show": "Print one note", "edit": "Change the text of a note",
    "tag": "Put tags on notes", "untag": "Take tags off notes", "find": "Search the text of notes", "place": "Set the place of a note", "near": "List notes near a place",
    "link": "Connect two notes", "unlink": "Remove a connection", "export": "Write notes to a folder", "import": "Read notes from a folder", "archive": "Move old notes to the archive",
    "restore": "Bring notes back from the archive", "stats": "Count notes by tag, place or month", "check": "Look for damaged notes", "repair": "Mend what check has found", "copy": "Copy notes to another collection",
    "merge": "Merge two collections", "rename": "Rename a collection", "photo": "Attach a picture to a note", "print": "Lay out notes for paper", "sync": "Exchange notes with a second machine"}
OPTIONS = {
    "since": ("date", "none", "only notes taken on this day or later"), "until": ("date", "none", "only notes taken on this day or earlier"), "tag": ("name", "none", "only notes with this tag"),
    "limit": ("number", "50", "stop after this many notes"), "format": ("name", "text", "one of text, json or csv"), "dry-run": ("flag", None, "say what would be done and do nothing"),
    "quiet": ("flag", None, "print nothing but errors"), "radius": ("km", "5", "how far from the place"), "sort": ("field", "taken", "the field to sort by"), "reverse": ("flag", None, "turn the order round"),
    "collection": ("name", "default", "the collection to use"), "encoding": ("name", "utf-8", "the encoding of the files"), "force": ("flag", None, "overwrite what is there"),
    "width": ("columns", "72", "the width of the output"), "context": ("lines", "2", "lines shown around a match"), "keep": ("days", "365", "notes younger than this stay")}


def material(s):
    rng = random.Random(305)
    commands = {}
    for name, about in VERBS.items():
        must = {"list": "limit", "find": "limit", "export": "limit", "near": "radius", "archive": "keep"}.get(name)
        picks = sorted(set(rng.sample(sorted(OPTIONS), rng.randint(6, 9))) | ({must} if must else set()))
        args = {"link": ["first", "second"], "unlink": ["first", "second"], "merge": ["source", "target"], "list": [], "stats": [], "check": [], "sync": ["machine"]}.get(name, ["note"])
        commands[name] = (about, args, {o: OPTIONS[o] for o in picks})
    body = ",\n".join("    %r: (%r, %r, {\n%s\n    })" % (n, a, g, ",\n".join("        %r: %r" % kv for kv in o.items())) for n, (a, g, o) in commands.items())
    s.file("tool/commands.py", '"""The commands of tern: name -> (about, arguments, options)."""\n\nCOMMANDS = {\n%s,\n}\n' % body.replace("'", '"'))
    s.file("tool/tern.py", TERN)
    names = list(commands)
    for name, (about, args, options) in commands.items():
        rows = "".join('<tr id="%s"><td>--%s%s</td><td>%s</td><td>%s</td></tr>\n' % (o, o, "" if k == "flag" else " " + k.upper(), t, d or "off") for o, (k, d, t) in options.items())
        others = rng.sample([n for n in names if n != name], 4)
        also = ", ".join('<a href="%s.html%s">%s</a>' % (n, "#" + rng.choice(sorted(commands[n][2])) if rng.random() < 0.4 else "", n) for n in others)
        s.file("site/commands/%s.html" % name,
               '<html><body><h1>tern %s</h1>\n<p>%s. Applies to the collection in use; see <a href="../guide/collections.html">collections</a>.</p>\n<h2 id="synopsis">Synopsis</h2>\n<pre>tern %s %s [options]</pre>\n'
               '<h2 id="options">Options</h2>\n<table><tr><th>option</th><th>meaning</th><th>default</th></tr>\n%s</table>\n<h2 id="see">See also</h2>\n<p>%s. Back to the <a href="../index.html">index</a>.</p></body></html>\n'
               % (name, about, name, " ".join(a.upper() for a in args), rows, also))
    guides = {"start": ["add", "list", "show"], "collections": ["copy", "merge", "rename"], "places": ["place", "near", "stats"], "safety": ["check", "repair", "archive", "restore"], "paper": ["print", "photo", "export"], "second-machine": ["sync", "import", "export"]}
    for g, cmds in guides.items():
        paras = "".join('<h2 id="%s">%s</h2>\n<p>%s with <a href="../commands/%s.html">tern %s</a>. The options <a href="../commands/%s.html#%s">--%s</a> and <a href="../commands/%s.html#options">others</a> are described there. '
                        'Try the command on a copy of a collection first, and read what it prints before you go on.</p>\n' % (c, c, VERBS[c], c, c, c, o, o, c) for c in cmds for o in [{"list": "limit", "near": "radius", "export": "limit"}.get(c, sorted(commands[c][2])[0])])
        s.file("site/guide/%s.html" % g, '<html><body><h1>Guide: %s</h1>\n<p>This guide belongs to the handbook of tern. It takes ten minutes.</p>\n%s<p><a href="../index.html">index</a></p></body></html>\n' % (g, paras))
    s.file("site/index.html", "<html><body><h1>Handbook of tern</h1>\n<h2 id=\"guides\">Guides</h2>\n<ul>\n%s</ul>\n<h2 id=\"commands\">Commands</h2>\n<ul>\n%s</ul>\n</body></html>\n" % (
        "".join('<li><a href="guide/%s.html">%s</a></li>\n' % (g, g) for g in guides), "".join('<li><a href="commands/%s.html">%s</a> %s</li>\n' % (n, n, a[0]) for n, a in commands.items())))


def build():
    s = Session("check-tern-handbook", "Dead links and stale options in a handbook", "handbook", "2026-03-24T11:00:00Z")
    material(s)
    s.file("tools/linkcheck.py", CHECK)
    s.commit("Handbook and link checker (#280)")
    s.sh("git mv site/guide/second-machine.html site/guide/two-machines.html && sed -i 's/>second-machine</>two machines</' site/index.html && git mv site/commands/untag.html site/commands/tag-remove.html")
    s.commit("Rename two pages (#297)")
    s.sh(r"sed -i 's/id=\"see\"/id=\"see-also\"/' site/commands/*.html; sed -i 's/<tr id=\"limit\"><td>--limit NUMBER/<tr id=\"max\"><td>--max NUMBER/' site/commands/list.html site/commands/find.html site/commands/export.html; "
         r"sed -i '/<tr id=\"radius\">/d' site/commands/near.html; sed -i 's|<td>365</td>|<td>180</td>|' site/commands/archive.html; sed -i 's|commands/check.html\"|commands/Check.html\"|' site/guide/safety.html; "
         r"sed -i 's|\.html#options\">others|.html#opts\">others|' site/guide/paper.html")
    s.commit("Wording and new anchors (#301)")
    head = s.sha()
    s.serve("site", 18211)

    s.user("The handbook under site/ (served at http://127.0.0.1:18211/) has dead links since a rename, issue #305. Check all links and all options against the tool in tool/. Fix the pages, not the tool: tool/ is released and must "
           "not change. One commit per kind of fix, on a branch docs-305.")
    s.do("Front page, checker, history.", W("http://127.0.0.1:18211/index.html"), R("tools/linkcheck.py"), T("git log --oneline --stat | grep -v '^$' | cut -c1-90 | head -n 30; find site -name '*.html' | wc -l"))
    s.do("Running the checker with every link listed, to have a full record before the first fix.", T("python3 tools/linkcheck.py http://127.0.0.1:18211 -v", err=True))
    pages, bad = s.grab(r"(\d+) pages"), s.grab(r"(\d+) bad targets")
    s.do(f"{pages} pages reachable, {bad} bad targets. In groups:", T("python3 tools/linkcheck.py http://127.0.0.1:18211 | grep '^BAD' | sed 's/.*: //' | sort | uniq -c | sort -rn"),
         J("comm -13 <(cd site && grep -rhoE 'commands/[A-Za-z-]+[.]html' . | sort -u) <(cd site && ls commands/*.html | sort -u)"), J("ls site/guide"))
    s.do("The page tag-remove.html is reached by no link: it is the renamed untag.html. The same with second-machine and two-machines. Two pages in full, one of which has other problems as well.",
         W("http://127.0.0.1:18211/guide/safety.html"), B("http://127.0.0.1:18211/guide/paper.html"), J("curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:18211/commands/untag.html"))
    s.say(f"Kinds of dead links so far (#305):\n\n1. `untag.html` and `second-machine.html`, renamed in #297, old names still linked.\n2. `Check.html` in `site/guide/safety.html`: wrong case.\n3. `#opts` in `site/guide/paper.html`: the anchor is `options`.\n"
          "4. Single options whose anchor is gone, such as `#limit`. Those may be right and the page wrong, so I'll compare with the tool first.\n\nFor 1 there are two ways: change the links, or undo the rename. The command is called untag in `tool/commands.py`.")
    s.user("untag: undo the rename, the page must carry the name of the command. second-machine: keep the new name two-machines and change the links. Next compare the options.")
    s.do("The tool first: the list of commands, its help for one, and the table of options.", T("python3 tool/tern.py --help"), T("python3 tool/tern.py near --help"), R("tool/commands.py", 1, 400, js=False))
    s.do("Comparing each page with the tool: names, defaults, texts.", T("""mkdir -p ../handbook-scratch && cat > ../handbook-scratch/options.py <<'PY'
import re, sys
sys.path.insert(0, "tool")
from commands import COMMANDS
bad = 0
for name, (about, args, options) in COMMANDS.items():
    page = {"untag": "tag-remove"}.get(name, name) if "--renamed" in sys.argv else name
    try:
        text = open("site/commands/%s.html" % page).read()
    except FileNotFoundError:
        print(name, "NO PAGE"); bad += 1
        continue
    rows = {r[1]: r for r in re.findall(r'<tr id="([^"]+)"><td>--(\\S+?)(?: \\S+)?</td><td>([^<]*)</td><td>([^<]*)</td>', text)}
    for opt in sorted(options.keys() | rows.keys()):
        if opt not in rows:
            print(name, "--" + opt, "missing on the page"); bad += 1
        elif opt not in options:
            print(name, "--" + opt, "not in the tool"); bad += 1
        elif (options[opt][1] or "off") != rows[opt][3]:
            print(name, "--" + opt, "default", options[opt][1], "on the page", rows[opt][3]); bad += 1
        elif options[opt][2] != rows[opt][2]:
            print(name, "--" + opt, "text differs"); bad += 1
print("%d commands, %d differences" % (len(COMMANDS), bad))
sys.exit(1 if bad else 0)
PY
python3 ../handbook-scratch/options.py --renamed""", err=True))
    diffs = s.grab(r"(\d+) differences")
    s.do(f"{diffs} differences. Who is right is clear from the tool, which is released. When did the pages change?", T("git show --stat --format='%h %s' HEAD | cut -c1-80"),
         T("git show --format='%h %s' HEAD -- site/commands"), S("--max", "."))
    s.say(f"All come from {head} (#301), which renamed `--limit` to `--max` on some pages, dropped `--radius` from `site/commands/near.html` and changed the default of `--keep` on the archive page. The tool has none of that. So the pages go back to what the tool does.\n\n"
          "I'll make these commits: (a) renames, (b) wrong case and anchors, (c) options.")
    s.user("Yes. About the anchor see-also: #301 changed it on purpose, leave it. Go.")
    s.do("(a)", T("git switch -q -c docs-305 && git mv site/commands/tag-remove.html site/commands/untag.html && grep -rl 'second-machine[.]html' site | xargs sed -i 's/second-machine[.]html/two-machines.html/' && git add -A site && "
                  "git commit -q -m 'Page names: untag is back, links to two-machines (#305)' && git show --stat --format='%h %s' HEAD"))
    a = s.sha()
    s.do("(b)", T("sed -i 's|commands/Check.html|commands/check.html|' site/guide/safety.html && sed -i 's|#opts\"|#options\"|' site/guide/paper.html && git commit -qam 'Wrong case and anchors in two guides (#305)' && git show -U0 --format='%h %s' HEAD | grep -v '^index\\|^diff' | cut -c1-200"),
         J("python3 tools/linkcheck.py http://127.0.0.1:18211", err=True))
    b = s.sha()
    s.do("What is left are the option anchors. (c), driven by the tool's table so that I don't type texts twice. The row of `--radius` goes back in its place in the alphabet.", X('''
import re, sys
sys.path.insert(0, "tool")
from commands import COMMANDS
changed = []
for name, (about, args, options) in COMMANDS.items():
    path = "site/commands/%s.html" % name
    text = open(path).read()
    rows = "".join('<tr id="%s"><td>--%s%s</td><td>%s</td><td>%s</td></tr>\\n' % (o, o, "" if k == "flag" else " " + k.upper(), t, d or "off") for o, (k, d, t) in options.items())
    new = re.sub(r"(<th>default</th></tr>\\n).*?(</table>)", lambda m: m.group(1) + rows + m.group(2), text, flags=re.S)
    if new != text:
        open(path, "w").write(new)
        changed.append(name)
print("changed", changed)
'''), T("git diff -U0 | grep '^[+-]'"), T("python3 ../handbook-scratch/options.py"))
    changed = s.grab(r"changed \[(.*)\]", 0).replace("'", "")
    s.say("No difference between pages and tool any more. Running the link checker for")
    s.harness(TRUNCATED)
    s.do("the last time, and committing (c).", J("python3 tools/linkcheck.py http://127.0.0.1:18211"), T("git commit -qam 'Option tables as in the tool (#305)' && git log --oneline -4 && git diff --stat main -- tool | wc -l"))
    c = s.sha()
    s.do("Two of the repaired pages, as a reader gets them. And is there anything the checker can't see, such as a page that nobody links to?", W("http://127.0.0.1:18211/commands/near.html"), B("http://127.0.0.1:18211/commands/list.html"),
         J("for f in $(cd site && find . -name '*.html' | sed 's|^./||'); do n=$(basename $f); [ $n = index.html ] || grep -rqs \"$n\" site --include=*.html || echo orphan $f; done"))
    s.say(f"The checker finds no bad target now and no page is an orphan.\n\n- {a}: page names, the links to two-machines\n- {b}: `site/guide/safety.html`, `site/guide/paper.html`\n- {c}: option tables of {changed}\n\ntool/ has no change against main.")
    s.user("Before I merge: please give me the complete list of links of the fixed site as a record, and the help texts of the commands you touched in (c), so that I can compare by eye.")
    s.do("", T("python3 tools/linkcheck.py http://127.0.0.1:18211 -v"), T("for c in archive export find list near; do python3 tool/tern.py $c --help; echo; done"), T("for c in archive export find list near; do sed 's/<[^>]*>/ /g' site/commands/$c.html | grep -e '--' ; echo; done"))
    s.do("I compared them with the script as well, by option name, default and text. Cleaning up my scratch folder.", J("rm -r ../handbook-scratch && git status --short | wc -l"), T("git diff --stat main"))
    s.say("The record is above: every target ok, each with the number of places that use it. The help texts and the tables agree line by line in name, meaning and default. The scratch script is deleted; if you want it to run in CI, it would go to tools/ next to `tools/linkcheck.py`, in a commit of its own.")
    s.user("Yes please, add it as tools/optioncheck.py in a fourth commit, and make it exit 1 on a difference as it did. No other change.")
    s.save()
