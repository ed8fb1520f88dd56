"""Session: de-duplicating suppliers in a copy of an SQLite table."""
import random
import sqlite3
from common import J, R, S, Session, T, X, task_list

TOWNS = ["Aldby", "Brennick", "Corvale", "Dunmere", "Eastwick Quay", "Farrow", "Gill Cross", "Harrowgate End"]
STEMS = ["Amber", "Birch", "Cobalt", "Dune", "Ember", "Fennel", "Granite", "Heron", "Indigo", "Juniper", "Kelp", "Larch",
         "Meadow", "Nettle", "Osprey", "Pebble", "Quill", "Rowan", "Saffron", "Thistle", "Umber", "Vetch", "Willow"]
KINDS = ["Foods", "Dairy", "Mills", "Packaging", "Bakery Supplies", "Produce", "Oils", "Cold Store"]
FORMS = ["Ltd", "Limited", "Co.", ""]

NORM = '''
"""Normal form of a supplier name, shared by the import and the clean-up (#233)."""
import re

FORMS = {"ltd", "limited", "co"}


def normal(name):
    words = re.sub(r"[^a-z0-9 ]", "", name.lower()).split()
    while words and words[-1] in FORMS:
        words.pop()
    return " ".join(words)
'''
RULES = """
# Clean-up rules for suppliers (#233)

1. Two rows are the same supplier when the normal form of the name and the town agree.
2. The row with the lowest id stays; the others are folded into it.
3. Purchases of a folded row are re-pointed. No purchase is deleted.
4. A row with status 'hold' is never folded. It goes to the review list.
5. Work on supplier_clean and purchase_clean. The tables supplier and purchase are read by the shop.
"""


def make_db(s):
    rng = random.Random(233)
    db = sqlite3.connect(s.root + "/data/larder.db")
    db.executescript("""
create table supplier (id integer primary key, name text not null, town text, status text not null default 'open');
create table purchase (id integer primary key, supplier_id integer not null references supplier(id), day text, pence integer);
create table import_log (line integer, note text);
""")
    sid = 0
    for stem in STEMS:
        for kind in KINDS:
            if rng.random() < 0.25:
                continue
            town = rng.choice(TOWNS)
            for copy in range(1 if rng.random() < 0.62 else rng.randint(2, 4)):
                sid += rng.randint(1, 3)
                name = "%s %s %s" % (stem, kind, rng.choice(FORMS))
                name = rng.choice([name, name, name.upper(), name.replace(" ", "  ", 1), name + " "]).rstrip() \
                    if copy else name.strip()
                status = "hold" if rng.random() < 0.06 else "open"
                if rng.random() < 0.03:
                    town = None
                db.execute("insert into supplier values (?,?,?,?)", (sid, name, town, status))
                for _ in range(rng.randint(0, 9)):
                    db.execute("insert into purchase (supplier_id, day, pence) values (?,?,?)",
                               (sid, "2025-%02d-%02d" % (rng.randint(1, 12), rng.randint(1, 28)), rng.randint(250, 90000)))
    db.execute("insert into purchase (supplier_id, day, pence) values (9001, '2025-11-30', 1250)")
    db.execute("insert into purchase (supplier_id, day, pence) values (9002, '2025-12-02', 4400)")
    db.commit()
    db.close()


