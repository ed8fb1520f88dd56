"""Session: a performance hunt in a small C program, with gprof."""
import re

from common import BG, J, R, S, Session, T, W, X

MAIN_C = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger.h"

/* granary: sums deliveries per silo and grain. Input lines: day;silo;grain;kilos */
int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: granary FILE\n");
        return 2;
    }
    FILE *in = fopen(argv[1], "r");
    if (!in) {
        perror(argv[1]);
        return 1;
    }
    struct ledger book = {0};
    char line[256];
    long lines = 0;
    while (fgets(line, sizeof line, in)) {
        lines++;
        if (!ledger_add_line(&book, line))
            fprintf(stderr, "line %ld: not understood\n", lines);
    }
    fclose(in);
    ledger_sort(&book);
    ledger_print(&book, stdout);
    ledger_free(&book);
    return 0;
}
'''
LEDGER_H = r'''
#ifndef LEDGER_H
#define LEDGER_H
#include <stdio.h>

struct entry {
    char name[64];
    long kilos;
    long count;
    struct entry *next;
};

struct ledger {
    struct entry *first;
    long entries;
};

int ledger_add_line(struct ledger *book, char *line);
void ledger_add(struct ledger *book, const char *name, long kilos);
void ledger_sort(struct ledger *book);
void ledger_print(const struct ledger *book, FILE *out);
void ledger_free(struct ledger *book);
#endif
'''
LEDGER_C = r'''
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ledger.h"

/* Lower case, blanks removed. */
static void tidy(char *to, const char *from)
{
    size_t used = 0;
    for (size_t i = 0; i < strlen(from); i++) {
        if (!isspace((unsigned char)from[i])) {
            to[used++] = (char)tolower((unsigned char)from[i]);
        }
    }
    to[used] = 0;
}

