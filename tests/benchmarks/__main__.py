"""`python -m tests.benchmarks [NAME ...] [--list]`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from tests.benchmarks import Result, benchmarks, describe


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure ktui on this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to run (default: all)")
    parser.add_argument("--list", action="store_true", help="name them and what they measure")
    arguments = parser.parse_args()
    known = benchmarks()
    if arguments.list:
        for name, module in known.items():
            print(f"{name:24} {describe(module)}")
        return 0
    if unknown := [name for name in arguments.names if name not in known]:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in arguments.names or known:
        print(f"== {name}: {describe(known[name])}", flush=True)
        result: Result = asyncio.run(known[name].run())
        print(result.to_json(), flush=True)
    return 0


sys.exit(main())
