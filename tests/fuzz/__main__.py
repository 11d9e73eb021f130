"""`python -m tests.fuzz [--requests N] [--seed N]`."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.run import run


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Send random and mutated requests to an API server of this process."
    )
    parser.add_argument("--requests", type=int, default=100_000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same requests (default: 1)")
    arguments = parser.parse_args()
    report = run(requests=arguments.requests, seed=arguments.seed)
    answers = ", ".join(f"{code}: {count}" for code, count in sorted(report.codes.items()))
    print(f"{report.sent} requests; answers by code: {answers}")
    for problem in report.problems:
        print(problem)
    return 1 if report.problems else 0


sys.exit(main())