static struct entry *find(struct ledger *book, const char *name)
{
    for (struct entry *e = book->first; e; e = e->next)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

void ledger_add(struct ledger *book, const char *name, long kilos)
{
    struct entry *e = find(book, name);
    if (!e) {
        e = calloc(1, sizeof *e);
        if (!e)
            abort();
        strncpy(e->name, name, sizeof e->name - 1);
        /* keep the order of arrival: append at the end */
        struct entry **at = &book->first;
        while (*at)
            at = &(*at)->next;
        *at = e;
        book->entries++;
    }
    e->kilos += kilos;
    e->count++;
}

int ledger_add_line(struct ledger *book, char *line)
{
    char *field[4];
    int n = 0;
    for (char *part = strtok(line, ";"); part && n < 4; part = strtok(NULL, ";"))
        field[n++] = part;
    if (n != 4 || strlen(field[1]) + strlen(field[2]) > 60)
        return 0;
    char silo[64], grain[64], name[130];
    tidy(silo, field[1]);
    tidy(grain, field[2]);
    snprintf(name, sizeof name, "%s/%s", silo, grain);
    ledger_add(book, name, atol(field[3]));
    return 1;
}

/* By name. Swaps the contents of neighbours until nothing moves. */
void ledger_sort(struct ledger *book)
{
    int moved = 1;
    while (moved) {
        moved = 0;
        for (struct entry *e = book->first; e && e->next; e = e->next) {
            struct entry *f = e->next;
            if (strcmp(e->name, f->name) > 0) {
                struct entry keep = *e;
                struct entry *en = e->next, *fn = f->next;
                *e = *f;
                *f = keep;
                e->next = en;
                f->next = fn;
                moved = 1;
            }
        }
    }
}

void ledger_print(const struct ledger *book, FILE *out)
{
    for (const struct entry *e = book->first; e; e = e->next)
        fprintf(out, "%-32s %10ld %8ld\n", e->name, e->kilos, e->count);
}

void ledger_free(struct ledger *book)
{
    struct entry *e = book->first;
    while (e) {
        struct entry *next = e->next;
        free(e);
        e = next;
    }
    book->first = NULL;
}
'''
GEN = '''
"""Writes a ledger: python3 tools/gen.py LINES SILOS > file. The same arguments give the same file."""
import random
import sys

lines, silos = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(lines * 31 + silos)
grains = ["Wheat", "Spelt", " Rye", "Oats ", "Barley", "Emmer"]
for n in range(lines):
    if n % 9973 == 9972:
        print("broken line")
    else:
        print("2025-%02d-%02d;Silo %d;%s;%d" % (rng.randint(1, 12), rng.randint(1, 28), rng.randint(1, silos), rng.choice(grains), rng.randint(5, 900)))
'''
MAKE = '''
CFLAGS = -O1 -Wall -Wextra
SRC = src/main.c src/ledger.c

build/granary: $(SRC) src/ledger.h
	@mkdir -p build
	$(CC) $(CFLAGS) -o $@ $(SRC)

build/granary-prof: $(SRC) src/ledger.h
	@mkdir -p build
	$(CC) $(CFLAGS) -pg -fno-inline -no-pie -o $@ $(SRC)

check: build/granary
	sh tests/check.sh
'''
CHECK = '''
# Compares with the stored answer of a small ledger.
python3 tools/gen.py 3000 40 > build/small.txt
build/granary build/small.txt > build/small.out 2> build/small.err
cmp build/small.out tests/small.expected && echo "check: ok" || { echo "check: DIFFERENT"; exit 1; }
'''
NOTES = """
<html><body><h1>Profiling notes</h1><p>For the granary tools. Last checked with #31.</p>
<h2>gprof</h2><p>Build with -pg and without inlining, run once, then run gprof on the binary and gmon.out. The flat profile counts
self time only. Library functions such as strcmp do not appear unless the library has profile data, their time is not attributed.</p>
<h2>Reference machine</h2><p>The nightly job has a ledger of 60000 lines with 900 silos. It should take less than one second (#29).</p>
<h2>Rules</h2><ul><li>Output must not change by one byte; tests/check.sh and a large file both.</li><li>Measure before and after, three runs, report the best.</li>
<li>No new dependency.</li></ul></body></html>
"""


def build():
    s = Session("speed-up-granary-sums", "A performance hunt in a C program", "granary", "2026-01-29T07:55:00Z")
    for path, text in (("src/main.c", MAIN_C), ("src/ledger.h", LEDGER_H), ("src/ledger.c", LEDGER_C), ("tools/gen.py", GEN), ("Makefile", MAKE),
                       ("tests/check.sh", CHECK), (".gitignore", "build/\nwiki/\n")):
        s.file(path, text)
    s.sh("make -s build/granary && python3 tools/gen.py 3000 40 > build/small.txt && build/granary build/small.txt > tests/small.expected; rm -rf build")
    s.commit("Sums per silo and grain (#14)")
    s.file("README.md", "# granary\n\n`make build/granary`, then `build/granary FILE`.\n")
    s.commit("Readme (#22)")
    base = s.sha()
    s.file("wiki/profiling.html", NOTES)
    s.serve("wiki", 18208)

    s.user("The nightly sums take too long since we have 900 silos (#29). Find out why and make it faster, in src/ledger.c if possible. Notes on profiling: "
           "http://127.0.0.1:18208/profiling.html. The output must stay the same to the byte. Branch speed-29, one commit per change.")
    s.do("Notes, sources, and a build.", W("http://127.0.0.1:18208/profiling.html"), R("src/ledger.c"), R("src/ledger.h", js=False),
         J("make build/granary && make -s check"))
    s.do("Making the nightly file with the generator and measuring the start.", T("python3 tools/gen.py 60000 900 > build/night.txt && wc build/night.txt && head -n 3 build/night.txt"),
         T("""cat > build/bench.py <<'PY'
import subprocess, sys, time
best = 99
for _ in range(3):
    t = time.time()
    subprocess.run(["build/granary", "build/night.txt"], stdout=open("build/night.out", "w"), stderr=subprocess.DEVNULL, check=True)
    best = min(best, time.time() - t)
print("best of 3: %.3f s" % best)
PY
python3 build/bench.py && cp build/night.out build/night.ref && sha256sum build/night.ref | cut -c1-12"""))
    t0, ref = s.grab(r"3: ([\d.]+) s"), s.grab(r"^([0-9a-f]{12})$")
    s.do("A look at the output itself, so that I know what must not change: the order and the widths of the columns.", T("sed -n '1,150p' build/night.ref"),
         J("awk '{print NF}' build/night.ref | sort | uniq -c"))
    s.do(f"{t0} s at the start; reference output {ref}. Now the profile.",
         T("make -s build/granary-prof && (cd build && ./granary-prof night.txt > /dev/null 2>&1 && gprof -b -p ./granary-prof gmon.out)"),
         T("cd build && gprof -b -q ./granary-prof gmon.out"))
    s.do("By the notes, strcmp is not attributed in gprof. So I'd like a second view: counting the comparisons in `find` and in `ledger_sort`, with a "
         "counter in a copy of the source.", T("""mkdir -p build/count && cp src/* build/count/ && cd build/count && python3 - <<'PY'
t = open("ledger.c").read()
t = t.replace('#include "ledger.h"', '#include "ledger.h"\\nlong in_find, in_sort, passes, in_append;')
t = t.replace("if (strcmp(e->name, name) == 0)", "if (in_find++, strcmp(e->name, name) == 0)")
t = t.replace("if (strcmp(e->name, f->name) > 0)", "if (in_sort++, strcmp(e->name, f->name) > 0)")
t = t.replace("        moved = 0;", "        moved = 0; passes++;")
t = t.replace("            at = &(*at)->next;", "            at = &(*at)->next, in_append++;")
t = t.replace("    book->first = NULL;", '    fprintf(stderr, "find %ld sort %ld passes %ld append %ld entries %ld\\\\n", in_find, in_sort, passes, in_append, book->entries);\\n    book->first = NULL;')
open("ledger.c", "w").write(t)
PY
gcc -O1 -o counted main.c ledger.c && ./counted ../night.txt 2>&1 >/dev/null | tail -n 8"""))
    find, sort, ent = s.grab(r"find (\d+)"), s.grab(r"sort (\d+)"), s.grab(r"entries (\d+)")
    s.say(f"What takes the time, for {ent} entries and 60000 lines ({t0} s):\n\n- `find` walks a linked list: {find} comparisons.\n- `ledger_sort` is a bubble sort that copies whole "
          f"entries: {sort} comparisons.\n- Appending walks the list as well, and `tidy` calls `strlen` in each step of its loop. Both are small in comparison.\n\nPlan: (1) a hash table for `find` "
          "in `src/ledger.c`, (2) `qsort` on an array of pointers, (3) tail pointer and tidy. I'd measure after each.")
    s.user("Go. But no change to struct entry, someone else's tool includes src/ledger.h and depends on its layout. struct ledger may grow at the end.")
    s.do("Understood: no `hash_next` in the entry, so open addressing with an array of pointers, kept in struct ledger.",
         T("git switch -q -c speed-29 && git branch --show-current"), S("struct entry", "src", js=False))
    s.do("", T("""python3 - <<'PY'
p = "src/ledger.h"
t = open(p).read()
t = t.replace("    long entries;\\n};", "    long entries;\\n    struct entry **slots;   /* open addressing, a power of two */\\n    long room;\\n};")
open(p, "w").write(t)
p = "src/ledger.c"
t = open(p).read()
a = t.index("static struct entry *find")
b = t.index("void ledger_add(")
t = t[:a] + '''static unsigned long hash(const char *name)
{
    unsigned long h = 1469598103934665603UL;
    while (*name)
        h = (h ^ (unsigned char)*name++) * 1099511628211UL;
    return h;
}

/* The slot that holds the name, or the free slot where it belongs. */
static struct entry **find(struct ledger *book, const char *name)
{
    unsigned long at = hash(name) & (book->room - 1);
    while (book->slots[at] && strcmp(book->slots[at]->name, name) != 0)
        at = (at + 1) & (book->room - 1);
    return &book->slots[at];
}

static void grow(struct ledger *book)
{
    book->room = book->room ? book->room * 2 : 64;
    free(book->slots);
    book->slots = calloc(book->room, sizeof *book->slots);
    if (!book->slots)
        abort();
    for (struct entry *e = book->first; e; e = e->next)
        *find(book, e->name) = e;
}

''' + t[b:]
t = t.replace('''    struct entry *e = find(book, name);
    if (!e) {
        e = calloc''', '''    if (book->entries * 2 >= book->room)
        grow(book);
    struct entry **slot = find(book, name), *e = *slot;
    if (!e) {
        e = *slot = calloc''')
t = t.replace("    book->first = NULL;", "    free(book->slots);\\n    book->slots = NULL;\\n    book->room = 0;\\n    book->first = NULL;")
open(p, "w").write(t)
PY
git diff --stat"""), J("make -s build/granary && make -s check && python3 build/bench.py && cmp build/night.out build/night.ref && echo same"))
    t1 = s.grab(r"3: ([\d.]+) s")
    s.do(f"{t1} s after {t0} s, output the same. One thing to check with names of 64 or more characters: `strncpy` cuts the stored name, so a lookup by the full name would never match. "
         "The length test in `ledger_add_line` allows 60 characters plus the slash, so it can't happen through that path. Committing, then the sort.",
         T("git commit -qam 'Find entries by hash (#29)' && git log --oneline -1"),
         J("gcc -O1 -g -fsanitize=address,undefined -o build/san src/main.c src/ledger.c && build/san build/small.txt 2>&1 | tail -n 2"))
    c1 = s.sha()
    s.do("", T("""python3 - <<'PY'
p = "src/ledger.c"
t = open(p).read()
a = t.index("/* By name. Swaps")
b = t.index("void ledger_print")
t = t[:a] + '''static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct entry *const *)a)->name, (*(struct entry *const *)b)->name);
}

