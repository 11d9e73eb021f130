"""One resource as the server's table: a list, then a watch from its revision, again whenever the watch ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.api.errors import ApiError
from engine.client.client import Client, error_of
from engine.clock import Clock
from ktui.models.object_table import ObjectTable

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
RETRY_SECONDS = 1.0


async def follow(client: Client, clock: Clock, table: ObjectTable, namespace: str | None) -> AsyncIterator[str]:
    """Keep `table` current; yields "" after each change and what is wrong when it cannot be kept."""
    while True:
        try:
            await _list(client, table, namespace)
            yield ""
            async for _ in _watch(client, clock, table, namespace):
                yield ""
        except ConnectionError as error:
            yield str(error)
        except ApiError as error:
            if error.code != 410:
                yield error.message
        await clock.sleep(RETRY_SECONDS)


async def _list(client: Client, table: ObjectTable, namespace: str | None) -> None:
    table.replace(await client.request("GET", table.resource.path(namespace), headers={"accept": TABLE}))


async def _watch(client: Client, clock: Clock, table: ObjectTable, namespace: str | None) -> AsyncIterator[None]:
    query = {"watch": ["true"], "resourceVersion": [table.version], "allowWatchBookmarks": ["true"]}
    response = await client.send("GET", table.resource.path(namespace), query=query, headers={"accept": TABLE})
    if response.status >= 400:
        raise error_of(response)
    if response.events is None:
        raise ConnectionError("the server answered a watch without a stream")
    try:
        async for event in response.events:
            if event.type == "ERROR":
                raise ApiError.from_status(event.object)
            if event.type != "BOOKMARK":
                table.apply(event.type, event.object, now=clock.monotonic())
                yield None
    finally:
        await response.events.aclose()
