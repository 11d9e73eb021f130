"""One resource as the server's table: a list, then a watch from its revision, again whenever the watch ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.api.errors import ApiError
from engine.client.client import Client, error_of
from engine.clock import Clock
from ktui.models.object_table import ObjectTable
from ktui.models.trouble import words

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
RETRY_SECONDS = 1.0
PAGE = 500
SLICE = 100  # rows; between two slices the screen may take a key


async def follow(
    client: Client, clock: Clock, table: ObjectTable, namespace: str | None, fields: str = ""
) -> AsyncIterator[str]:
    """Keep `table` current; yields "" after each change and what is wrong when it cannot be kept.

    `fields` is a field selector.
    """
    while True:
        try:
            async for _ in _list(client, clock, table, namespace, fields):
                yield ""
            async for _ in _watch(client, clock, table, namespace, fields):
                yield ""
        except ConnectionError as error:
            yield words(error)
        except ApiError as error:
            if error.code != 410:
                yield words(error)
        await clock.sleep(RETRY_SECONDS)


async def _list(
    client: Client, clock: Clock, table: ObjectTable, namespace: str | None, fields: str
) -> AsyncIterator[None]:
    """In pages: a long list is shown as it comes, and no page takes longer than a key may wait."""
    query = {"limit": [str(PAGE)], **_selected(fields)}
    table.begin()
    while True:
        page = await client.request("GET", table.resource.path(namespace), query=query, headers={"accept": TABLE})
        for first in range(0, len(page.get("rows") or ()) or 1, SLICE):
            table.extend({**page, "rows": (page.get("rows") or [])[first : first + SLICE]})
            yield None
            await clock.sleep(0)
        token = page.get("metadata", {}).get("continue")
        if not token:
            break
        query["continue"] = [token]
    table.end()
    yield None


def _selected(fields: str) -> dict[str, list[str]]:
    return {"fieldSelector": [fields]} if fields else {}


async def _watch(
    client: Client, clock: Clock, table: ObjectTable, namespace: str | None, fields: str
) -> AsyncIterator[None]:
    query = {
        "watch": ["true"],
        "resourceVersion": [table.version],
        "allowWatchBookmarks": ["true"],
        **_selected(fields),
    }
    response = await client.send("GET", table.resource.path(namespace), query=query, headers={"accept": TABLE})
    if response.status >= 400:
        raise error_of(response)
    if response.events is None:
        raise ConnectionError("the server answered a watch without a stream")
    try:
        async for event in response.events:
            if event.type == "ERROR":
                raise ApiError.from_status(event.object)
            if event.type == "BOOKMARK":
                table.version = event.object.get("metadata", {}).get("resourceVersion") or table.version
            else:
                table.apply(event.type, event.object, now=clock.monotonic())
                yield None
    finally:
        await response.events.aclose()