/* By name. The names are unique, so the order of equals does not matter. */
void ledger_sort(struct ledger *book)
{
    struct entry **all = malloc(book->entries * sizeof *all);
    long n = 0;
    for (struct entry *e = book->first; e; e = e->next)
        all[n++] = e;
    qsort(all, n, sizeof *all, by_name);
    for (long i = 0; i < n; i++)
        all[i]->next = i + 1 < n ? all[i + 1] : NULL;
    book->first = all[0];
    free(all);
}

''' + t[b:]
open(p, "w").write(t)
PY
make build/granary && make -s check && python3 build/bench.py && cmp build/night.out build/night.ref && echo same"""))
    t2 = s.grab(r"3: ([\d.]+) s")
    s.do(f"{t2} s. An empty ledger is an edge case now: `all[0]` with n = 0. Trying it with the sanitizers.",
         T(": > build/empty.txt && gcc -O1 -g -fsanitize=address,undefined -o build/san src/main.c src/ledger.c && build/san build/empty.txt 2>&1 | grep -v '^ *0x\\|^=>' | cut -c1-110 | head -n 24; exit ${PIPESTATUS[0]}", err=True),
         J("git stash -q && make -s build/granary && build/granary build/empty.txt; echo exit $?; git stash pop -q && git status --short"))
    s.do("As feared: it reads outside the array when the file is empty. Before my change an empty file gave an empty output and exit 0. Fixing that before the commit, with an out of memory check as in `ledger_add`.",
         T("""python3 - <<'PY'
p = "src/ledger.c"
t = open(p).read()
t = t.replace('''    struct entry **all = malloc(book->entries * sizeof *all);
''', '''    if (book->entries == 0)
        return;
    struct entry **all = malloc(book->entries * sizeof *all);
    if (!all)
        abort();
