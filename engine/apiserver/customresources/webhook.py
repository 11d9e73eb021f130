"""Conversion of custom resources by their author's webhook: ConversionReview over HTTPS.

What a watch or list shows is made of stored objects one by one; their conversions are asked for beforehand, in
one request for many, and kept by the version that they are for. Source of the behaviour: apiextensions-apiserver
pkg/apiserver/conversion/webhook_converter.go, apiserver pkg/util/webhook.
"""

from __future__ import annotations

import ssl
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Sequence

import aiohttp
import orjson

from engine.api.crd.version import CustomVersion
from engine.api.errors import ApiError, internal
from engine.api.resources import ResourceInfo
from engine.api.types import ENDPOINTS, GVK, SERVICES, Object
from engine.api.wire import EventStream, Metered, WatchEvent
from engine.apiserver.lookup import Lookup
from engine.rng import Rng

_TIMEOUT = 30.0  # seconds on this machine's clock: the webhook is no part of the model


class ConversionError(Exception):
    """The webhook did not convert; the message says why."""


class WebhookConverter:
    def __init__(self, lookup: Lookup, uids: Rng) -> None:
        self._lookup = lookup
        self._uids = uids

    async def prepare(self, info: ResourceInfo, stored: Sequence[Object]) -> None:
        """Convert stored objects to the version of a resource, where a webhook must. Raises ApiError 500."""
        version = info.extension
        if not isinstance(version, CustomVersion) or version.webhook is None:
            return
        foreign = [obj for obj in stored if not version.known(obj)]
        if not foreign:
            return
        converted = await self._convert(version.webhook, foreign, info.gvk)
        for before, after in zip(foreign, converted, strict=True):
            version.keep(before, _with_metadata(after, before))

    async def to_storage(self, info: ResourceInfo, obj: Object) -> Object:
        """An object in the version that is stored. Raises ApiError 500."""
        version = info.extension
        if not isinstance(version, CustomVersion) or version.webhook is None or info.storage_gvk == info.gvk:
            return obj
        (converted,) = await self._convert(version.webhook, [obj], info.storage_gvk)
        return _with_metadata(converted, obj)

    async def _convert(self, webhook: Object, objects: Sequence[Object], target: GVK) -> list[Object]:
        source = f"{objects[0]['apiVersion']}, Kind={objects[0]['kind']}"
        try:
            return await self._ask(webhook, objects, target)
        except (ConversionError, aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            why = str(error) or type(error).__name__
            raise internal(f"conversion webhook for {source} failed: {why}") from None

    async def _ask(self, webhook: Object, objects: Sequence[Object], target: GVK) -> list[Object]:
        review_version = next(each for each in webhook["conversionReviewVersions"] if each in ("v1", "v1beta1"))
        uid = self._uids.uid()
        review = {
            "kind": "ConversionReview",
            "apiVersion": f"apiextensions.k8s.io/{review_version}",
            "request": {"uid": uid, "desiredAPIVersion": target.api_version, "objects": list(objects)},
        }
        response = (await self._post(webhook["clientConfig"], review)).get("response") or {}
        if response.get("uid") != uid:
            raise ConversionError(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
        result = response.get("result") or {}
        if result.get("status") != "Success":
            raise ConversionError(
                result.get("message") or f"response.result.status was '{result.get('status', '')}', not 'Success'"
            )
        converted = response.get("convertedObjects") or []
        if len(converted) != len(objects):
            raise ConversionError(f"expected {len(objects)} converted objects, got {len(converted)}")
        for before, after in zip(objects, converted, strict=True):
            _check(before, after, target)
        return list(converted)

    async def _post(self, client: Object, review: Object) -> Object:
        url, server_name = await self._address(client)
        context = ssl.create_default_context(
            cadata=b64decode(client["caBundle"]).decode() if client.get("caBundle") else None
        )
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(
                url,
                data=orjson.dumps(review),
                headers={"content-type": "application/json", "accept": "application/json, */*"},
                ssl=context,
                server_hostname=server_name,
            ) as answer,
        ):
            body = await answer.read()
            if answer.status != 200:
                raise ConversionError(
                    f"the server answered with {answer.status}: {body[:200].decode(errors='replace')}"
                )
            found = orjson.loads(body)
            return found if isinstance(found, dict) else {}

    async def _address(self, client: Object) -> tuple[str, str | None]:
        """The URL, and the name that the certificate must be for where it is not the URL's."""
        if "url" in client:
            return client["url"], None
        service = client["service"]
        namespace, name, port = service["namespace"], service["name"], service.get("port", 443)
        found = await self._lookup.find(SERVICES, namespace, name)
        if found is None:
            raise ConversionError(f'service "{name}" not found')
        path = "/" + service.get("path", "").lstrip("/")
        host, real_port = await self._endpoint(found, port)
        return f"https://{host}:{real_port}{path}", f"{name}.{namespace}.svc"

    async def _endpoint(self, service: Object, port: int) -> tuple[str, int]:
        """Where the Service leads to: its external name, or the first ready address behind it."""
        spec, metadata = service["spec"], service["metadata"]
        if spec.get("type") == "ExternalName":
            return spec["externalName"], port
        name = next((each.get("name", "") for each in spec.get("ports", ()) if each["port"] == port), None)
        endpoints = await self._lookup.find(ENDPOINTS, metadata["namespace"], metadata["name"])
        for subset in (endpoints or {}).get("subsets") or ():
            for found in subset.get("ports") or ():
                if subset.get("addresses") and found.get("name", "") == (name or ""):
                    return subset["addresses"][0]["ip"], found["port"]
        raise ConversionError(f'no endpoints available for service "{metadata["name"]}"')


def _check(before: Object, after: Object, target: GVK) -> None:
    """A webhook may change all but what an object is (validateConvertedObject)."""
    if after.get("apiVersion") != target.api_version or after.get("kind") != before["kind"]:
        raise ConversionError(
            f"invalid groupVersion (expected {target.api_version} received {after.get('apiVersion', '')})"
        )
    old, new = before["metadata"], after.get("metadata") or {}
    for field in ("name", "namespace", "uid"):
        if new.get(field, "") != old.get(field, ""):
            raise ConversionError(f"must have the same {field}: {old.get(field, '')} != {new.get(field, '')}")


def _with_metadata(converted: Object, before: Object) -> Object:
    """Of the metadata a webhook changes labels and annotations only."""
    metadata = {key: value for key, value in before["metadata"].items() if key not in ("labels", "annotations")}
    changed = converted.get("metadata") or {}
    metadata |= {key: changed[key] for key in ("labels", "annotations") if changed.get(key)}
    return {**converted, "metadata": metadata}


class ConvertedEvents:
    """A watch of a version that a webhook makes: each object is converted before it is shown."""

    def __init__(
        self,
        source: EventStream,
        converter: WebhookConverter,
        info: ResourceInfo,
        *,
        change: Callable[[WatchEvent], WatchEvent],
    ) -> None:
        self._source = source
        self._iterator = source.__aiter__()
        self._converter = converter
        self._info = info
        self._change = change

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        event = await self._iterator.__anext__()
        if event.type in ("BOOKMARK", "ERROR"):
            return event
        try:
            await self._converter.prepare(self._info, [event.object])
        except ApiError as error:
            return WatchEvent("ERROR", error.status)
        return self._change(event)

    def count_bytes(self, size: int) -> None:
        if isinstance(self._source, Metered):
            self._source.count_bytes(size)

    async def aclose(self) -> None:
        await self._source.aclose()
