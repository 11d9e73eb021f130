"""A Binding is posted again where the API server does not answer at once, from 1.37 on (DefaultBinder)."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.wire import Request
from engine.client import InProcessTransport
from engine.world import World
from tests.client.server import FaultyTransport
from tests.scheduler.stage import open_stage

AWAY = ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
REFUSED = ConnectionRefusedError("connection refused")

ROWS: dict[str, tuple[str, list[Exception], str]] = {
    "refused once, then away": ("1.37.0", [REFUSED, AWAY], ""),
    "four times at most": ("1.37.0", [AWAY] * 4, AWAY.message),
    "no other failure": ("1.37.0", [ApiError(403, "Forbidden", "not you")], "not you"),
    "not before 1.37": ("1.36.0", [AWAY], AWAY.message),
}


@pytest.mark.parametrize(("version", "failures", "told"), ROWS.values(), ids=ROWS)
async def test_tries(world: World, version: str, failures: list[Exception], told: str) -> None:
    left = list(failures)

    def fail(request: Request) -> BaseException | None:
        return left.pop(0) if left and request.path.endswith("/pods/p/binding") else None

    def over(plain: InProcessTransport) -> FaultyTransport:
        faulty = FaultyTransport(plain)
        faulty.fail = fail
        return faulty

    async with open_stage(world, kubernetes_version=version, over=over) as stage:
        await stage.add_node("n1")
        await stage.add_pod("p")
        assert await stage.bound("p") == "n1"
        failed = [message for _, reason, message in await stage.events("p") if reason == "FailedScheduling"]
        assert failed == ([f'running Bind plugin "DefaultBinder": {told}'] if told else [])
