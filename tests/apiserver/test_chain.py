from __future__ import annotations

import json

from engine.api.types import CONFIGMAPS, PODS, Object
from engine.client import Client
from tests.apiserver.conftest import pod


async def test_a_pod_is_created_read_and_listed(client: Client, default_account: Object) -> None:
    created = await client.create(PODS, pod(), namespace="default")
    print(json.dumps(created, indent=1))
    assert await client.get(PODS, "web", namespace="default") == created
    assert (await client.list(PODS, namespace="default")).items == [created]
    assert (await client.list(CONFIGMAPS, namespace="default")).items == []
