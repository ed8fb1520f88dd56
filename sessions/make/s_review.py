"""Session: review of a branch that adds retries to a small JavaScript job queue."""
from common import J, M, R, S, Session, T, W, X, task_list

QUEUE = '''
"use strict";
// A small in-memory job queue. One worker at a time per queue name.
const { EventEmitter } = require("node:events");

const DEFAULTS = { concurrency: 1, timeout: 1000 };

class Queue extends EventEmitter {
  constructor(store, options = {}) {
    super();
    this.store = store;
    this.options = { ...DEFAULTS, ...options };
    this.handlers = new Map();
    this.running = 0;
    this.closed = false;
  }

  handle(type, fn) {
    if (this.handlers.has(type)) {
      throw new Error(`handler for ${type} is already set`);
    }
    this.handlers.set(type, fn);
  }

  push(type, data) {
    if (this.closed) {
      throw new Error("queue is closed");
    }
    const job = { id: this.store.nextId(), type, data, state: "waiting" };
    this.store.put(job);
    this.emit("pushed", job);
    return job.id;
  }

  async runOne(job) {
    const fn = this.handlers.get(job.type);
    job.state = "running";
    this.running += 1;
    let timer;
    try {
      const limit = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error("timeout")), this.options.timeout);
      });
      job.result = await Promise.race([fn(job.data), limit]);
      job.state = "done";
    } catch (error) {
      job.state = "failed";
      job.error = error.message;
    } finally {
      clearTimeout(timer);
      this.running -= 1;
      this.store.put(job);
      this.emit(job.state, job);
    }
    return job;
  }

  async drain() {
    for (;;) {
      const batch = this.store.waiting(this.options.concurrency);
      if (batch.length === 0) {
        return;
      }
      await Promise.all(batch.map((job) => this.runOne(job)));
    }
  }

  close() {
    this.closed = true;
  }
}

module.exports = { Queue, DEFAULTS };
'''
STORE = '''
"use strict";
// Keeps jobs by id. A map here; the file store of #96 has the same methods.

class MemoryStore {
  constructor() {
    this.jobs = new Map();
    this.last = 0;
  }

  nextId() {
    this.last += 1;
    return this.last;
  }

  put(job) {
    this.jobs.set(job.id, job);
  }

  get(id) {
    return this.jobs.get(id);
  }

  waiting(limit) {
    const found = [];
    for (const job of this.jobs.values()) {
      if (job.state === "waiting") {
        found.push(job);
        if (found.length === limit) {
          break;
        }
      }
    }
    return found;
  }

  counts() {
    const out = {};
    for (const job of this.jobs.values()) {
      out[job.state] = (out[job.state] || 0) + 1;
    }
    return out;
  }
}

module.exports = { MemoryStore };
'''
TEST = '''
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const { Queue } = require("../src/queue.js");
const { MemoryStore } = require("../src/store.js");

test("a job runs and its result is kept", async () => {
  const queue = new Queue(new MemoryStore());
  queue.handle("add", async ({ a, b }) => a + b);
  const id = queue.push("add", { a: 2, b: 3 });
  await queue.drain();
  assert.strictEqual(queue.store.get(id).result, 5);
});

test("a throwing handler fails the job only", async () => {
  const queue = new Queue(new MemoryStore(), { concurrency: 2 });
  queue.handle("boom", async () => { throw new Error("boom"); });
  queue.handle("ok", async () => 1);
  queue.push("boom", {});
  queue.push("ok", {});
  await queue.drain();
  assert.deepStrictEqual(queue.store.counts(), { failed: 1, done: 1 });
});

test("a slow handler times out", async () => {
  const queue = new Queue(new MemoryStore(), { timeout: 20 });
  queue.handle("slow", () => new Promise((resolve) => setTimeout(resolve, 200).unref()));
  const id = queue.push("slow", {});
  await queue.drain();
  assert.strictEqual(queue.store.get(id).error, "timeout");
});

test("a closed queue takes no jobs", () => {
  const queue = new Queue(new MemoryStore());
  queue.close();
  assert.throws(() => queue.push("x", {}), /closed/);
});
'''
BACKOFF = '''
"use strict";
// Waiting times between tries: base, base*2, base*4 ... up to max.

const BACKOFF = { base: 50, max: 2000, jitter: 0 };

function delays(tries, options) {
  const conf = Object.assign(BACKOFF, options);
  const out = [];
  for (let n = 0; n <= tries; n += 1) {
    const plain = Math.min(conf.base * 2 ** n, conf.max);
    out.push(plain + Math.floor(plain * conf.jitter * Math.random()));
  }
  return out;
}

module.exports = { delays, BACKOFF };
'''
NEW_RUN = '''
  async runOne(job) {
    const fn = this.handlers.get(job.type);
    const wait = delays(this.options.tries, this.options.backoff);
    job.state = "running";
    this.running += 1;
    let timer;
    for (const pause of wait) {
      try {
        const limit = new Promise((_, reject) => {
          timer = setTimeout(() => reject(new Error("timeout")), this.options.timeout);
        });
        job.result = await Promise.race([fn(job.data), limit]);
        job.state = "done";
        break;
      } catch (error) {
        job.state = "failed";
        job.error = error.message;
        job.attempts = (job.attempts || 0) + 1;
        this.emit("retry", job);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    clearTimeout(timer);
    this.running -= 1;
    this.store.put(job);
    this.emit(job.state, job);
    return job;
  }
'''
TEST2 = '''
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const { Queue } = require("../src/queue.js");
const { MemoryStore } = require("../src/store.js");
const { delays } = require("../src/backoff.js");

test("delays double up to max", () => {
  assert.deepStrictEqual(delays(3, { base: 1, max: 3 }), [1, 2, 3, 3]);
});

test("a job that fails once is tried again", async () => {
  let calls = 0;
  const queue = new Queue(new MemoryStore(), { tries: 3, backoff: { base: 1 } });
  queue.handle("flaky", async () => { calls += 1; if (calls === 1) throw new Error("first"); return "ok"; });
  const id = queue.push("flaky", {});
  await queue.drain();
  assert.strictEqual(queue.store.get(id).state, "done");
});
'''
STYLE = """
<html><body><h1>Review guide</h1><p>For reviewers of lantern. A review says what was run.</p>
<h2>Order</h2><ul><li>Read the description and the linked issue first.</li><li>Run the tests of main on the branch: they must not need changes.</li>
<li>Each finding has a file, a line and a way to see it fail.</li><li>Mark findings as must, should or note.</li></ul>
<h2>Compatibility</h2><p>Defaults are part of the interface (#90). A new option must leave callers without it as they were.</p>
<h2>Not in a review</h2><p>Formatting. Reviewers do not push to the author's branch.</p></body></html>
"""


