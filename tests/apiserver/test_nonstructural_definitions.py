"""Definitions of before there was a need for structural schemas are served on, and told so (apiextensions-apiserver
pkg/controller/nonstructuralschema): they can only be in the store already."""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.types import GVR, Object
from engine.client import Client
from engine.store.sqlite import SqliteStore
from engine.store.types import Put
from engine.world import World
from tests.api.crd.samples import GROUP, definition

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
NAME = f"crontabs.{GROUP}"
SCHEMA = "spec.versions[0].schema.openAPIV3Schema"
TYPELESS = f"{SCHEMA}.properties[spec].type: Required value: must not be empty for specified object fields"
KEPT = "spec.preserveUnknownFields: Invalid value: true: must be false"


async def _conditions(client: Client, world: World) -> dict[str, tuple[str, str, str]]:
    await world.clock.sleep(1)
    found = await client.get(DEFINITIONS, NAME)
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in found["status"]["conditions"]}


async def test_what_is_not_structural_is_told_until_it_is(client: Client, store: SqliteStore, world: World) -> None:
    before: Object = definition({"description": "anything"})
    before["spec"]["preserveUnknownFields"] = True
    before["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
    key = f"/registry/apiextensions.k8s.io/customresourcedefinitions/{NAME}".encode()
    await store.txn([], [Put(key, orjson.dumps(before))])
    told = await _conditions(client, world)
    assert told["Established"][0] == "True"
    assert told["NonStructuralSchema"] == ("True", "Violations", f"[{KEPT}, {TYPELESS}]")
    whole: Any = {**definition()["spec"]["versions"][0]}
    for change, left in (
        ({"versions": [whole]}, KEPT),
        ({"preserveUnknownFields": False}, None),
    ):
        await client.patch(DEFINITIONS, NAME, {"spec": change})
        now = (await _conditions(client, world)).get("NonStructuralSchema")
        assert now == (("True", "Violations", left) if left else None)
