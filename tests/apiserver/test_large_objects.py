"""Objects near the most that the store takes at once (test/integration/apiserver/apply, very large objects)."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, Object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH
from engine.client import Client
from tests.apiserver.conftest import config_map

DATA = {f"this-key-is-very-long-so-as-to-create-a-very-large-serialized-fieldset-{i}": "A" for i in range(9999)}
LARGE: Object = {**config_map("web"), "data": DATA}


async def test_what_is_too_large_with_its_owners_is_stored_without(client: Client) -> None:
    made = await client.create(CONFIGMAPS, LARGE, namespace="default")
    assert "managedFields" not in made["metadata"]
    small = await client.create(CONFIGMAPS, config_map("put"), namespace="default")
    after = await client.update(CONFIGMAPS, {**small, "data": DATA})
    assert "managedFields" not in after["metadata"]
    await client.create(CONFIGMAPS, config_map("patched"), namespace="default")
    patch = {"data": DATA}
    after = await client.patch(CONFIGMAPS, "patched", patch, namespace="default", content_type=MERGE_PATCH)
    assert "managedFields" not in after["metadata"]


async def test_what_is_applied_needs_its_owners(client: Client) -> None:
    await client.create(CONFIGMAPS, LARGE, namespace="default")
    new: Object = {**LARGE, "metadata": {"name": "new"}}
    bare: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}
    for sent in (new, bare):  # who applies nothing makes known what was there before
        name = sent["metadata"]["name"]
        with pytest.raises(ApiError, match="request is too large") as caught:
            await client.patch(
                CONFIGMAPS, name, sent, namespace="default", content_type=APPLY_PATCH, field_manager="me"
            )
        assert (caught.value.code, caught.value.reason) == (500, "")


@pytest.mark.parametrize(
    ("finalizers", "message"),
    [
        (100_000, "etcdserver: request is too large"),
        (150_000, "rpc error: code = ResourceExhausted desc = trying to send message larger than max"),
    ],
)
async def test_what_is_too_large_without_its_owners_too(client: Client, finalizers: int, message: str) -> None:
    """TestObjectSizeResponses of test/integration/controlplane."""
    small = await client.create(CONFIGMAPS, config_map("small"), namespace="default")
    held = ["sample/sample"] * finalizers
    large: Object = {**config_map("web"), "metadata": {"name": "web", "finalizers": held}}
    with pytest.raises(ApiError, match=message) as caught:
        await client.create(CONFIGMAPS, large, namespace="default")
    assert (caught.value.code, caught.value.reason) == (500, "")
    small["metadata"]["finalizers"] = held
    with pytest.raises(ApiError, match=message) as caught:
        await client.update(CONFIGMAPS, small)
    assert (caught.value.code, caught.value.reason) == (500, "")
