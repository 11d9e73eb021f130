"""Many like requests, begun slowly (slowStartBatch in pkg/controller/replicaset/replica_set.go).

Batches of 1, 2, 4, ... at once; the first batch with a failure is the last, so that a quota or an admission webhook
that refuses one Pod is not asked about hundreds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def slow_start(count: int, act: Callable[[], Awaitable[None]]) -> tuple[int, Exception | None]:
    """How many of `count` acts succeeded, and the first failure."""
    successes, remaining, batch = 0, count, min(count, 1)
    while batch > 0:
        results = await asyncio.gather(*(act() for _ in range(batch)), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        successes += batch - len(failures)
        if failures:
            return successes, as_failure(failures)
        remaining -= batch
        batch = min(2 * batch, remaining)
    return successes, None


def as_failure(failures: list[BaseException]) -> Exception:
    """The first failure; what is no Exception (a cancellation) is raised at once."""
    for failure in failures:
        if not isinstance(failure, Exception):
            raise failure
    first = failures[0]
    assert isinstance(first, Exception)
    return first