''')
open(p, "w").write(t)
PY
gcc -O1 -g -fsanitize=address,undefined -o build/san src/main.c src/ledger.c && for f in empty small night; do build/san build/$f.txt > build/san.out 2> build/san.err; echo $f $? $(wc -l < build/san.out) $(grep -c 'ERROR: ' build/san.err); done"""),
         J("make -s build/granary check && cmp build/night.out build/night.ref && git commit -qam 'Sort pointers with qsort (#29)' && git log --oneline -3"))
    c2 = s.sha()
    s.do("Profile again, to decide whether the third change is worth it.",
         T("make -s build/granary-prof && (cd build && for i in 1 2 3 4 5; do ./granary-prof night.txt > /dev/null 2>&1; done; gprof -b -p ./granary-prof gmon.out | head -n 16)"),
         T("valgrind --tool=callgrind --callgrind-out-file=build/cg.out build/granary build/night.txt > /dev/null 2>&1; callgrind_annotate build/cg.out 2>/dev/null | grep -v '^--\\|^$' | sed 's/\\[.*//' | head -n 34"))
    s.say(f"State: {t0} s → {t1} s ({c1}) → {t2} s ({c2}). The output is the same to the byte as the reference {ref}.\n\nIn callgrind `ledger_add` leads with about a quarter of all instructions: that is the "
          "append walk, more than I thought at first. The rest is reading and splitting lines. `tidy` with strlen in the loop is visible. Do you want the third change, or is this enough for #29?")
    s.user("Enough for the night job, but do the tail walk and tidy anyway, they are ugly. And test with a ten times larger file in the background so that we see if it scales.")
    s.do("Both are small. For the tail I'll keep a pointer at the end of struct ledger, and `ledger_sort` has to set it.",
         T("""python3 - <<'PY'
p = "src/ledger.h"
t = open(p).read()
t = t.replace("    long room;\\n", "    long room;\\n    struct entry *last;\\n")
open(p, "w").write(t)
p = "src/ledger.c"
t = open(p).read()
t = t.replace('''        struct entry **at = &book->first;
        while (*at)
            at = &(*at)->next;
        *at = e;
