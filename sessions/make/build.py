"""Rebuilds the corpus: python3 sessions/make/build.py [name ...], then checks it.

Needs Linux, Python 3.11, git, gcc, node, make, perl, curl, tar and a writable /srv.
"""
import glob
import importlib
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

import check  # noqa: E402
import common  # noqa: E402


def main():
    wanted = sys.argv[1:]
    for path in sorted(glob.glob(os.path.join(HERE, "s_*.py"))):
        name = os.path.basename(path)[:-3]
        if wanted and name not in wanted and name[2:] not in wanted:
            continue
        print("building", name, flush=True)
        importlib.import_module(name).build()
    shutil.rmtree(os.path.join(common.SRV, ".session-home"), ignore_errors=True)
    return check.main(write_readme=True)


if __name__ == "__main__":
    sys.exit(main())
