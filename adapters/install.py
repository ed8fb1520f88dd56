#!/usr/bin/env python3
"""Installs the libraries that the adapters drive, each pinned and in an environment of its own.

    python3 adapters/install.py                         all of them, into target/adapters
    python3 adapters/install.py hermes adk              these
    python3 adapters/install.py --into DIR hermes

An environment whose pins have not changed is left alone. Needs Python 3.11 or newer with venv and pip.
"""

import argparse
import shutil
import subprocess
import sys
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ADAPTERS = Path(__file__).resolve().parent
REQUIREMENTS = ADAPTERS / "requirements"
DEFAULT_FOLDER = ADAPTERS.parent / "target" / "adapters"

# Written last, so that an interrupted installation is not taken for a finished one.
STAMP = "installed-pins.txt"

# Two at a time: one unpacks while the other waits for the network.
AT_A_TIME = 2


def known():
    return sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def pins(name):
    return (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")


def wanted_stamp(name):
    return f"# python {sys.version.split()[0]}\n{pins(name)}"


def interpreter(name, folder=DEFAULT_FOLDER):
    """The Python in which the library is, or None when it is not installed with today's pins."""
    home = Path(folder) / name
    stamp = home / STAMP
    if not stamp.exists() or stamp.read_text(encoding="utf-8").partition("\n")[2] != pins(name):
        return None
    return home / "bin" / "python"


def install(name, folder):
    """Makes the environment; says in one line what was done."""
    home = Path(folder) / name
    stamp = home / STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted_stamp(name):
        return f"{name}: as pinned already"
    began = time.monotonic()
    shutil.rmtree(home, ignore_errors=True)
    # This pip installs into the environment, which saves a pip in each.
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-compile",
         "--requirement", str(REQUIREMENTS / f"{name}.txt")],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    stamp.write_text(wanted_stamp(name), encoding="utf-8")
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file() and not path.is_symlink())
    return f"{name}: installed in {time.monotonic() - began:.0f} s, {size / 1e6:.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(known())}")
    parser.add_argument("--into", type=Path, default=DEFAULT_FOLDER)
    args = parser.parse_args()
    names = args.name or known()
    unknown = sorted(set(names) - set(known()))
    if unknown:
        sys.exit(f"unknown adapter {', '.join(unknown)}; known are {', '.join(known())}")

    def attempt(name):
        try:
            return True, install(name, args.into)
        except subprocess.CalledProcessError as fault:
            return False, f"{name}: pip failed\n{fault.stdout}"

    failed = False
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for done, line in pool.map(attempt, names):
            print(line, flush=True)
            failed |= not done
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
