"""What a new expression may speak of in a release: what the release before knew (apiserver pkg/cel/environment, base.go
and environment_test.go; preexisting expressions: validation of admissionregistration and of apiextensions)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.test_admission_configuration import client as client_of

CRDS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CLASSES = GVR("resource.k8s.io", "v1", "deviceclasses")
HOOKS = GVR("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
SORTED = "[2, 1].sort() == [1, 2]"
SINCE: dict[str, tuple[int, int]] = {
    "[1].isSorted() && 'a'.find('a') == 'a' && isURL('a')": (1, 28),
    "quantity('1').isInteger()": (1, 29),
    "sets.contains([1], [1])": (1, 30),
    "'%d'.format([1]) == strings.quote('1')": (1, 30),
    "ip('1.2.3.4').family() == 4": (1, 31),
    "cidr('10.0.0.0/8').prefixLength() == 8": (1, 31),
    "!format.dns1123Label().validate(request.name).hasValue()": (1, 32),
    "authorizer.group('').resource('pods').labelSelector('a=b').check('get').allowed()": (1, 32),
    "authorizer.group('').resource('pods').namespace('a').check('get').allowed()": (1, 28),
    "[1].all(i, v, i < v)": (1, 33),
    "{'a': 1}.transformList(k, v, k) == ['a']": (1, 33),
    "isSemver('1.0.0')": (1, 34),
    SORTED: (1, 35),
    "[2, 1].sortBy(each, each) == [1, 2]": (1, 35),
    "lists.range(2).reverse() == [1, 0]": (1, 35),
}


@asynccontextmanager
async def started(world: World, store: SqliteStore, version: str) -> AsyncIterator[Client]:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    yield client_of(server)
    await server.stop()


def hooks(name: str, *expressions: str) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "a.example.com",
                "clientConfig": {"url": "https://localhost"},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "matchConditions": [{"name": f"c{i}", "expression": each} for i, each in enumerate(expressions)],
            }
        ],
    }


async def refused(call: Any) -> list[tuple[str, str]]:
    with pytest.raises(ApiError) as told:
        await call
    assert told.value.details is not None
    return [(cause["field"], cause["message"]) for cause in told.value.details["causes"]]


def undeclared(name: str, column: int, source: str) -> str:
    pointer = "." * (column - 1)
    return (
        f"compilation failed: ERROR: <input>:1:{column}: undeclared reference to '{name}' (in container '')\n"
        f" | {source}\n | {pointer}^"
    )


async def test_a_new_expression_speaks_of_what_the_release_before_knew(world: World, store: SqliteStore) -> None:
    for minor in (28, 29, 30, 31, 32, 33, 34, 35):
        later = {f"webhooks[0].matchConditions[{i}].expression" for i, since in enumerate(SINCE.values())
                 if since > (1, minor)}  # fmt: skip
        async with started(world, store, f"1.{minor}") as client:
            creating = client.create(HOOKS, hooks(f"of-{minor}", *SINCE))
            if later:
                assert {field for field, _ in await refused(creating)} == later, minor
            else:
                await creating


async def test_what_a_device_selector_speaks_of(world: World, store: SqliteStore) -> None:
    """Whether it may be shared a device is asked since DRAConsumableCapacity is on."""
    since = {
        "device.allowMultipleAllocations": (1, 36),
        SORTED: (1, 35),
        "cel.bind(d, device.driver, d == 'a')": (1, 34),
    }
    selectors = [{"cel": {"expression": each}} for each in since]
    made = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "spec": {"selectors": selectors}}
    for minor in (34, 35, 36):
        later = {f"spec.selectors[{i}].cel.expression" for i, each in enumerate(since.values()) if each > (1, minor)}
        async with started(world, store, f"1.{minor}") as client:
            creating = client.create(CLASSES, {**made, "metadata": {"name": f"of-{minor}"}})
            if later:
                assert {field for field, _ in await refused(creating)} == later, minor
            else:
                await creating


async def test_what_was_there_before_may_stay(world: World, store: SqliteStore) -> None:
    rule = "self.items.sort() == self.items"
    spec: Object = {
        "type": "object",
        "properties": {"items": {"type": "array", "maxItems": 5, "items": {"type": "integer"}}},
    }
    spec["x-kubernetes-validations"] = [{"rule": rule}]
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec}}
    definition: Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }
    async with started(world, store, "1.37") as client:
        await client.create(HOOKS, hooks("a", SORTED))
        await client.create(CRDS, definition)

    async with started(world, store, "1.34") as client:
        known = copy_object(await client.get(HOOKS, "a"))
        known["webhooks"][0]["matchConditions"].append({"name": "more", "expression": f" {SORTED}"})
        known["webhooks"][0]["matchConditions"].append({"name": "new", "expression": f"true && {SORTED}"})
        at, told = "webhooks[0].matchConditions[2].expression", f"true && {SORTED}"
        [(field, message)] = await refused(client.update(HOOKS, known))
        assert (field, message) == (at, f'Invalid value: "{told}": {undeclared("sort", 20, told)}')

        known = copy_object(await client.get(CRDS, "things.example.com"))
        schema = known["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["x-kubernetes-validations"].append({"rule": "self.items.distinct() == self.items"})
        [(field, message)] = await refused(client.update(CRDS, known))
        assert field.endswith(".x-kubernetes-validations[1].rule")
        assert message.endswith(undeclared("distinct", 20, "self.items.distinct() == self.items"))
        schema["x-kubernetes-validations"][1]["rule"] = "self.items.size() > 0"
        await client.update(CRDS, known)

        other = {**definition, "metadata": {"name": "others.example.com"}}
        other["spec"] = {**definition["spec"], "names": {"plural": "others", "kind": "Other"}}
        [(field, message)] = await refused(client.create(CRDS, other))
        assert message.endswith(undeclared("sort", 16, rule))
