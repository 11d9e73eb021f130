"""The client: Kubernetes' verbs over a transport. Everything but the API server itself acts through one of these."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple

from engine.api.errors import ApiError, generic_server_response
from engine.api.types import GVR, Object
from engine.api.wire import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    EventStream,
    Request,
    Response,
    WatchEvent,
)
from engine.client.transport import Transport
from engine.trace import current_span


class ObjectList(NamedTuple):
    """Items of a list at one resource version; `continue_` is the token of the next page ("" for the last).

    `kind` and `api_version` are the list's own (`PodList`, `v1`): its items may leave theirs out. `causes` are the
    traceparents of the newest items by resourceVersion, where the server is in this process.
    """

    items: list[Object]
    resource_version: str
    continue_: str = ""
    remaining: int = 0
    kind: str = ""
    api_version: str = ""
    causes: Mapping[str, str] = MappingProxyType({})


class Watch:
    """An open watch: iterate it, and close it (or use it as an async context manager)."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self._stream.__aiter__()

    async def __aenter__(self) -> Watch:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()


def _query(**parameters: Any) -> dict[str, list[str]]:
    """Query parameters that are set, in the API's spelling of values."""
    query: dict[str, list[str]] = {}
    for name, value in parameters.items():
        if value is None or value is False or value == "":
            continue
        if value is True:
            query[name] = ["true"]
        elif isinstance(value, list | tuple):
            query[name] = [str(item) for item in value]
        else:
            query[name] = [str(value)]
    return query


