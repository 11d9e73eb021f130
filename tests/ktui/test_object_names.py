"""The names that the palette finds objects by: of a cluster with ten thousand Pods, and for who may not list all."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import DEPLOYMENTS, GVR, PODS
from engine.api.wire import Request, Response
from engine.client import Client
from engine.clock import Clock
from engine.kubectl.discovery import Discovery, Resource
from ktui.feeds.object_names import FOUND, PAGE, ObjectNames

MANY = 10_000


def served(resource: GVR, kind: str) -> Resource:
    return Resource(resource, kind, kind.lower(), True, (), (), ("list",), (), True)


class Known(Discovery):
    async def resources(self, client: Client) -> list[Resource]:
        return [served(PODS, "Pod"), served(DEPLOYMENTS, "Deployment")]


class Server:
    """Ten thousand Pods, one Deployment; `forbidden` are paths that may not be listed."""

    def __init__(self, *forbidden: str) -> None:
        self.asked: list[tuple[str, str]] = []
        self._forbidden = forbidden

    async def send(self, request: Request) -> Response:
        limit, token = request.query["limit"][0], request.query.get("continue", ["0"])[0]
        self.asked.append((request.path, limit))
        if request.path in self._forbidden:
            return Response(403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"})
        first, last = int(token), int(token) + int(limit)
        names = [f"web-{number:05}" for number in range(MANY)] if request.path.endswith("/pods") else ["web"]
        items = [{"metadata": {"name": name, "namespace": "shop"}} for name in names[first:last]]
        metadata = {"continue": str(last)} if last < len(names) else {}
        return Response(200, {"items": items, "metadata": metadata})

    async def close(self) -> None: ...


def names_of(server: Server) -> ObjectNames:
    return ObjectNames(Client(server, user_agent="test"), Known(), Clock(), "shop")


async def found(names: ObjectNames, query: str) -> list[str]:
    return [one.title for _, one in sorted(await names.find(query), key=lambda pair: -pair[0])]


async def test_of_ten_thousand_each_is_found_and_no_page_is_long() -> None:
    server = Server()
    names = names_of(server)
    reading = names.read()
    await anext(reading)  # each kind has been asked once
    assert [path for path, _ in server.asked] == ["/apis/apps/v1/deployments", "/api/v1/pods"]
    assert await found(names, "eb-00007") == ["Pod web-00007 (shop)"]
    assert await found(names, "web-09876") == []
    assert not names.is_complete
    async for _ in reading:
        pass
    assert {limit for _, limit in server.asked} == {str(PAGE)}
    assert await found(names, "web-09876") == ["Pod web-09876 (shop)"]
    assert await found(names, "pod 9876") == ["Pod web-09876 (shop)"]
    assert await found(names, "shop 9876") == ["Pod web-09876 (shop)"]
    assert await found(names, "pod") == []  # that is the name of none
    best = await found(names, "WEB")
    assert best[0] == "Deployment web (shop)"
    assert len(best) == 1 + FOUND


@pytest.mark.parametrize(
    ("forbidden", "expected"),
    [
        pytest.param(("/api/v1/pods",), ["Pod web-00001 (shop)"], id="in one namespace"),
        pytest.param(("/api/v1/pods", "/api/v1/namespaces/shop/pods"), [], id="nowhere"),
    ],
)
async def test_what_may_not_be_listed_everywhere(forbidden: tuple[str, ...], expected: list[str]) -> None:
    names = names_of(Server(*forbidden))
    async for _ in names.read():
        pass
    assert await found(names, "00001") == expected
    assert await found(names, "web")  # the others are there


async def test_a_server_that_is_away_has_no_names() -> None:
    class Away(Server):
        async def send(self, request: Request) -> Any:
            raise ConnectionError("away")

    names = names_of(Away())
    assert [_ async for _ in names.read()] == [None]
    assert names.is_complete
    assert await names.find("web") == []
