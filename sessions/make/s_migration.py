"""Session: a schema migration with a backfill, tried on a copy first."""
import random
import sqlite3
from common import J, M, R, S, Session, T, W, X, task_list

MIGRATE = '''
"""Apply migrations/*.sql in order: python3 migrate.py DB [--to N] [--dry-run]."""
import glob
import os
import sqlite3
import sys


def main(argv):
    path, dry = argv[0], "--dry-run" in argv
    to = int(argv[argv.index("--to") + 1]) if "--to" in argv else 9999
    db = sqlite3.connect(path, isolation_level=None)
    at = db.execute("pragma user_version").fetchone()[0]
    print("at version", at)
    for name in sorted(glob.glob("migrations/*.sql")):
        number = int(os.path.basename(name)[:3])
        if number <= at or number > to:
            continue
        sql = open(name).read()
        if dry:
            print("would apply", name, "statements:", sql.count(";"))
            continue
        db.execute("begin immediate")
        try:
            for statement in filter(str.strip, sql.split(";")):
                db.execute(statement)
            db.execute("pragma user_version = %d" % number)
            db.execute("commit")
        except sqlite3.Error as why:
            db.execute("rollback")
            print("FAILED", name, "-", why)
            return 1
        print("applied", name)
    print("now at", db.execute("pragma user_version").fetchone()[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''
M1 = '''
create table station (code text primary key, name text not null);
create table reading (id integer primary key, station text not null, taken text not null, kind text not null, value text not null);
create index reading_station on reading (station, taken);
'''
M2 = '''
alter table station add column height real;
'''
M3 = '''
-- 003: value as a number, unit in its own column (#64)
create table reading_new (
  id integer primary key,
  station text not null references station(code),
  taken text not null,
  kind text not null,
  value real not null,
  unit text not null check (unit in ('mm', 'C', 'hPa'))
);
insert into reading_new
  select id, station, taken, kind,
    cast(substr(value, 1, instr(value, ' ') - 1) as real),
    substr(value, instr(value, ' ') + 1)
  from reading;
drop table reading;
alter table reading_new rename to reading;
'''
PLAN = """
<html><body><h1>Plan for schema version 3</h1><p>Owner: data group. Ticket #64. Reviewed in #70.</p>
<h2>What</h2><p>The text column reading.value becomes a number and a unit. Units are mm, C and hPa.</p>
<h2>Rules</h2><ul><li>No reading is lost. A value that can't be read goes to a table reading_reject with its old text.</li>
<li>inches become mm (25.4), F becomes C, mbar is hPa.</li><li>The index reading_station must exist afterwards.</li>
<li>Try on a copy. Time it. The live file is migrated in the night of the 24th by the data group.</li></ul></body></html>
"""


def make_db(s):
    rng = random.Random(64)
    db = sqlite3.connect(s.root + "/data/almanac.db")
    codes = ["MOR", "TAN", "KEL", "ABR", "WIN", "SOL", "PIK", "ORR"]
    db.executemany("insert into station values (?,?,?)",
                   [(c, c.title() + " station", rng.choice([12.0, 88.5, 240.0, None])) for c in codes])
    rows = []
    for day in range(1, 366):
        for code in codes:
            taken = "2025-%03d" % day
            rain, temp, press = rng.expovariate(0.4), rng.gauss(9, 6), rng.gauss(1011, 9)
            rows.append((code, taken, "rain", "%.2f in" % (rain / 25.4) if code == "KEL" and day < 60 else "%.1f mm" % rain))
            rows.append((code, taken, "temp", "%.1f F" % (temp * 1.8 + 32) if code == "SOL" and day < 31 else "%.1f C" % temp))
            rows.append((code, taken, "pressure", "%.0f %s" % (press, "mbar" if rng.random() < 0.03 else "hPa")))
    bad = ["trace", "n/a", "-- mm", "", "12,4 mm", "9.5mm", "missing"]
    for n in sorted(rng.sample(range(len(rows)), 148)):
        c, t, k, _ = rows[n]
        rows[n] = (c, t, k, rng.choice(bad))
    rows.append(("XXX", "2025-200", "rain", "3.0 mm"))
    db.executemany("insert into reading (station, taken, kind, value) values (?,?,?,?)", rows)
    db.commit()
    db.close()


def build():
    s = Session("migrate-almanac-units", "A schema migration with a backfill, on a copy", "almanac", "2026-03-19T12:20:00Z")
    s.file("migrate.py", MIGRATE)
    s.file("migrations/001_start.sql", M1)
    s.file("migrations/002_height.sql", M2)
    s.file(".gitignore", "data/\nwiki/\n")
    s.file("data/.keep", "")
    s.commit("Migration runner and the first two versions (#12)")
    s.sh("python3 migrate.py data/almanac.db")
    make_db(s)
    s.file("migrations/003_units.sql", M3)
    s.commit("Draft of version 3: value as a number (#64)")
    draft = s.sha()
    s.file("wiki/plan.html", PLAN)
    s.file("wiki/70.json", '{"number": 70, "title": "Review of schema version 3", "state": "open",\n "comments": ['
           '"migrations/003_units.sql has no handling of inches yet", "please keep 001 and 002 as they are, they are applied in the field", '
           '"report the number of rejects per kind"]}\n')
    s.serve("wiki", 18206)

    s.user("migrations/003_units.sql is a draft for #64. Plan: http://127.0.0.1:18206/plan.html. Make it work on a copy of data/almanac.db. "
           "Never run it against data/almanac.db itself, the data group does that. Report what gets rejected.")
    s.do("Plan, review notes, draft and runner first.", W("http://127.0.0.1:18206/plan.html"),
         M("mcp_tracker_get_issue", {"number": 70}, "http://127.0.0.1:18206/70.json"), R("migrations/003_units.sql", js=False), R("migrate.py"))
    s.do("The runner applies a whole file in one transaction and splits at semicolons, so a semicolon inside a string or a comment would "
         "break it. Worth remembering. Copying the file, and a look at the copy.",
         T("mkdir -p data/try && cp data/almanac.db data/try/a.db && sqlite3 data/try/a.db 'pragma user_version' 'select count(*) from reading' .schema"),
         J("sqlite3 -header -column data/try/a.db \"select kind, count(*) n, min(taken) first, max(taken) last from reading group by 1\""))
    s.do("Running the draft on the copy, to see it fail or not.", J("python3 migrate.py data/try/a.db --to 3 --dry-run"),
         T("python3 migrate.py data/try/a.db --to 3", err=True))
    s.do("It fails on the unit check, as expected, and rolls back. What forms does the text take?",
         T("sqlite3 data/try/a.db \"select case when instr(value,' ')>0 then substr(value, instr(value,' ')+1) else '(no unit)' end u, kind, count(*) "
           "from reading group by 1,2 order by 3 desc\"; sqlite3 data/try/a.db 'pragma user_version'"),
         X('''
import re, sqlite3
db = sqlite3.connect("data/try/a.db")
good = re.compile(r"^-?\\d+(\\.\\d+)? (mm|in|C|F|hPa|mbar)$")
odd = [r for r in db.execute("select id, station, taken, kind, value from reading order by id") if not good.match(r[4])]
print(len(odd), "odd values")
for r in odd:
    print(r)
'''))
    odd = s.grab(r"(\d+) odd values")
    s.say(f"{odd} values don't have the form \"number unit\". Most are words (trace, n/a, missing) or empty. Two forms might be saved: `12,4 mm` has "
          "a decimal comma and `9.5mm` lacks the blank. The plan says that a value that can't be read is rejected, so the question is whether "
          "those two can be \"read\". Also one row has a station XXX, which is not in the station table; the draft has a reference on it.\n\nWhat do you want for these?")
    s.user("9.5mm: read it, it is unambiguous. But only where the kind is rain. 12,4: reject, we don't guess. Station XXX: reject too. Empty etc: reject. "
           "And add a reason column to reading_reject.")
    s.do("SQLite has no regular expressions built in, so I'll split number and unit in SQL with `rtrim`/`glob`. Writing the new version, "
         "with no semicolon inside a statement.", T("""cat > migrations/003_units.sql <<'SQL'
-- 003: value as a number, unit in its own column (#64)
create table reading_new (
  id integer primary key,
  station text not null references station(code),
  taken text not null,
  kind text not null,
  value real not null,
  unit text not null check (unit in ('mm', 'C', 'hPa'))
);
create table reading_reject (id integer primary key, station text, taken text, kind text, old text, reason text not null);
create temp table part as
  select id, station, taken, kind, value as old,
    case when instr(value, ' ') > 0 then substr(value, 1, instr(value, ' ') - 1)
         when kind = 'rain' and value glob '[0-9]*mm' then rtrim(value, 'm') else '' end as num,
    case when instr(value, ' ') > 0 then substr(value, instr(value, ' ') + 1)
         when kind = 'rain' and value glob '[0-9]*mm' then 'mm' else '' end as unit
  from reading;
insert into reading_reject
  select id, station, taken, kind, old,
    case when station not in (select code from station) then 'unknown station'
         when num = '' or num glob '*[^0-9.-]*' or num not glob '*[0-9]*' then 'not a number'
         else 'unknown unit' end
  from part
  where station not in (select code from station)
     or num = '' or num glob '*[^0-9.-]*' or num not glob '*[0-9]*'
     or unit not in ('mm', 'in', 'C', 'F', 'hPa', 'mbar');
insert into reading_new
  select id, station, taken, kind,
    case unit when 'in' then round(num * 25.4, 2) when 'F' then round((num - 32) / 1.8, 2) else cast(num as real) end,
    case unit when 'in' then 'mm' when 'F' then 'C' when 'mbar' then 'hPa' else unit end
  from part where id not in (select id from reading_reject);
drop table part;
drop table reading;
alter table reading_new rename to reading;
SQL
wc -l migrations/003_units.sql"""))
    s.do("", J("cp data/almanac.db data/try/b.db && time -p python3 migrate.py data/try/b.db --to 3".replace("time -p ", "")),
         T("sqlite3 -header -column data/try/b.db \"select kind, reason, count(*) n from reading_reject group by 1,2\"; sqlite3 data/try/b.db "
           "'select count(*) from reading' 'select count(*) from reading_reject' 'pragma foreign_key_check' 'pragma integrity_check'"))
    s.do("Applied. Now: is every row in exactly one of the two tables, do the numbers agree with an independent conversion in Python, and is the "
         "index there?", X('''
import re, sqlite3
old, new = sqlite3.connect("data/try/a.db"), sqlite3.connect("data/try/b.db")
src = dict((r[0], r[1:]) for r in old.execute("select id, station, kind, value from reading"))
got = dict((r[0], r[1:]) for r in new.execute("select id, value, unit from reading"))
rej = dict(new.execute("select id, reason from reading_reject"))
print("source", len(src), "new", len(got), "reject", len(rej), "overlap", len(got.keys() & rej.keys()), "lost", len(src.keys() - got.keys() - rej.keys()))
wrong = 0
conv = {"in": lambda v: round(v * 25.4, 2), "F": lambda v: round((v - 32) / 1.8, 2)}
name = {"in": "mm", "F": "C", "mbar": "hPa"}
for i, (station, kind, text) in src.items():
    m = re.match(r"^(-?\\d+(?:\\.\\d+)?) (mm|in|C|F|hPa|mbar)$", text) or (kind == "rain" and re.match(r"^(\\d+(?:\\.\\d+)?)(mm)$", text))
    want = None
    if m and station != "XXX":
        want = (conv.get(m.group(2), float)(float(m.group(1))), name.get(m.group(2), m.group(2)))
    have = got.get(i)
    if (want is None) != (have is None) or want and (abs(want[0] - have[0]) > 0.011 or want[1] != have[1]):
        wrong += 1
        print("differs", i, text, want, have)
print("wrong", wrong)
'''), J("sqlite3 data/try/b.db \"select name from sqlite_master where type='index' and name not like 'sqlite%'\""))
    rej = s.grab(r"reject (\d+)", 0)
    s.do("All rows are accounted for and no value differs. But the index query is empty: `drop table reading` took reading_station with it, and the "
         "plan wants it. Adding it as the last statement.",
         T("echo 'create index reading_station on reading (station, taken);' >> migrations/003_units.sql && tail -n 3 migrations/003_units.sql"),
         J("cp data/almanac.db data/try/c.db && python3 migrate.py data/try/c.db && sqlite3 data/try/c.db \"select name from sqlite_master where "
           "type='index' and name not like 'sqlite%'\""),
         T("sqlite3 data/try/c.db \"explain query plan select * from reading where station='MOR' and taken > '2025-100'\""))
    s.harness(task_list((True, "003 on a copy"), (True, "inches and F converted"), (True, "index reading_station kept"),
                        (False, "full list of rejects"), (False, "unit check on other kinds: is a temp in mm possible?"), (False, "commit on a branch")))
    s.do("The full list of rejects, and the check that no kind has a foreign unit.",
         T("sqlite3 -separator ' | ' data/try/c.db \"select id, station, taken, kind, '\"\"' || old || '\"\"', reason from reading_reject order by id\"".replace(
             "'\"\"'", "'<'", 1).replace("'\"\"'", "'>'", 1)),
         T("sqlite3 data/try/c.db 'select kind, unit, count(*), round(min(value),1), round(avg(value),1), round(max(value),1) from reading group by 1,2'"))
    s.say(f"Result on the copy data/try/c.db:\n\n- {rej} rows rejected, listed above with the old text and the reason. All others are in reading, each kind "
          "has one unit only.\n- The ranges look plausible after the conversion.\n- reading_station exists and is used.\n\n"
          "The live file was only read, for `cp`.")
    s.user("Show me SOL and KEL around the change of units, to see that there is no jump. And how long does the migration take on ten times the data?")
    s.do("", T("sqlite3 -header -column data/try/c.db \"select n.taken, n.station, o.value old, n.value, n.unit from reading n join (select 1) left join "
               "(select null value, null id) o on 0 where n.station='SOL' and n.kind='temp' and n.taken between '2025-015' and '2025-045'\"".replace(
                   "join (select 1) left join (select null value, null id) o on 0 ", "join old.reading o using (id) ").replace(
                   "data/try/c.db \"", "data/try/c.db \"attach 'data/try/a.db' as old; ")),
         T("sqlite3 data/try/c.db \"attach 'data/try/a.db' as old; select n.taken, o.value, n.value, n.unit from reading n join old.reading o using (id) "
           "where n.station='KEL' and n.kind='rain' and n.taken between '2025-030' and '2025-090'\""),
         X('''
import sqlite3, subprocess, shutil, time
shutil.copy("data/almanac.db", "data/try/big.db")
db = sqlite3.connect("data/try/big.db")
for _ in range(9):
    db.execute("insert into reading (station, taken, kind, value) select station, taken, kind, value from reading where id <= 8761")
db.commit()
print("rows", db.execute("select count(*) from reading").fetchone()[0])
db.close()
t = time.time()
print(subprocess.run(["python3", "migrate.py", "data/try/big.db"], capture_output=True, text=True).stdout)
print("seconds %.2f" % (time.time() - t))
'''))
    secs = s.grab(r"seconds ([\d.]+)")
    rows = s.grab(r"rows (\d+)")
    s.do("What about a second run on a migrated file, and a run that is killed by an error half way? The first should do nothing, the second roll back.",
         J("python3 migrate.py data/try/c.db"),
         T("cp data/almanac.db data/try/d.db && sqlite3 data/try/d.db 'create table reading_reject (id integer)' && python3 migrate.py data/try/d.db", err=True),
         T("sqlite3 data/try/d.db 'pragma user_version' 'select count(*) from reading'"))
    s.say(f"No jump in either series: old text and new value stand side by side above. With {rows} rows the migration took {secs} s on this machine.\n\nA second run does "
          "nothing. When a table reading_reject is already there, 003 fails, rolls back, and the file stays at version 2 with all its readings.")
    s.user("Good. Commit on a branch units-64, leave 001 and 002 alone, remove data/try. Then tell me what is still open in #70.")
    s.do("", T("git switch -q -c units-64 && git add migrations/003_units.sql && git commit -q -m 'Version 3: convert units, keep rejects and the index (#64)' && "
               "git log --oneline && git diff --stat HEAD~1"),
         T("git diff --quiet HEAD~1 -- migrations/001_start.sql migrations/002_height.sql && echo same"), J("rm -r data/try && ls data"))
    new = s.sha()
    s.do("And the live file is still at version 2?", T("sqlite3 -readonly data/almanac.db 'pragma user_version' 'select count(*) from reading'"),
         S("semicolon|split\\(", "migrate.py", js=False))
    s.say(f"Committed as {new} on units-64, on top of the draft {draft}. data/almanac.db is at version 2.\n\nThe three notes of #70:\n\n1. inches: handled.\n2. "
          "`migrations/001_start.sql` and `migrations/002_height.sql` unchanged: checked.\n3. rejects per kind: printed above, not yet posted to #70.\n\nOpen "
          "from my side: `migrate.py` splits at every semicolon. 003 has none inside a statement, but the next migration may.")
    s.save()
