"""Session: a staging deploy with a release symlink, a failed health check and a second try."""
from common import B, BG, J, R, RE, S, Session, T, W, X, TRUNCATED

BUILD = '''
"""Build the site: pages/*.md -> out/*.html."""
import html, json, os, sys

SRC, OUT = "pages", sys.argv[1]
os.makedirs(OUT, exist_ok=True)
config = json.load(open("site.json"))
for name in sorted(os.listdir(SRC)):
    title, _, body = open(os.path.join(SRC, name)).read().partition("\\n")
    stem = name[:-3]
    paras = "".join("<p>%s</p>\\n" % html.escape(p) for p in body.split("\\n\\n") if p.strip())
    page = "<html><body><h1>%s</h1>\\n%s<p>build %s</p></body></html>\\n" % (title.strip("# "), paras, config["build"])
    with open(os.path.join(OUT, stem + ".html"), "w") as f:
        f.write(page)
    print("built %-18s %6d bytes" % (stem + ".html", len(page)))
json.dump({"build": config["build"], "pages": len(os.listdir(SRC))}, open(os.path.join(OUT, "health.json"), "w"))
'''
DEPLOY = '''
#!/bin/bash
# usage: bin/deploy.sh staging|production
set -euo pipefail
target=$1
rev=$(git rev-parse --short HEAD)
release=$target/releases/$rev
[ -d "$release" ] && { echo "release $rev is already there"; exit 3; }
python3 bin/build.py "$release"
ln -sfn "releases/$rev" "$target/current"
echo "$target/current -> releases/$rev"
'''
HEALTH = '''
#!/bin/bash
# usage: bin/health.sh PORT PAGES
got=$(curl -sf "http://127.0.0.1:$1/health.json") || { echo "health: no answer"; exit 1; }
echo "$got"
pages=$(echo "$got" | python3 -c 'import json,sys; print(json.load(sys.stdin)["pages"])')
[ "$pages" = "$2" ] || { echo "health: expected $2 pages, got $pages"; exit 1; }
for p in index tides rockpools visiting; do
  code=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/$p.html")
  echo "$p $code"
  [ "$code" = 200 ] || exit 1
done
echo "health: ok"
'''
SERVE = '''
"""Serve staging/current, looked up on every request."""
import functools, http.server, os, sys

class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, fmt, *args):
        print("access", self.command, self.path, args[1], flush=True)
    def log_error(self, fmt, *args):
        print("error", fmt % args, flush=True)

port, folder = int(sys.argv[1]), sys.argv[2]
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=folder))
print("listening on 127.0.0.1:%d, folder %s -> %s" % (port, folder, os.readlink(folder)), flush=True)
server.serve_forever()
'''
RUNBOOK = """
<html><head><title>Release runbook</title></head><body><h1>Release runbook</h1>
<p>Applies to the tidepool site. A release is a folder named after the commit; <i>current</i> is a link to it.</p>
<h2>Staging</h2>
<ul><li>Deploy with <a href="/bin/deploy.sh">bin/deploy.sh</a> staging from the release branch.</li>
<li>Check with bin/health.sh and the number of pages that the release note states.</li>
<li>A wrong page count means that a page was not committed. Fix it in git. Do not copy files into a release folder.</li></ul>
<h2>Production</h2>
<ul><li>Production is deployed by the on-call person, not from a development machine.</li>
<li>Roll back by pointing <i>current</i> at the previous release folder. Old releases are kept: three of them.</li></ul>
<h2>Release note</h2>
<table><tr><th>release</th><th>pages</th><th>change</th></tr>
<tr><td>38</td><td>5</td><td>first tide tables (#77)</td></tr>
<tr><td>39</td><td>6</td><td>rock pool guide (#81)</td></tr>
<tr><td>40</td><td>7</td><td>visiting page and winter hours (#86, #88)</td></tr></table></body></html>
"""