class Client:
    """Verbs on resources. All raise ApiError with the server's Status; objects are frozen by convention.

    `field_manager` is what a write is recorded under in managedFields; by default the server takes the user agent's
    first word.
    """

    def __init__(self, transport: Transport, *, user_agent: str) -> None:
        self.user_agent = user_agent
        self._transport = transport

    @property
    def transport(self) -> Transport:
        """What the requests go through, for one that wraps it."""
        return self._transport

    async def close(self) -> None:
        await self._transport.close()

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, list[str]] | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """One raw request; a failure is a response, not an exception."""
        sent = {"user-agent": self.user_agent, "accept": "application/json, */*"}
        if headers:
            sent.update(headers)
        if "traceparent" not in sent and (span := current_span()) is not None:
            sent["traceparent"] = span.traceparent
        return await self._transport.send(Request(method, path, query or {}, sent, body))

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, list[str]] | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """One request; returns the body's JSON value or raises the ApiError that it stands for."""
        response = await self.send(method, path, query=query, body=body, headers=headers)
        if response.status >= 400:
            raise error_of(response)
        return response.body

    # -- reading

    async def get(
        self,
        resource: GVR,
        name: str,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        resource_version: str | None = None,
    ) -> Object:
        query = _query(resourceVersion=resource_version)
        body: Object = await self.request("GET", resource.path(namespace, name, subresource), query=query)
        return body

    async def list(
        self,
        resource: GVR,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str | None = None,
        resource_version_match: str | None = None,
        limit: int = 0,
        continue_: str = "",
    ) -> ObjectList:
        query = _query(
            labelSelector=label_selector,
            fieldSelector=field_selector,
            resourceVersion=resource_version,
            resourceVersionMatch=resource_version_match,
            limit=limit or None,
            **{"continue": continue_},
        )
        response = await self.send("GET", resource.path(namespace), query=query)
        if response.status >= 400:
            raise error_of(response)
        body = response.body
        metadata = body.get("metadata", {})
        return ObjectList(
            body.get("items") or [],
            metadata.get("resourceVersion", ""),
            metadata.get("continue", ""),
            metadata.get("remainingItemCount", 0),
            body.get("kind", ""),
            body.get("apiVersion", ""),
            response.causes,
        )

    async def watch(
        self,
        resource: GVR,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str | None = None,
        allow_bookmarks: bool = False,
        send_initial_events: bool = False,
        timeout_seconds: int | None = None,
    ) -> Watch:
        """Open a watch: `async with await client.watch(PODS) as events: async for event in events: ...`."""
        query = _query(
            watch=True,
            labelSelector=label_selector,
            fieldSelector=field_selector,
            resourceVersion=resource_version,
            allowWatchBookmarks=allow_bookmarks or send_initial_events,
            sendInitialEvents=send_initial_events,
            resourceVersionMatch="NotOlderThan" if send_initial_events else None,
            timeoutSeconds=timeout_seconds,
        )
        response = await self.send("GET", resource.path(namespace), query=query)
        if response.status >= 400:
            raise error_of(response)
        if response.events is None:
            raise ConnectionError(f"the server answered a watch of {resource.group_resource} without a stream")
        return Watch(response.events)

    # -- writing

    async def create(
        self,
        resource: GVR,
        obj: Object,
        *,
        namespace: str | None = None,
        name: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
    ) -> Object:
        """Create an object, or with `name` and `subresource` post to one (`binding`, `eviction`)."""
        query = _query(dryRun="All" if dry_run else None, fieldManager=field_manager, fieldValidation=field_validation)
        path = resource.path(namespace, name, subresource)
        body: Object = await self.request("POST", path, query=query, body=obj)
        return body

    async def update(
        self,
        resource: GVR,
        obj: Object,
        *,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
    ) -> Object:
        """Replace an object by its own namespace and name; its resourceVersion is the compare-and-swap."""
        metadata = obj["metadata"]
        query = _query(dryRun="All" if dry_run else None, fieldManager=field_manager, fieldValidation=field_validation)
        path = resource.path(metadata.get("namespace"), metadata["name"], subresource)
        body: Object = await self.request("PUT", path, query=query, body=obj)
        return body

    async def update_status(self, resource: GVR, obj: Object) -> Object:
        return await self.update(resource, obj, subresource="status")

    async def patch(
        self,
        resource: GVR,
        name: str,
        patch: Any,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        content_type: str = STRATEGIC_PATCH,
        dry_run: bool = False,
        field_manager: str = "",
        force: bool = False,
        field_validation: str = "",
    ) -> Object:
        """Patch with one of the four content types of `engine.api.wire`; `apply` needs a field manager."""
        query = _query(
            dryRun="All" if dry_run else None, fieldManager=field_manager, force=force, fieldValidation=field_validation
        )
        body: Object = await self.request(
            "PATCH",
            resource.path(namespace, name, subresource),
            query=query,
            body=patch,
            headers={"content-type": content_type},
        )
        return body

    async def delete(
        self,
        resource: GVR,
        name: str,
        *,
        namespace: str | None = None,
        grace_period_seconds: int | None = None,
        propagation_policy: str | None = None,
        preconditions: Object | None = None,
    ) -> Object:
        """Delete one object; returns it (it may live on with a deletionTimestamp) or a Status."""
        options: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if grace_period_seconds is not None:
            options["gracePeriodSeconds"] = grace_period_seconds
        if propagation_policy is not None:
            options["propagationPolicy"] = propagation_policy
        if preconditions is not None:
            options["preconditions"] = preconditions
        body: Object = await self.request("DELETE", resource.path(namespace, name), body=options)
        return body

    async def delete_collection(
        self, resource: GVR, *, namespace: str | None = None, label_selector: str = "", field_selector: str = ""
    ) -> None:
        query = _query(labelSelector=label_selector, fieldSelector=field_selector)
        await self.request("DELETE", resource.path(namespace), query=query)


def error_of(response: Response) -> ApiError:
    """The ApiError that a failed response stands for, also when its body is no Status."""
    body = response.body
    if isinstance(body, dict) and body.get("kind") == "Status":
        return ApiError.from_status(body, response.status)
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    return generic_server_response(response.status, text.strip())


__all__ = [
    "APPLY_PATCH",
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC_PATCH",
    "Client",
    "ObjectList",
    "Watch",
    "error_of",
]
