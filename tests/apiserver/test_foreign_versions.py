"""Who owns fields of a custom object in another version than that of a write: the object is converted to it.

After kubernetes/kubernetes #117260 and #136919 and controller-runtime #2022 (webhooks are called for it, and may fail),
and what an applier meets whose version knows less than another's (JOSDK's notes about upgrades of definitions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH
from engine.apiserver.webhook_client import WebhookClient, WebhookError
from engine.client import Client
from tests.api.crd.samples import GROUP, definition
from tests.apiserver.test_custom_resources import DEFINITIONS

WEBHOOK: Object = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": {"url": "https://localhost:1/"}, "conversionReviewVersions": ["v1"]},
}
TEXT: Object = {"type": "string"}
NAME = "web"
Convert = Callable[[Object, str], Object]


async def define(client: Client, conversion: Object, **fields: Object) -> None:
    """A version for each argument, with these fields in its spec; v1 is stored."""
    made = definition()
    del made["metadata"]["uid"]
    made["spec"]["conversion"] = conversion
    [first] = made["spec"]["versions"]
    made["spec"]["versions"] = []
    for name, properties in fields.items():
        version = {**copy_object(first), "name": name, "storage": name == "v1", "subresources": {"status": {}}}
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object", "properties": properties}
        made["spec"]["versions"].append(version)
    await client.create(DEFINITIONS, made)


def tab(version: str, **spec: Any) -> Object:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "CronTab", "metadata": {"name": NAME}, "spec": spec}


async def apply(client: Client, obj: Object, manager: str, *, force: bool = False) -> Object:
    resource = GVR(GROUP, obj["apiVersion"].rpartition("/")[2], "crontabs")
    return await client.patch(
        resource, NAME, obj, namespace="default", content_type=APPLY_PATCH, field_manager=manager, force=force
    )


async def merge(client: Client, manager: str, **spec: Any) -> Object:
    v1 = GVR(GROUP, "v1", "crontabs")
    return await client.patch(
        v1, NAME, {"spec": spec}, namespace="default", content_type=MERGE_PATCH, field_manager=manager
    )


def owners(obj: Object) -> dict[str, Object]:
    return {entry["manager"]: entry["fieldsV1"].get("f:spec") for entry in obj["metadata"].get("managedFields", ())}


def renamed(obj: Object, target: str) -> Object:
    """v1 has a host and a port, v2 both in one."""
    spec = obj.get("spec") or {}
    if target.endswith("v2"):
        found = {"hostPort": f"{spec.get('host', '')}:{spec.get('port', '')}"}
    else:
        host, _, port = spec.get("hostPort", "").partition(":")
        found = {key: text for key, text in (("host", host), ("port", port)) if text}
    return {**obj, "apiVersion": target, "spec": found}


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Callable[[Convert | None], None]:
    """Lets a function convert, instead of a webhook; none is a webhook that is away."""

    def answer_with(convert: Convert | None) -> None:
        async def post(self: WebhookClient, config: Object, body: Object, **_: Any) -> Object:
            if convert is None:
                raise WebhookError("connection refused")
            request = body["request"]
            objects = [convert(copy_object(each), request["desiredAPIVersion"]) for each in request["objects"]]
            response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
            return {"apiVersion": body["apiVersion"], "kind": body["kind"], "response": response}

        monkeypatch.setattr(WebhookClient, "post", post)

    return answer_with


@pytest.fixture
async def renaming(client: Client, webhook: Callable[..., None]) -> Client:
    webhook(renamed)
    await define(client, WEBHOOK, v1={"host": TEXT, "port": TEXT}, v2={"hostPort": TEXT})
    await apply(client, tab("v2", hostPort="a:1"), "newer")
    return client


async def test_a_field_that_another_version_calls_otherwise_is_its_owners_all_the_same(renaming: Client) -> None:
    with pytest.raises(ApiError) as refused:
        await apply(renaming, tab("v1", host="b"), "older")
    assert refused.value.message == 'Apply failed with 1 conflict: conflict with "newer": .spec.hostPort'
    forced = await apply(renaming, tab("v1", host="b"), "older", force=True)
    assert (forced["spec"], owners(forced)) == ({"host": "b", "port": "1"}, {"older": {"f:host": {}}})


async def test_an_update_takes_it_from_its_owner_too(renaming: Client) -> None:
    assert owners(await merge(renaming, "updater", port="2")) == {"updater": {"f:port": {}}}


async def test_what_is_applied_in_a_newer_version_replaces_what_the_older_had(renaming: Client) -> None:
    await apply(renaming, tab("v1", host="a", port="1"), "older")
    moved = await apply(renaming, tab("v2", hostPort="a:1"), "older")
    assert (moved["spec"], owners(moved)) == (
        {"hostPort": "a:1"},
        {"newer": {"f:hostPort": {}}, "older": {"f:hostPort": {}}},
    )


async def test_while_the_webhook_is_away_nothing_is_applied_and_an_update_leaves_the_owners_as_they_were(
    renaming: Client, webhook: Callable[..., None]
) -> None:
    before = owners(await renaming.get(GVR(GROUP, "v1", "crontabs"), NAME, namespace="default"))
    webhook(None)
    with pytest.raises(ApiError) as refused:
        await apply(renaming, tab("v1", host="b"), "older", force=True)
    assert (refused.value.code, refused.value.message) == (
        500,
        f"conversion webhook for {GROUP}/v1, Kind=CronTab failed: connection refused",
    )
    written = await merge(renaming, "updater", port="2")
    assert (written["spec"]["port"], owners(written)) == ("2", before)


async def test_an_older_version_does_not_know_what_is_applied(client: Client) -> None:
    await define(client, {"strategy": "None"}, v1={"a": TEXT, "b": TEXT}, v2={"a": TEXT})
    await apply(client, tab("v2", a="1"), "narrow")
    with pytest.raises(ApiError) as refused:
        await apply(client, tab("v1", b="1"), "wide")
    assert (refused.value.code, refused.value.message) == (
        500,
        "failed to convert new object: .spec.b: field not declared in schema",
    )
    with pytest.raises(ApiError) as refused:
        await apply(client, tab("v1", a="1", b="1"), "narrow")
    assert refused.value.message == (
        "failed to prune fields: failed to convert merged object to last applied version: "
        ".spec.b: field not declared in schema"
    )
    written = await merge(client, "updater", b="1")
    assert (written["spec"], owners(written)) == ({"a": "1", "b": "1"}, {"narrow": {"f:a": {}}})
    with pytest.raises(ApiError) as refused:  # the live object is the first that must be had there
        await apply(client, tab("v1", a="1"), "other")
    assert refused.value.message == ".spec.b: field not declared in schema"


async def test_who_owns_in_a_version_that_is_served_no_more_does_so_until_the_version_is_gone(client: Client) -> None:
    await define(client, {"strategy": "None"}, v1={"a": TEXT, "b": TEXT}, v2={"a": TEXT, "b": TEXT})
    await apply(client, tab("v2", a="1"), "newer")
    name = f"crontabs.{GROUP}"
    made = copy_object(await client.get(DEFINITIONS, name))
    made["spec"]["versions"][1]["served"] = False
    made = copy_object(await client.update(DEFINITIONS, made))
    assert owners(await apply(client, tab("v1", b="1"), "older")) == {"newer": {"f:a": {}}, "older": {"f:b": {}}}
    with pytest.raises(ApiError, match="conflict with"):
        await apply(client, tab("v1", a="2", b="1"), "older")
    del made["spec"]["versions"][1]
    await client.update(DEFINITIONS, made)
    assert owners(await apply(client, tab("v1", b="2"), "older")) == {"older": {"f:b": {}}}