''', '''        if (book->last)
            book->last->next = e;
        else
            book->first = e;
        book->last = e;
''')
t = t.replace("    book->first = all[0];\\n", "    book->first = all[0];\\n    book->last = all[n - 1];\\n")
t = t.replace("    book->first = NULL;", "    book->first = book->last = NULL;")
t = t.replace("for (size_t i = 0; i < strlen(from); i++) {", "for (size_t i = 0; from[i]; i++) {")
open(p, "w").write(t)
PY
git diff -U0 | grep '^[+-]'"""), J("make -s build/granary check && python3 build/bench.py && cmp build/night.out build/night.ref && echo same"))
    t3 = s.grab(r"3: ([\d.]+) s")
    s.do("", BG("proc_big600", "python3 -c \"import subprocess,time; open('build/big.txt','w').write(subprocess.run(['python3','tools/gen.py','600000','9000'],capture_output=True,text=True).stdout); "
                "t=time.time(); r=subprocess.run(['build/granary','build/big.txt'],capture_output=True,text=True); print('BIG lines 600000 entries', r.stdout.count(chr(10)), 'rejected', r.stderr.count(chr(10)), 'seconds %.2f' % (time.time()-t), flush=True)\"", "BIG"),
         T("git commit -qam 'Keep the tail of the list, no strlen in the loop (#29)' && git log --oneline -1"))
    c3 = s.sha()
    s.bg_event("proc_big600", "^BIG", 60)
    rejected, big = re.search(r"rejected (\d+) seconds ([\d.]+)\]", s.msgs[-1]["content"]).groups()
    s.do(f"Ten times the lines and ten times the silos: {big} s. Would the old program have coped? Not worth an hour; a tenth of that file is the night file, and its cost grows with lines × entries. "
         f"The {rejected} rejected lines are the generator's \"broken line\" rows; checking that.", T("grep -c '^broken' build/big.txt"), J("build/granary build/nothing.txt", err=True))
    s.say(f"It scales: 600000 lines with 54000 entries in {big} s. The number of rejected lines agrees with the file, and a missing file still gives an error and exit 1.\n\nCommits on speed-29 from {base}:\n\n- {c1} hash lookup: {t0} → {t1} s\n"
          f"- {c2} qsort: {t1} → {t2} s\n- {c3} tail pointer, tidy: {t2} → {t3} s\n\nAll with `tests/check.sh` ok and the night output equal to {ref}. struct entry in `src/ledger.h` is unchanged; struct ledger grew at the end.")
    s.user("Is there anything in src/main.c that would be slow next? Just look, don't touch.")
    s.do("", R("src/main.c", js=False), J("git diff --stat main speed-29 -- src/main.c src/ledger.h src/ledger.c"))
    s.say("`src/main.c` reads with `fgets` into 256 bytes and handles one line at a time, which is fine. Lines longer than 255 bytes would be split in two and then be reported as not understood, twice, with a wrong "
          "line number. That is a correctness point, not speed. Nothing there would show in a profile before `strtok` and `snprintf` in `src/ledger.c` do.")
    s.save()
