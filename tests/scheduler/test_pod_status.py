"""Writing a Pod's status where the API server does not answer at once (upstream's pkg/scheduler/util/utils_test.go)."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.wire import Request
from engine.client import Client
from engine.scheduler.pod_status import patch_pod_status
from engine.world import World
from tests.client.server import FaultyTransport
from tests.scheduler.stage import open_stage

REFUSED = ConnectionRefusedError("connection refused")
BROKEN = ApiError(500, "InternalError", "etcdserver: request timed out")
AWAY = ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
CONFLICT = ApiError(409, "Conflict", "the object has been modified")

ROWS: dict[str, tuple[list[Exception], dict[str, str], int]] = {
    "at once": ([], {"nominatedNodeName": "n1"}, 1),
    "nothing to say": ([], {}, 0),
    "refused once": ([REFUSED], {"nominatedNodeName": "n1"}, 2),
    "broken, then away": ([BROKEN, AWAY], {"nominatedNodeName": "n1"}, 3),
    "four times at most": ([REFUSED] * 4, {"nominatedNodeName": "n1"}, 4),
    "no other failure": ([CONFLICT], {"nominatedNodeName": "n1"}, 1),
}


@pytest.mark.parametrize(("failures", "change", "tries"), ROWS.values(), ids=ROWS)
async def test_tries(world: World, failures: list[Exception], change: dict[str, str], tries: int) -> None:
    left = list(failures)

    def fail(request: Request) -> BaseException | None:
        return left.pop(0) if left else None

    async with open_stage(world) as stage:
        there = await stage.add_pod("p", schedulerName="another")
        transport = FaultyTransport(stage.admin_transport)
        transport.fail = fail
        raised: Exception | None = None
        try:
            await patch_pod_status(
                Client(transport, user_agent="test"), there, {**there["status"], **change}, world.clock
            )
        except (ApiError, ConnectionError) as failure:
            raised = failure
        assert len(transport.requests) == tries
        assert raised is (failures[-1] if failures and tries == len(failures) else None)
        told = (await stage.get("p"))["status"].get("nominatedNodeName")
        assert told == (change.get("nominatedNodeName") if raised is None else None)
