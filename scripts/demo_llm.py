#!/usr/bin/env python3
"""Runs scenarios/demo-llm.toml with a local model behind llama.cpp's server, without a key.

    python3 scripts/demo_llm.py MODEL.gguf
    python3 scripts/demo_llm.py MODEL.gguf --out DIR --record FILE

Needs Python 3.10 or newer with venv and pip on x86-64 Linux, the network once (a wheel of 34 MB), and cargo.
See docs/local-model.md.
"""

import argparse
import hashlib
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "demo-llm.toml"
WORK = ROOT / "target" / "demo-llm"
# A pin with its hash: what is installed here runs as a server.
REQUIREMENTS = Path(__file__).with_name("demo_llm_requirements.txt")
STAMP = "installed-pins.txt"

# Part of every request's key: the committed cassette is of this port.
PORT = 18080
READY_WITHIN_SECONDS = 180
END_WITHIN_SECONDS = 20

# The file that scenarios/demo-llm.toml is about, and others that were tried: sha256, and what to call the model.
KNOWN = {
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32": "qwen2.5-coder-0.5b-instruct",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046": "qwen2.5-coder-1.5b-instruct",
}
SCENARIO_MODEL = "qwen2.5-coder-0.5b-instruct"


class Stop(Exception):
    """Why there is no run, and what to do."""


def note(text):
    print(f"demo-llm: {text}", file=sys.stderr, flush=True)


def checked(path):
    """The sha256 of a file that is a GGUF model."""
    if not path.is_file():
        raise Stop(f"{path}: there is no such file; name a model in GGUF form (docs/local-model.md says where to get one)")
    digest = hashlib.sha256()
    with path.open("rb") as file:
        head = file.read(4)
        if head != b"GGUF":
            raise Stop(f"{path}: this is no GGUF file, it begins with {head!r}; name a model in GGUF form")
        digest.update(head)
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def name_of(path, digest):
    """What the model is called in requests and tables."""
    if digest in KNOWN:
        return KNOWN[digest]
    note(f"warning: sha256 {digest} is not a file that was tried here; its publisher says whether it is the right one")
    return re.sub(r"[^a-z0-9.-]+", "-", path.stem.lower()).strip("-.") or "model"


def scenario_for(name, path, digest):
    """The scenario as it is, or for another model a copy that names that one."""
    if name == SCENARIO_MODEL:
        return SCENARIO
    text = SCENARIO.read_text(encoding="utf-8")
    size = path.stat().st_size / 1e6
    said = f"{name} ({size:.0f} MB, sha256 {digest[:12]}): not evidence about production summarizers"
    sessions = SCENARIO.parent.resolve() / "demo-llm" / "sessions" / "*.json"
    for pattern, line in [
        (r"^name = \"demo-llm\"$", f"name = {json.dumps('demo-llm-' + name)}"),
        (r"^note = .*$", f"note = {json.dumps(said[:200])}"),
        (r"^sessions = .*$", f"sessions = [{json.dumps(str(sessions))}]"),
        (r"^name = \"qwen[^\"]*\"$", f"name = {json.dumps(name)}"),
        (r"^model = \"qwen[^\"]*\"$", f"model = {json.dumps(name)}"),
    ]:
        text, count = re.subn(pattern, lambda _: line, text, flags=re.MULTILINE)
        if count != 1:
            raise Stop(f"{SCENARIO}: there are {count} lines like {pattern}, one was expected; put the file back")
    copy = WORK / f"demo-llm-{name}.toml"
    copy.write_text(text, encoding="utf-8")
    return copy


def server_python():
    """The interpreter of an environment that has the server, made where it is not there yet."""
    home = WORK / "venv"
    python, stamp = home / "bin" / "python", home / STAMP
    pins = REQUIREMENTS.read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == pins:
        return python
    note("installing the server's wheel into target/demo-llm")
    shutil.rmtree(home, ignore_errors=True)
    venv.create(home, with_pip=True)
    installed = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
         "--require-hashes", "--requirement", str(REQUIREMENTS)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if installed.returncode != 0:
        raise Stop(f"{REQUIREMENTS.name}: the wheel cannot be installed; it exists for x86-64 Linux, elsewhere start a "
                   f"llama.cpp server yourself (docs/local-model.md). pip says:\n{installed.stdout.strip()}")
    stamp.write_text(pins, encoding="utf-8")
    return python


def require_free_port():
    with socket.socket() as probe:
        probe.settimeout(2)
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            raise Stop(f"127.0.0.1:{PORT}: something is listening there already; end it, the demo's address is fixed "
                       "because recorded calls are found by it")


def wait_until_ready(server, log):
    """Until the weights are loaded: before that the server says 503."""
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:])
            raise Stop(f"the server ended with status {server.returncode}; the end of {log}:\n{tail}")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.3)
    raise Stop(f"the server was not ready within {READY_WITHIN_SECONDS} s; see {log}")


def end(server):
    """Ends the server, by its process and no other."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(END_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def run(args):
    digest = checked(args.model)
    WORK.mkdir(parents=True, exist_ok=True)
    name = name_of(args.model, digest)
    scenario = scenario_for(name, args.model, digest)
    command = [args.laundromat] if args.laundromat else ["cargo", "run", "--quiet", "--release", "--"]
    # Built before the model takes the cores.
    if not args.laundromat:
        note("building laundromat")
        if subprocess.run(["cargo", "build", "--quiet", "--release", "--package", "laundromat-cli"], cwd=ROOT).returncode:
            raise Stop("laundromat does not build; see above")
    python = server_python()
    require_free_port()
    log = WORK / "server.log"
    began = time.monotonic()
    with log.open("wb") as sink:
        # A session of its own: an interrupt is for laundromat, which finishes the call in flight and needs the server.
        server = subprocess.Popen(
            [str(python), str(Path(__file__).with_name("serve_llm.py")), str(args.model.resolve()), str(PORT), name],
            stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        wait_until_ready(server, log)
        note(f"{name} answers on 127.0.0.1:{PORT} (process {server.pid}); a call takes about a minute on two busy cores")
        command += ["run", str(scenario), "--record", str(args.record or WORK / f"{name}.jsonl.zst")]
        if args.out:
            command += ["--out", str(args.out)]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = subprocess.run(command, cwd=ROOT, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)).returncode
    finally:
        end(server)
    note(f"{(time.monotonic() - began) / 60:.1f} minutes")
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL.gguf")
    parser.add_argument("--out", type=Path, help="folder of the run [default: results/NAME]")
    parser.add_argument("--record", type=Path, help="the cassette [default: target/demo-llm/MODEL.jsonl.zst]")
    parser.add_argument("--laundromat", help="a built binary, in place of cargo")
    # A plain end of this script, too, must end the server.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(run(parser.parse_args()))
    except Stop as why:
        sys.exit(f"demo-llm: error: {why}")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
