"""Mangled definitions and objects: whatever is in them, the server answers and stays whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from engine.api.types import Object, copy_object
from engine.client import Client
from tests.apiserver.test_custom_resources import CRON_TABS, DEFINITIONS, NAME, SCHEMA, _cron_tab, _definition

REQUESTS = 150
RULED: Object = {**SCHEMA, "x-kubernetes-validations": [{"rule": "self.replicas < 9", "messageExpression": "'m'"}]}
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**62,
    1.5,
    "",
    "x",
    "a.b",
    [],
    [1],
    {},
    {"a": 1},
    [[]],
    {"": {}},
    "object",
    "set",
    "^(",
)
KEYS = (
    "type",
    "items",
    "default",
    "enum",
    "oneOf",
    "not",
    "nullable",
    "pattern",
    "additionalProperties",
    "format",
    "f",
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in pairs:
        yield from _places(below, (*path, step))


def _mangled(obj: Object, chance: random.Random) -> Object:
    obj = copy_object(obj)
    for _ in range(chance.randint(1, 3)):
        *path, last = chance.choice(list(_places(obj)))
        found: Any = obj
        for step in path:
            found = found[step]
        value = orjson.loads(orjson.dumps(chance.choice(VALUES)))
        if isinstance(found, dict) and chance.random() < 0.3:
            found[chance.choice(KEYS)] = value
        else:
            found[last] = value
    return obj


@pytest.mark.parametrize("seed", range(4))
async def test_no_body_is_a_server_error(client: Client, seed: int) -> None:
    chance = random.Random(seed)
    headers = {"content-type": "application/json"}
    sound = _definition(RULED, subresources={"status": {}})
    await client.create(DEFINITIONS, sound)
    await client.create(CRON_TABS, _cron_tab(image="x"), namespace="default")
    targets = (
        ("POST", DEFINITIONS.path(), sound),
        ("PUT", DEFINITIONS.path(name=NAME), sound),
        ("POST", CRON_TABS.path("default"), _cron_tab("b", image="x", ports=[{"name": "p"}])),
        ("PUT", CRON_TABS.path("default", "a"), _cron_tab(image="x", ports=[{"name": "p"}])),
    )
    for _ in range(REQUESTS):
        method, path, obj = chance.choice(targets)
        body = orjson.dumps(_mangled(obj, chance))
        response = await client.send(method, path, body=body, headers=headers, query={"dryRun": ["All"]})
        assert response.status < 500, (response.body, body)
    assert (await client.get(CRON_TABS, "a", namespace="default"))["spec"] == {"image": "x", "replicas": 1}
