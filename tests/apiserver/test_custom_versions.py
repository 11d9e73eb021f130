"""What becomes of a custom object between its versions (apiextensions-apiserver test/integration/conversion)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.api.wire import MERGE_PATCH
from engine.apiserver.webhook_client import WebhookClient
from engine.client import Client
from tests.api.crd.samples import GROUP, definition
from tests.apiserver.test_custom_resources import DEFINITIONS

VERSIONS = ("v1beta1", "v1alpha1", "v1beta2")
WEBHOOK: Object = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": {"url": "https://localhost:1/"}, "conversionReviewVersions": ["v1"]},
}


def resource(version: str) -> GVR:
    return GVR(GROUP, version, "crontabs")


def versions(conversion: Object) -> Object:
    """Each version has a field of its own, and one that has a default in it alone. v1beta1 is stored."""
    made = definition()
    del made["metadata"]["uid"]
    made["spec"]["conversion"] = conversion
    [first] = made["spec"]["versions"]
    made["spec"]["versions"] = []
    for name in VERSIONS:
        defaults = {each: {"type": "boolean", **({"default": True} if each == name else {})} for each in VERSIONS}
        fields = {
            f"only-{name}": {"type": "string"},
            "text": {"type": "string"},
            "defaults": {"type": "object", "properties": defaults},
        }
        version = copy_object(first)
        version |= {"name": name, "storage": name == "v1beta1", "subresources": {"status": {}}}
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object", "properties": fields}
        made["spec"]["versions"].append(version)
    return made


def cron_tab(name: str, version: str, **spec: Any) -> Object:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "CronTab", "metadata": {"name": name}, "spec": spec}


def converted(obj: Object, target: str) -> Object:
    return {**obj, "apiVersion": target}


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Object, str], Object]], None]:
    """Lets a function convert, instead of a webhook."""

    def answer_with(convert: Callable[[Object, str], Object]) -> None:
        async def post(self: WebhookClient, config: Object, body: Object, **_: Any) -> Object:
            request = body["request"]
            objects = [convert(copy_object(each), request["desiredAPIVersion"]) for each in request["objects"]]
            response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
            return {"apiVersion": body["apiVersion"], "kind": body["kind"], "response": response}

        monkeypatch.setattr(WebhookClient, "post", post)

    return answer_with


@pytest.mark.parametrize("conversion", [{"strategy": "None"}, WEBHOOK], ids=["none", "webhook"])
@pytest.mark.parametrize("version", VERSIONS)
async def test_defaults_are_of_the_version_that_is_written_and_of_the_one_that_is_stored(
    client: Client, webhook: Callable[..., None], conversion: Object, version: str
) -> None:
    webhook(converted)
    await client.create(DEFINITIONS, versions(conversion))
    made = await client.create(resource(version), cron_tab("a", version, defaults={}), namespace="default")
    wanted = {"v1beta1": True, version: True}
    assert made["spec"]["defaults"] == wanted
    for each in VERSIONS:
        found = await client.get(resource(each), "a", namespace="default")
        assert (found["apiVersion"], found["spec"]["defaults"]) == (f"{GROUP}/{each}", wanted)


@pytest.mark.parametrize("conversion", [{"strategy": "None"}, WEBHOOK], ids=["none", "webhook"])
async def test_what_the_stored_version_does_not_know_is_lost(
    client: Client, webhook: Callable[..., None], conversion: Object
) -> None:
    webhook(converted)
    await client.create(DEFINITIONS, versions(conversion))
    sent = cron_tab("a", "v1beta2", **{"only-v1beta2": "x", "text": "y"})
    made = await client.create(resource("v1beta2"), sent, namespace="default")
    assert made["spec"] == {"text": "y"}
    patch = {"spec": {"only-v1beta2": "x", "text": "z"}}
    after = await client.patch(resource("v1beta2"), "a", patch, namespace="default", content_type=MERGE_PATCH)
    assert after["spec"] == {"text": "z"}
    stored = cron_tab("b", "v1beta1", **{"only-v1beta1": "x"})
    await client.create(resource("v1beta1"), stored, namespace="default")
    assert (await client.get(resource("v1alpha1"), "b", namespace="default"))["spec"] == {}


async def test_labels_that_a_webhook_gives_are_kept(client: Client, webhook: Callable[..., None]) -> None:
    def convert(obj: Object, target: str) -> Object:
        obj["metadata"] |= {"labels": {"to": target.rpartition("/")[2]}, "generation": 42, "finalizers": ["foo/bar"]}
        return converted(obj, target)

    webhook(convert)
    await client.create(DEFINITIONS, versions(WEBHOOK))
    made = await client.create(resource("v1beta2"), cron_tab("a", "v1beta2"), namespace="default")
    assert (made["metadata"]["labels"], made["metadata"]["generation"]) == ({"to": "v1beta2"}, 1)
    stored = await client.get(resource("v1beta1"), "a", namespace="default")
    assert stored["metadata"]["labels"] == {"to": "v1beta1"}
    assert "finalizers" not in stored["metadata"]


async def test_a_webhook_that_fails(client: Client, webhook: Callable[..., None]) -> None:
    await client.create(DEFINITIONS, versions(WEBHOOK))
    await client.create(resource("v1beta1"), cron_tab("a", "v1beta1"), namespace="default")

    def convert(obj: Object, target: str) -> Object:
        obj["metadata"]["uid"] = "42"
        return converted(obj, target)

    webhook(convert)
    other = resource("v1beta2")
    patch: Object = {"spec": {"text": "x"}}
    attempts: list[tuple[Callable[[], Any], str]] = [
        (lambda: client.get(other, "a", namespace="default"), "InternalError"),
        (lambda: client.list(other, namespace="default", limit=1), "StorageReadError"),
        (lambda: client.create(other, cron_tab("b", "v1beta2"), namespace="default"), ""),
        (lambda: client.patch(other, "a", patch, namespace="default", content_type=MERGE_PATCH), "InternalError"),
        (lambda: client.delete(other, "a", namespace="default"), "InternalError"),
    ]
    key = f"/{GROUP}/crontabs/default/a"
    for attempt, reason in attempts:
        with pytest.raises(ApiError, match="Kind=CronTab returned invalid object: must have the same UID: ") as caught:
            await attempt()
        assert (caught.value.code, caught.value.reason) == (500, reason)
        shown = f"/registry{key}" if reason == "StorageReadError" else key  # a list names the whole key
        corrupt = f"StorageError: corrupt object, Code: 7, Key: {shown}, ResourceVersion: 0, AdditionalErrorMsg: "
        assert (corrupt in str(caught.value)) == bool(reason)
    assert (await client.get(resource("v1beta1"), "a", namespace="default"))["spec"] == {}


async def test_there_is_no_cache_of_what_a_webhook_does_not_convert(
    client: Client, webhook: Callable[..., None]
) -> None:
    """Upstream's cache of a version holds what is converted: where it cannot be filled, only a page is read from the
    store (storage/cacher/delegator.go), and watches are refused; those that are open end."""

    def fail(obj: Object, target: str) -> Object:
        return {} if obj["metadata"]["name"] == "b" else converted(obj, target)

    webhook(converted)
    await client.create(DEFINITIONS, versions(WEBHOOK))
    other = resource("v1beta2")
    await client.create(resource("v1beta1"), cron_tab("a", "v1beta1"), namespace="default")
    assert len((await client.list(other, namespace="default")).items) == 1
    watch = await client.watch(other, namespace="default")
    webhook(fail)
    await client.create(resource("v1beta1"), cron_tab("b", "v1beta1"), namespace="default")
    assert [event.object["metadata"]["name"] async for event in watch] == ["a"]
    attempts: list[Callable[[], Any]] = [
        lambda: client.list(other, namespace="default"),
        lambda: client.list(other),
        lambda: client.list(other, resource_version="0"),
        lambda: client.list(other, namespace="default", limit=1, label_selector="a=b"),
        lambda: client.watch(other),
    ]
    for attempt in attempts:
        with pytest.raises(ApiError, match=r"^storage is \(re\)initializing$") as caught:
            await attempt()
        assert (caught.value.code, caught.value.reason) == (429, "TooManyRequests")
        assert caught.value.details == {"retryAfterSeconds": 1}
    page = await client.list(other, namespace="default", limit=1)
    assert [each["metadata"]["name"] for each in page.items] == ["a"]
    with pytest.raises(ApiError) as caught:
        await client.list(other, namespace="default", limit=1, continue_=page.continue_)
    assert (caught.value.code, caught.value.reason) == (500, "StorageReadError")
    assert len((await client.list(resource("v1beta1"))).items) == 2
    webhook(converted)
    assert len((await client.list(other)).items) == 2
    await (await client.watch(other)).aclose()


async def test_a_selector_looks_at_what_the_webhook_has_made(client: Client, webhook: Callable[..., None]) -> None:
    """And what is no longer selected is told of as it was (test/integration/fieldselector_test.go)."""

    def convert(obj: Object, target: str) -> Object:
        before = "only-v1beta1" if target.endswith("/v1beta2") else "only-v1beta2"
        after = f"only-{target.rpartition('/')[2]}"
        obj["spec"] = {after: text} if (text := obj["spec"].get(before)) else {}
        return converted(obj, target)

    webhook(convert)
    made = versions(WEBHOOK)
    for version in made["spec"]["versions"]:
        version["selectableFields"] = [{"jsonPath": f".spec.only-{version['name']}"}]
    await client.create(DEFINITIONS, made)
    told = {}
    for version in ("v1beta1", "v1beta2"):
        field = f"only-{version}"
        watches = [
            await client.watch(resource(version), namespace="default", field_selector=f"spec.{field}{wanted}")
            for wanted in ("=blue", "!=blue", "=blue,metadata.name=b")
        ]
        for name in ("a", "b"):
            sent = cron_tab(name, version, **{field: "blue"})
            await client.create(resource(version), sent, namespace="default")
        patch = {"spec": {field: "green"}}
        await client.patch(resource(version), "a", patch, namespace="default", content_type=MERGE_PATCH)
        for name in ("a", "b"):
            await client.delete(resource(version), name, namespace="default")
        seen = [
            [await anext(aiter(watch)) for _ in range(count)] for watch, count in zip(watches, (4, 2, 2), strict=True)
        ]
        told[version] = [
            [(event.type, event.object["metadata"]["name"], event.object["spec"][field]) for event in events]
            for events in seen
        ]
        for event in (event for events in seen for event in events):
            assert (event.object["apiVersion"], event.object["metadata"]["resourceVersion"]) == (
                f"{GROUP}/{version}",
                str(event.revision),
            )
    assert told["v1beta1"] == told["v1beta2"]
    assert told["v1beta1"] == [
        [("ADDED", "a", "blue"), ("ADDED", "b", "blue"), ("DELETED", "a", "blue"), ("DELETED", "b", "blue")],
        [("ADDED", "a", "green"), ("DELETED", "a", "green")],
        [("ADDED", "b", "blue"), ("DELETED", "b", "blue")],
    ]


async def test_an_update_that_changes_nothing_writes_what_is_kept_otherwise(client: Client) -> None:
    """In the version that is stored now, and with the defaults of now; once (test/integration/defaulting_test.go)."""

    async def patched() -> tuple[str, Object]:
        after = await client.patch(resource("v1beta1"), "a", {}, namespace="default", content_type=MERGE_PATCH)
        return after["metadata"]["resourceVersion"], after["spec"]

    await client.create(DEFINITIONS, versions({"strategy": "None"}))
    made = await client.create(resource("v1beta1"), cron_tab("a", "v1beta1", defaults={}), namespace="default")
    revision = made["metadata"]["resourceVersion"]
    assert await patched() == (revision, {"defaults": {"v1beta1": True}})
    definition = await client.get(DEFINITIONS, f"crontabs.{GROUP}")
    for version in definition["spec"]["versions"]:
        version["storage"] = version["name"] == "v1beta2"
    definition = await client.update(DEFINITIONS, definition)
    migrated, _ = await patched()
    assert migrated != revision
    defaulted, spec = await patched()  # the default of the version that is stored now is shown since, and kept now
    assert (defaulted != migrated, spec) == (True, {"defaults": {"v1beta1": True, "v1beta2": True}})
    assert await patched() == (defaulted, spec)
    properties = definition["spec"]["versions"][-1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    properties["text"] = {"type": "string", "default": "x"}
    await client.update(DEFINITIONS, definition)
    found = await client.get(resource("v1beta1"), "a", namespace="default")
    assert (found["metadata"]["resourceVersion"], found["spec"]["text"]) == (defaulted, "x")
    last, spec = await patched()
    assert (last != defaulted, spec["text"]) == (True, "x")
    assert await patched() == (last, spec)
