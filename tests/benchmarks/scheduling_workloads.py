"""Binds a second of each of upstream's scheduler_perf workloads, API server included, beside upstream's floor.

At 500 nodes when run with all benchmarks. Alone, also at 5,000:
`python -m tests.benchmarks.scheduling_workloads [NAME ...] [--nodes 5000]`. Each is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import subprocess
import sys

import orjson

from tests.benchmarks import Result
from tests.benchmarks._scheduling import Measured
from tests.benchmarks._scheduling_workloads import WORKLOADS, measure

MODULE = "tests.benchmarks.scheduling_workloads"
SMALL = 500


def measured_apart(name: str, nodes: int) -> float:
    """Binds a second of a workload that is run in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", MODULE, name, f"--nodes={nodes}", "--json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float | str] = orjson.loads(ran.stdout)
    print(f"{name:36} {found['text']}", flush=True)
    print(f"{'':36} upstream's floor at 5,000 nodes: {WORKLOADS[name].floor:.0f} a second", flush=True)
    return float(found["rate"])


async def run() -> Result:
    """The share of its floor that the workload reaches which falls behind the most."""
    shares = {name: measured_apart(name, SMALL) / workload.floor for name, workload in WORKLOADS.items()}
    worst = min(shares, key=lambda name: shares[name])
    return Result(f"scheduling_workloads ({worst} is the slowest)", round(shares[worst], 3), "of upstream's floor")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure scheduling workloads.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--nodes", type=int, default=SMALL)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in WORKLOADS]:
        parser.error(f"no workload {', '.join(unknown)}")
    logging.basicConfig(level=logging.CRITICAL)  # what is dropped under load is no news here
    if arguments.json:
        found: Measured = asyncio.run(measure(arguments.names[0], arguments.nodes))
        print(orjson.dumps({"text": str(found), "rate": found.rate}).decode())
        return 0
    for name in arguments.names or WORKLOADS:
        measured_apart(name, arguments.nodes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