def build():
    s = Session("review-lantern-retries", "Code review of retries in a job queue", "lantern", "2026-02-24T14:10:30Z")
    s.file("src/queue.js", QUEUE)
    s.file("src/store.js", STORE)
    s.file("test/queue.test.js", TEST)
    s.file(".gitignore", "wiki/\n")
    s.commit("Job queue with timeout (#88)")
    s.file("README.md", "# lantern\n\nA small job queue.\n\n| option | default |\n|---|---|\n| concurrency | 1 |\n| timeout | 1000 |\n")
    s.commit("List the options in README.md (#90)")
    s.sh("git switch -q -c queue-retry")
    s.file("src/backoff.js", BACKOFF)
    s.commit("Backoff delays (#118)")
    s.file("src/queue.js", QUEUE.replace('require("node:events");', 'require("node:events");\nconst { delays } = require("./backoff.js");')
           .replace("timeout: 1000 }", "timeout: 5000, tries: 3, backoff: {} }")
           .replace(QUEUE[QUEUE.index("\n  async runOne"):QUEUE.index("\n  async drain")], NEW_RUN))
    s.commit("Retry failed jobs (#118)")
    s.file("test/retry.test.js", TEST2)
    s.file("README.md", "# lantern\n\nA small job queue.\n\n| option | default |\n|---|---|\n| concurrency | 1 |\n| timeout | 1000 |\n| tries | 3 |\n")
    s.commit("Tests and readme for retries (#118)")
    s.sh("git switch -q main")
    s.file("wiki/review.html", STYLE)
    s.file("wiki/118.json", '{"number": 118, "title": "Retry failed jobs", "branch": "queue-retry", "closes": 111,\n "body": "Adds the option tries. A job is run at most '
           'tries times. Between tries we wait base, 2*base, ... Callers that do not set tries see no change."}\n')
    s.file("wiki/111.json", '{"number": 111, "title": "Mail jobs are lost when the relay is busy", "body": "One retry after a short wait would be enough for us. '
           'It must not block other jobs of the queue."}\n')
    s.serve("wiki", 18207)
    sh = lambda r: s.sha(r)

    s.user("Please review PR #118 (branch queue-retry) against main. Our review guide: http://127.0.0.1:18207/review.html. Don't push anything to that branch and don't "
           "change files in the checkout; experiments go in a separate worktree. I'd like findings with proof.")
    s.do("Guide, description, issue and commits.", W("http://127.0.0.1:18207/review.html"),
         M("mcp_tracker_get_issue", {"number": 118}, "http://127.0.0.1:18207/118.json"),
         M("mcp_tracker_get_issue", {"number": 111}, "http://127.0.0.1:18207/111.json"),
         T("git log --oneline main..queue-retry && git diff --stat main...queue-retry"))
    s.do("Three commits, four files. The promises to check: at most `tries` runs, no change for callers without the option, other jobs are not blocked. The whole diff:",
         T("git diff main...queue-retry"))
    s.do("And the files in full, since the diff of `runOne` is hard to read alone.", T("git show queue-retry:src/queue.js"), R("src/store.js"), R("test/queue.test.js", js=False))
    s.do("Setting up a worktree for the branch. First the tests of main on the code of the branch, as the guide asks.",
         T("git worktree add -q --detach ../lantern-118 queue-retry && cd ../lantern-118 && git rev-parse --short HEAD && ls src test"),
         J("cd ../lantern-118 && git diff --stat main -- test/queue.test.js && node --test test/queue.test.js 2>&1 | grep -v duration_ms"),
         T("cd ../lantern-118 && node --test 2>&1 | grep -E '^(# |not ok|ok)'"))
    s.say("All tests pass on the branch, those of main without a change. So the suite doesn't see what I suspect from reading. I have these to prove or drop:\n\n"
          "1. `delays` in `src/backoff.js` loops with `n <= tries`, so tries 3 gives four runs.\n2. `Object.assign(BACKOFF, options)` writes into the shared default.\n"
          "3. The timer of a failed try is not cleared, only the last one is.\n4. The default of timeout went from 1000 to 5000, and tries is 3 for everybody.\n"
          "5. After the last failure it still waits and emits retry.\n6. The pause is inside `runOne`, so a batch waits for its slowest retry.\n\nI'll write a small script for each.")
    s.user("Do that. Number 4 I think was deliberate by the author, but show it anyway.")
    s.do("1 and 5 first.", T("""cd ../lantern-118 && cat > /srv/lantern-118/try1.js <<'JS'
const { Queue } = require("./src/queue.js");
const { MemoryStore } = require("./src/store.js");
(async () => {
  for (const tries of [1, 2, 3]) {
    let runs = 0, retries = 0;
    const queue = new Queue(new MemoryStore(), { tries, backoff: { base: 1 } });
    queue.on("retry", () => { retries += 1; });
    queue.handle("x", async () => { runs += 1; throw new Error("no"); });
    queue.push("x", {});
    await queue.drain();
    console.log(`tries ${tries}: runs ${runs}, retry events ${retries}`);
  }
})();
JS
node try1.js"""), J("cd ../lantern-118 && node -e 'const {delays}=require(\"./src/backoff.js\"); console.log(delays(1,{base:10}), delays(3,{base:10}))'"))
    s.do("Number 1 is proven: one run more than `tries` says. The retry event also comes after the last failure, when nothing follows. Now 2 and 3.",
         T("""cd ../lantern-118 && node -e '
const { delays, BACKOFF } = require("./src/backoff.js");
console.log("before", JSON.stringify(BACKOFF));
delays(2, { base: 1, max: 3 });
console.log("after ", JSON.stringify(BACKOFF), "delays of a caller without options:", delays(3));
'"""), J("""cd ../lantern-118 && cat > try3.js <<'JS'
const { Queue } = require("./src/queue.js");
const { MemoryStore } = require("./src/store.js");
(async () => {
  const queue = new Queue(new MemoryStore(), { tries: 3, timeout: 700, backoff: { base: 1, max: 4 } });
  queue.handle("x", async () => { throw new Error("no"); });
  queue.push("x", {});
  await queue.drain();
  const left = process.getActiveResourcesInfo().filter((r) => r === "Timeout").length;
  console.log("timers left after drain:", left);
})();
JS
node try3.js"""))
    left = s.grab(r"timers left after drain: (\d+)")
    s.do(f"Both proven: the default object is changed for the whole process, and {left} timers are still running after `drain`. They keep node alive until they fire, "
         "and nothing good can come of their rejections. Now 4 and 6, and a handler that isn't there at all, which I noticed on the way.",
         T("""cd ../lantern-118 && for rev in main queue-retry; do git show $rev:src/queue.js | grep -n 'DEFAULTS = '; done; git show queue-retry:README.md | grep timeout"""),
         J("""cd ../lantern-118 && cat > try6.js <<'JS'
const { Queue } = require("./src/queue.js");
const { MemoryStore } = require("./src/store.js");
(async () => {
  const start = Date.now();
  const queue = new Queue(new MemoryStore(), { concurrency: 2, tries: 3, backoff: { base: 100, max: 400 } });
  queue.handle("mail", async () => { throw new Error("relay busy"); });
  queue.handle("ok", async () => 1);
  queue.on("done", (job) => console.log("done", job.id, "after", Math.round((Date.now() - start) / 100) * 100, "ms"));
  queue.push("mail", {});
  for (let n = 0; n < 4; n += 1) queue.push("ok", {});
  await queue.drain();
})();
JS
node try6.js"""), T("""cd ../lantern-118 && node -e '
const { Queue } = require("./src/queue.js"); const { MemoryStore } = require("./src/store.js");
const queue = new Queue(new MemoryStore(), { tries: 1, backoff: { base: 1 } });
queue.on("retry", (job) => console.log("retry", job.error));
const id = queue.push("nobody", {});
queue.drain().then(() => console.log(queue.store.get(id).state, queue.store.get(id).error));
'""", err=True))
    s.do("I did not expect the last one: the process dies with an unhandled \"timeout\". `fn(...)` throws before `Promise.race` is reached, so nobody listens to `limit`, and its timer is one "
         "of those that stay. It is number 3 with worse effects. Is that new? The same on main:", T("""node -e '
const { Queue } = require("./src/queue.js"); const { MemoryStore } = require("./src/store.js");
const queue = new Queue(new MemoryStore());
const id = queue.push("nobody", {});
queue.drain().then(() => console.log(queue.store.get(id).state, queue.store.get(id).error));
'"""), J("node -e 'const { Queue } = require(\"./src/queue.js\"); const { MemoryStore } = require(\"./src/store.js\"); const q = new Queue(new MemoryStore()); "
         "q.on(\"failed\", () => { throw new Error(\"listener\") }); q.handle(\"x\", async () => { throw new Error(\"no\") }); q.push(\"x\", {}); q.drain()' 2>&1 | grep -v '^    at'; "
         "exit ${PIPESTATUS[0]}", err=True))
    s.do("On main the job fails with the same TypeError text, but the process goes on: there the timer is cleared in `finally`. So the crash is new. A listener that throws ends the process on main as well, that is old. "
         "One more possibility: `finally` is gone. On main the cleanup ran even if something in the catch block threw. Does a throwing retry listener leave `running` wrong?",
         J("""cd ../lantern-118 && node -e '
const { Queue } = require("./src/queue.js"); const { MemoryStore } = require("./src/store.js");
const queue = new Queue(new MemoryStore(), { tries: 1, backoff: { base: 1 } });
queue.on("retry", () => { throw new Error("listener"); });
queue.handle("x", async () => { throw new Error("no"); });
const id = queue.push("x", {});
queue.drain().catch((e) => console.log("drain rejects:", e.message, "| running", queue.running, "| state", queue.store.get(id).state));
'"""), T("git diff main...queue-retry -- src/queue.js | grep -n 'finally'"))
    s.harness(task_list((True, "1 runs = tries + 1 (src/backoff.js)"), (True, "2 shared default is changed"), (True, "3 timers left"), (True, "4 defaults"),
                        (True, "5 retry event after the last try"), (True, "6 batch waits"), (True, "7 finally removed"), (True, "8 crash with a missing handler, follows from 3"), (False, "line numbers for the findings"),
                        (False, "which tests would have caught them")))
    s.do("Line numbers on the branch.", T("cd ../lantern-118 && grep -n 'Object.assign\\|n <= tries' src/backoff.js; grep -n 'DEFAULTS = \\|emit(\"retry\"\\|clearTimeout\\|resolve, pause\\|this.running -= 1' src/queue.js"),
         T("cd ../lantern-118 && git blame -s src/queue.js | sed -n '35,70p'"), T("cd ../lantern-118 && git log -p --format='%n=== %h %s' --reverse main..HEAD -- src test"))
    s.do("A test for each must-finding, to hand over as a proposal. Writing them in the worktree and checking that they fail on the branch.",
         T("""cd ../lantern-118 && cat > test/proposal.test.js <<'JS'
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const { Queue, DEFAULTS } = require("../src/queue.js");
const { MemoryStore } = require("../src/store.js");
const { delays, BACKOFF } = require("../src/backoff.js");

test("tries is the number of runs", async () => {
  let runs = 0;
  const queue = new Queue(new MemoryStore(), { tries: 2, backoff: { base: 1 } });
  queue.handle("x", async () => { runs += 1; throw new Error("no"); });
  queue.push("x", {});
  await queue.drain();
  assert.strictEqual(runs, 2);
});

test("options do not leak into the default", () => {
  const before = { ...BACKOFF };
  delays(1, { base: 7 });
  assert.deepStrictEqual(BACKOFF, before);
});

test("no timer is left", async () => {
  const queue = new Queue(new MemoryStore(), { tries: 2, timeout: 300, backoff: { base: 1 } });
  queue.handle("x", async () => { throw new Error("no"); });
  queue.push("x", {});
  await queue.drain();
  assert.strictEqual(process.getActiveResourcesInfo().filter((r) => r === "Timeout").length, 0);
});

test("defaults keep old callers as they were", () => {
  assert.strictEqual(DEFAULTS.timeout, 1000);
  assert.ok(!(DEFAULTS.tries > 1));
});
JS
node --test test/proposal.test.js 2>&1 | grep -E '^(not ok|ok|# (pass|fail))'; node --test test/proposal.test.js 2>&1 | grep -E -A1 '^ +\\+ actual|expected:|actual:' | head -40; node --test test/proposal.test.js > /dev/null""", err=True))
    s.say(f"Four of four fail on {sh('queue-retry')}, as they should. (The second one prints base 1 on both sides: the report is written after the third test has changed the shared object again.) Findings for #118:\n\n**must**\n- `src/backoff.js`, `n <= tries`: tries + 1 runs ({sh('queue-retry~2')}). Proof: tries 1, 2, 3 give 2, 3, 4 runs.\n"
          f"- `src/backoff.js`, `Object.assign(BACKOFF, options)`: one caller's options become everybody's default.\n- `src/queue.js`, `clearTimeout` after the loop ({sh('queue-retry~1')}): {left} timers left with tries 3. With a handler that throws at once, or none, the process dies of an unhandled timeout; on main only the job fails.\n"
          "- `src/queue.js`, DEFAULTS: timeout 5000 and tries 3 change every caller, against the description and #90. README.md still says 1000.\n- `src/queue.js`: without `finally` a throwing retry listener leaves `running` at 1 and the job unsaved.\n\n"
          "**should**\n- The pause holds the batch: with concurrency 2 the jobs 3 to 5 wait for the whole backoff. That is what #111 asks not to happen.\n- No retry event and no pause after the last try.\n\n"
          "**note**\n- A job without a handler should get a clear error text instead of a TypeError, on main too.")
    s.user("Excellent. The author says the batch blocking can't be avoided without changing the store. Is that true?")
    s.do("It depends on whether a job can be put back as waiting with a time. Trying the smallest change: state waiting plus `notBefore`, in the worktree only.",
         X('''
import subprocess
p = "../lantern-118/src/store.js"
t = open(p).read()
t = t.replace('if (job.state === "waiting") {', 'if (job.state === "waiting" && !(job.notBefore > Date.now())) {')
open(p, "w").write(t)
print(subprocess.run(["git", "-C", "../lantern-118", "diff", "-U0", "--", "src/store.js"], capture_output=True, text=True).stdout)
'''), T("cd ../lantern-118 && node --test test/queue.test.js 2>&1 | grep -E '^# (pass|fail)'"), S("waiting\\(", "src"))
    s.say("Half true. `MemoryStore.waiting()` needs one more condition, as tried above, and the tests of `test/queue.test.js` still pass with it. The interface of the store stays: same methods, one optional field on the job. "
          "But `drain()` returns when no job is ready, so it would also have to wait until the earliest `notBefore`. And the file store of #96 needs the same condition. So: a small change to the store, "
          "not a new interface. I would accept it as a follow-up if the must-findings are done and the description no longer claims that other jobs are not affected.")
    s.user("OK, follow-up it is. Clean up the worktree, and confirm that the checkout and the branch are unchanged.")
    s.do("", T("git worktree remove --force ../lantern-118 && git worktree list | wc -l"), T("git status --short | wc -l; for b in queue-retry main; do git rev-parse --short $b; done"), J("git log --oneline -1 queue-retry"))
    s.say(f"The worktree is gone, the checkout is clean, queue-retry is still at {sh('queue-retry')} and main at {sh('main')}. The four proposed tests are in this conversation only (the file `test/proposal.test.js` went with the worktree).")
    s.user("Then write the review comment for #118 in our format, must findings only, with the tests from test/proposal.test.js as an attachment block.")
    s.save()