def build():
    s = Session("dedupe-larder-suppliers", "Fold duplicate suppliers in a copy of the table", "larder",
                "2026-01-21T08:15:40Z")
    s.file("docs/rules.md", RULES)
    s.file("larder/__init__.py", "")
    s.file("larder/normal.py", NORM)
    s.file(".gitignore", "data/*.db\n")
    s.file("data/.keep", "")
    s.commit("Normal form of supplier names (#233)")
    s.file("larder/report.py", 'import sqlite3\n\ndef totals(path):\n    db = sqlite3.connect(path)\n    return db.execute('
           '"select supplier_id, sum(pence) from purchase group by 1 order by 1").fetchall()\n')
    s.commit("Report reads purchase by supplier (#240)")
    make_db(s)

    s.system("Work in /srv/larder. The file data/larder.db is a snapshot that a small shop application also reads. "
             "Prefer SQL you can show to the user over long explanations.")
    s.user("The supplier list has lots of duplicates from the import in #233. Clean it up following docs/rules.md. "
           "Do not touch the production tables supplier and purchase: work in supplier_clean and purchase_clean in the same "
           "file. I want numbers at every step.")
    s.do("Reading the rules and the schema first.", R("docs/rules.md"), T("sqlite3 data/larder.db .schema"),
         R("larder/normal.py", js=False))
    s.do("", J("sqlite3 -header -column data/larder.db \"select (select count(*) from supplier) suppliers, (select count(*) "
               "from purchase) purchases, (select sum(pence) from purchase) pence, (select count(*) from supplier where "
               "status='hold') hold, (select count(*) from supplier where town is null) no_town\""),
         T("sqlite3 data/larder.db 'pragma integrity_check' 'pragma foreign_key_check'"))
    s.do("Two purchases point at suppliers that are not there; the check shows their rowids only. Listing the "
         "whole supplier table once, so that I know what the duplicates look like.",
         T("sqlite3 data/larder.db \"select p.id, supplier_id, day, pence from purchase p left join supplier s on "
           "s.id=supplier_id where s.id is null\""),
         T("sqlite3 -separator ' | ' data/larder.db \"select id, name, coalesce(town,'-'), status from supplier order by id\""))
    s.do("Upper case, double blanks and the legal forms are the variants. Grouping with the project's own `normal()` from "
         "`larder/normal.py`.", X('''
import sqlite3, collections
from larder.normal import normal
db = sqlite3.connect("file:data/larder.db?mode=ro", uri=True)
groups = collections.defaultdict(list)
for sid, name, town, status in db.execute("select id, name, town, status from supplier order by id"):
    groups[normal(name), town].append((sid, status))
dup = {k: v for k, v in groups.items() if len(v) > 1}
print("groups", len(groups), "with duplicates", len(dup), "rows to fold", sum(len(v) - 1 for v in dup.values()))
print("of these on hold", sum(st == "hold" for v in dup.values() for _, st in v[1:]))
print("groups without town", sum(k[1] is None for k in dup))
for k, v in list(dup.items())[:12]:
    print(k, v)
'''))
    dup = s.grab(r"with duplicates (\d+)")
    fold = s.grab(r"rows to fold (\d+)")
    hold = s.grab(r"on hold (\d+)")
    notown = s.grab(r"without town (\d+)")
    s.say(f"Before I write anything:\n\n- {dup} groups have duplicates, {fold} rows would be folded.\n- {hold} of those rows "
          f"are on hold; rule 4 sends them to the review list.\n- {notown} duplicate groups have no town. The rules don't say whether two rows "
          "without a town count as the same.\n- Two purchases refer to suppliers that don't exist (9001, 9002). Rule 3 "
          "says no purchase is deleted, so I'd copy them as they are.\n\nHow should I treat the rows without a town?")
    s.user("No town: leave them all unfolded and put them on the review list too. Orphan purchases: copy as is. Go ahead "
           "with the _clean tables.")
    s.do("Writing the clean-up as a script, so that it can be run again from the start.", T("""cat > larder/clean.py <<'PY'
import sqlite3
import sys

from larder.normal import normal


def clean(path):
    db = sqlite3.connect(path)
    db.executescript('''
        drop table if exists supplier_clean;
        drop table if exists purchase_clean;
        drop table if exists supplier_review;
        create table supplier_clean as select * from supplier;
        create table purchase_clean as select * from purchase;
        create table supplier_review (id integer, reason text);
    ''')
    first = {}
    for sid, name, town, status in db.execute("select * from supplier order by id").fetchall():
        group = (normal(name), town)
        if group not in first:
            first[group] = sid
        elif town is None:
            db.execute("insert into supplier_review values (?, 'no town')", (sid,))
        elif status == "hold":
            db.execute("insert into supplier_review values (?, 'hold')", (sid,))
        else:
            db.execute("update purchase_clean set supplier_id=? where supplier_id=?", (first[group], sid))
            db.execute("delete from supplier_clean where id=?", (sid,))
    return db


if __name__ == "__main__":
    clean(sys.argv[1])
PY
python3 -m larder.clean data/larder.db && echo finished"""))
    s.do("", T("sqlite3 data/larder.db \"select 'supplier', count(*) from supplier union all select 'supplier_clean', "
               "count(*) from supplier_clean union all select 'review', count(*) from supplier_review union all select "
               "'purchase', count(*) from purchase union all select 'purchase_clean', count(*) from purchase_clean\""))
    s.do("supplier_clean is as long as supplier: nothing was folded. `clean()` returns the connection without a commit, so "
         "everything after the `executescript` was rolled back. My mistake. Fixing `larder/clean.py`.",
         T("sed -i 's/^    return db$/    db.commit()\\n    return db/' larder/clean.py && grep -n -A1 commit larder/clean.py"),
         J("python3 -m larder.clean data/larder.db && sqlite3 data/larder.db \"select count(*) from supplier_clean; select "
           "reason, count(*) from supplier_review group by 1\""))
    left = s.grab(r"^(\d+)")
    s.do("Now the checks that matter: same purchases, same money, no purchase left on a folded row, and the production "
         "tables unchanged.", X('''
import sqlite3
db = sqlite3.connect("file:data/larder.db?mode=ro", uri=True)
one = lambda q: db.execute(q).fetchone()
print("money", one("select sum(pence) from purchase"), one("select sum(pence) from purchase_clean"))
print("purchases", one("select count(*) from purchase"), one("select count(*) from purchase_clean"))
print("on folded rows", one("select count(*) from purchase_clean where supplier_id not in (select id from supplier_clean) and supplier_id < 9000"))
print("moved", one("select count(*) from purchase p join purchase_clean c using (id) where p.supplier_id <> c.supplier_id"))
print("folded", one("select (select count(*) from supplier) - (select count(*) from supplier_clean)"))
'''), X('''
import sqlite3
db = sqlite3.connect("data/larder.db")
print(db.execute("select count(*) from supplier_clean s join supplier_review r on r.id = s.uid").fetchone())
''', err=True))
    moved, folded = s.grab(r"moved \((\d+),", 0), s.grab(r"folded \((\d+),", 0)
    s.do("The last query had a typo (uid for id); again.", J("sqlite3 data/larder.db 'select count(*) from supplier_clean s "
         "join supplier_review r on r.id = s.id'"), T("git status --short"))
    s.harness(task_list((True, "read docs/rules.md"), (True, "supplier_clean and purchase_clean built by larder/clean.py"),
                        (True, "money and counts compared"), (False, "list of folded pairs for review"),
                        (False, "summary with numbers")))
    s.do("Writing out every folded pair, so that a person can read them.",
         T("mkdir -p out && sqlite3 -separator ' | ' data/larder.db \"select p.supplier_id, s.name, c.supplier_id, t.name, "
           "count(*) from purchase p join purchase_clean c using (id) join supplier s on s.id=p.supplier_id join supplier t "
           "on t.id=c.supplier_id where p.supplier_id<>c.supplier_id group by 1 order by 3, 1\" > out/folded.txt; wc -l "
           "out/folded.txt; cat out/folded.txt"),
         T("sqlite3 -separator ' | ' data/larder.db \"select r.id, reason, name, coalesce(town,'-') from supplier_review r "
           "join supplier using (id) order by 1\""))
    s.say(f"Numbers after the clean-up:\n\n- {folded} rows folded, {left} suppliers left in supplier_clean.\n- {moved} purchases "
          "re-pointed; count and sum of purchase_clean equal those of purchase.\n- The review list is printed above, by "
          "reason.\n- `out/folded.txt` has one line per folded supplier that had purchases, so it is shorter than the number of "
          "folded rows.\n\nOne error of mine on the way: the first run forgot to commit, so it changed nothing.")
    s.user("Did anything change in supplier or purchase? Prove it please, I have no old checksum.")
    s.do("There is no earlier checksum to compare with, so I can only show it from the statements and from the data: the "
         "script has no write to those two tables, and the counts and the sum from the start of the session still hold.",
         S(r"insert|update|delete|drop|create", "larder/clean.py", js=False),
         J("sqlite3 data/larder.db \"select count(*), (select count(*) from purchase), (select sum(pence) from purchase) from "
           "supplier\""),
         T("sqlite3 data/larder.db '.dump supplier' | sha256sum | cut -c1-12; sqlite3 data/larder.db '.dump purchase' | "
           "sha256sum | cut -c1-12"))
    a, b = s.out[2].split("\n")
    s.say(f"What I can say: counts and sum are the same as in my very first query, and every write in `larder/clean.py` names "
          f"a _clean or _review table. For later comparisons the dumps now hash to {a} (supplier) and {b} (purchase). It is "
          "not a proof that nobody else wrote to the file in the meantime.")
    s.user("Fine. Commit the script and a test for it on a branch clean-233, without the database and without out/.")
    s.do("", T("""mkdir -p tests && cat > tests/test_clean.py <<'PY'
import sqlite3
import tempfile
import unittest

from larder.clean import clean


class Clean(unittest.TestCase):
    def setUp(self):
        self.file = tempfile.NamedTemporaryFile(suffix=".db")
        db = sqlite3.connect(self.file.name)
        db.executescript('''
            create table supplier (id integer primary key, name text, town text, status text);
            create table purchase (id integer primary key, supplier_id integer, day text, pence integer);
            insert into supplier values (1,'Kelp Oils Ltd','Farrow','open'), (4,'KELP  OILS','Farrow','open'),
              (5,'Kelp Oils','Farrow','hold'), (6,'Kelp Oils',null,'open'), (7,'Kelp Oils Co.',null,'open');
            insert into purchase values (1,4,'2025-01-02',100), (2,5,'2025-01-03',50), (3,9001,'2025-01-04',7);
        ''')
        db.commit()
        self.db = clean(self.file.name)

    def test_folds_into_lowest_id(self):
        self.assertEqual(self.db.execute("select supplier_id from purchase_clean where id=1").fetchone(), (1,))

    def test_hold_and_no_town_are_reviewed(self):
        self.assertEqual(self.db.execute("select id, reason from supplier_review order by 1").fetchall(),
                         [(5, "hold"), (7, "no town")])

    def test_sources_unchanged(self):
        self.assertEqual(self.db.execute("select count(*) from supplier").fetchone(), (5,))
        self.assertEqual(self.db.execute("select sum(pence) from purchase_clean").fetchone(), (157,))
PY
python3 -m unittest tests.test_clean"""))
    s.do("", T("git switch -q -c clean-233 && git add larder/clean.py tests/test_clean.py && git commit -q -m 'Clean-up of "
               "suppliers in copies of the tables (#233)' && git log --oneline -3 && git status --short"),
         J("git show --stat --format='%h %s' HEAD"))
    new = s.sha()
    s.say(f"Committed as {new} on clean-233: `larder/clean.py` and `tests/test_clean.py`, three tests pass. out/ stays "
          "untracked and data/larder.db is ignored.")
    s.user("There is one more thing in #240: the report should read the _clean tables when they exist. Look at "
           "larder/report.py and tell me what you would change, but don't change it yet.")
    s.do("", R("larder/report.py"), S(r"report|totals", "."))
    s.say("`larder/report.py` has one query with the table name `purchase` in it. I'd ask `sqlite_master` once whether "
          "`purchase_clean` exists and put that name into the query, with a parameter `prefer_clean=True` so that the shop can "
          "still ask for the raw table. Nothing else calls `totals` in this repo. For #240 that is a change of about five lines "
          "plus a test with and without the clean table. I haven't edited anything.")
    s.save()