def build():
    s = Session("deploy-tidepool-staging", "Deploy release 40 of a static site to staging", "tidepool",
                "2026-02-17T13:40:02Z")
    s.file("bin/build.py", BUILD)
    s.file("bin/deploy.sh", DEPLOY, 0o755)
    s.file("bin/health.sh", HEALTH, 0o755)
    s.file("bin/serve.py", SERVE)
    s.file("site.json", '{"build": "38"}\n')
    s.file(".gitignore", "staging/\nproduction/\nwiki/\npages/winter-hours.md\n")
    para = "The tide turns twice a day and the pools fill and drain with it.\n\n"
    for name in ("index", "tides", "about", "access", "contact"):
        s.file("pages/%s.md" % name, "# %s\n%s" % (name.capitalize(), para * (len(name) % 4 + 2)))
    s.commit("Site with tide tables (#77)")
    s.sh("mkdir -p production staging && bin/deploy.sh production && bin/deploy.sh staging")
    s.file("pages/rockpools.md", "# Rock pools\n" + para * 9)
    s.file("site.json", '{"build": "39"}\n')
    s.commit("Rock pool guide (#81)")
    s.sh("bin/deploy.sh staging && bin/deploy.sh production")
    old = s.sha()
    s.file("pages/visiting.md", "# Visiting\n" + para * 4)
    s.file("site.json", '{"build": "40"}\n')
    s.commit("Visiting page (#86)")
    s.file("pages/winter-hours.md", "# Winter hours\nOpen from ten to three, November to February.\n")
    s.file("pages/visiting.md", "# Visiting\n" + para * 4 + "See the winter hours for November to February.\n")
    s.commit("Mention winter hours on the visiting page (#88)")
    new = s.sha()
    s.sh("mv pages/winter-hours.md .git/info/winter-hours.keep; find . -path ./.git -prune -o -type f -print | xargs touch -d 2026-02-17T09:00:00Z")
    s.file("wiki/runbook.html", RUNBOOK)
    s.serve("wiki", 18202)

    s.user("Please deploy release 40 of the tidepool site to staging, from main. The runbook is at "
           "http://127.0.0.1:18202/runbook.html. Do not touch production in any way: no deploy, no link change, not even "
           "with a dry run. Tell me when staging is healthy.")
    s.do("I'll read the runbook and see what is checked out and what runs where.",
         W("http://127.0.0.1:18202/runbook.html"),
         J("git status --short --branch; git log --oneline -4"),
         T("readlink staging/current production/current; ls staging/releases production/releases"))
    s.do(f"main is at {new}, staging and production both run {old} (release 39). Before I run the deploy script I want "
         "to know what it does with the word production.",
         R("bin/deploy.sh"), R("bin/health.sh", js=False), S("production", "bin"))
    s.do("The script only writes below the folder it is given, and keeps the old releases. The release note says 7 "
         "pages for release 40. How many are in git?", T("git ls-files pages | wc -l; git ls-files pages"), J("cat site.json"))
    s.do("Seven pages in git, and build 40: that agrees with the note. Deploying to staging.", T("bin/deploy.sh staging"))
    s.do("Now starting the staging server.",
         BG("proc_t40a", "python3 bin/serve.py 18212 staging/current", "listening|error| 404"))
    s.bg_event("proc_t40a", "listening")
    s.do("", J("bin/health.sh 18212 7"))
    s.do("Healthy by the script. #88 mentions winter hours on the visiting page, so I'll see whether that page exists.",
         B("http://127.0.0.1:18212/visiting.html"),
         J("curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:18212/winter-hours.html"))
    s.bg_event("proc_t40a", " 404")
    s.say(f"Staging runs release 40 ({new}); `bin/health.sh` says ok with 7 pages.\n\nOne thing I'd like to look at before "
          "calling it done: #88 makes the visiting page point at the winter hours, and I saw no such page among the seven.")
    s.user("Good catch, winter hours should be its own page. The note in the runbook may have the wrong count then. "
           "Can you find out where that page went?")
    s.do("", T("git log --oneline --all -- pages/winter-hours.md pages/visiting.md"), S("winter", "pages"),
         J("git check-ignore -v pages/winter-hours.md", ok=(0, 1)), RE("pages/winter-hours.md"))
    s.do("It is ignored: `.gitignore` lists `pages/winter-hours.md`, so the author's copy could never be committed. Who "
         "put the line there, and is a copy still around?",
         T("git log --format='%h %ad %s' --date=short -S'winter-hours' -- .gitignore"),
         T("git show --stat --format='%h %s' HEAD"),
         T("find . -name '*winter*' -not -path './staging/*' -not -path './production/*'"))
    first = s.grab(r"^([0-9a-f]{7})", 0)
    s.say(f"`pages/winter-hours.md` was never in git. `.gitignore` has had an entry for it since {first} (#77), so "
          f"`git add` skipped it and #88 ({new}) only carries the change to `pages/visiting.md`. A file called "
          "`winter-hours.keep` lies in `.git/info/`, which looks like a saved copy. I have not opened or moved it. Is that "
          "the text you want, and shall I take the line out of `.gitignore` on a branch?")
    s.user("Yes that is it, someone moved it aside. Make a branch winter-hours: remove the ignore line, add the page from "
           "that copy, commit, and deploy that to staging. Do not merge it and do not push to main, I'll review it.")
    s.do("", T("git switch -q -c winter-hours && sed -i '/winter-hours/d' .gitignore && cp .git/info/winter-hours.keep "
               "pages/winter-hours.md && cat .gitignore && cat pages/winter-hours.md"))
    s.do("The text is a single short paragraph. Committing and deploying.",
         T("git add .gitignore pages/winter-hours.md && git commit -q -m 'Add the winter hours page, no longer ignored (#88)' "
           "&& git log --oneline -2"),
         J("bin/deploy.sh staging"))
    fix = s.sha()
    s.do("The runbook's count for release 40 is still 7, so the script should refuse with that number and accept 8.",
         J("bin/health.sh 18212 7", err=True), J("bin/health.sh 18212 8"),
         T("readlink staging/current production/current"))
    s.do("As expected. `bin/health.sh` doesn't ask for the new page itself, so one more request, and a look at the file.",
         T("curl -s -w '\\n%{http_code}\\n' http://127.0.0.1:18212/winter-hours.html"), B("http://127.0.0.1:18212/visiting.html"))
    s.say(f"Staging now runs {fix} from the branch winter-hours:\n\n- `.gitignore` no longer lists the page and "
          "`pages/winter-hours.md` is")
    s.harness(TRUNCATED)
    s.say(f"committed.\n- `bin/health.sh 18212 8` is ok; with the 7 of the runbook it fails, as it "
          f"must.\n- /winter-hours.html answers 200.\n- production/current still points at releases/{old}; I only read "
          "that link.\n\nThe runbook's release note should say 8 pages for release 40 once #88 is complete. I can't edit "
          "that page from here.")
    s.user("I'll fix the runbook. What happens if I run the deploy script again for the same commit by mistake? And how "
           "would I get staging back to the state of main?")
    s.do("Trying the first for real, as it is only staging.", T("bin/deploy.sh staging", err=True),
         T("readlink staging/current"), T("ls -1 staging/releases"))
    s.say(f"It refuses: \"release {fix} is already there\", exit code 3, and `staging/current` does not change. The check "
          "comes before the build, so a folder is never half overwritten.\n\nTo go back to main there is nothing to "
          f"rebuild, since `staging/releases/{new}` is still there: `ln -sfn releases/{new} staging/current`. The server "
          "follows the link at each request. I haven't run that.")
    s.user("Go ahead and point staging back at main for now, I want to demo without the new page. Then run the health check "
           "with 7 and stop the server.")
    s.do("", T(f"ln -sfn releases/{new} staging/current && readlink staging/current"), J("bin/health.sh 18212 7"))
    s.do("Stopping the server by its own pid, found through its command line.",
         X("""
import os, signal
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        line = open("/proc/%s/cmdline" % pid).read().split("\\0")
    except OSError:
        continue
    if line[1:4] == ["bin/serve.py", "18212", "staging/current"]:
        os.kill(int(pid), signal.SIGTERM)
        print("stopped the server for", line[3])
"""), J("sleep 0.5; bin/health.sh 18212 7", err=True))
    s.say(f"Staging points at {new} again, the health check was ok with 7 pages, and the server is stopped (the second check "
          f"gets no answer, as it should). The branch winter-hours with {fix} waits for your review; nothing was merged or "
          "pushed, and production was not touched.")
    s.save()
