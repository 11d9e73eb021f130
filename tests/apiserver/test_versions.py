"""One stored object, several versions."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import EVENTS, GVR, Object
from engine.client import Client

NEW_EVENTS = GVR("events.k8s.io", "v1", "events")
OLD = GVR("autoscaling", "v1", "horizontalpodautoscalers")
NEW = GVR("autoscaling", "v2", "horizontalpodautoscalers")
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def event() -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web.1"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
        "reason": "Scheduled",
        "message": "Successfully assigned default/web to node-1",
        "source": {"component": "default-scheduler"},
        "type": "Normal",
        "count": 1,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }


async def test_an_event_is_seen_in_both_groups(client: Client) -> None:
    async with await client.watch(NEW_EVENTS, resource_version="0") as watch:
        await client.create(EVENTS, event(), namespace="default")
        seen = (await anext(aiter(watch))).object
    assert (seen["apiVersion"], seen["note"]) == ("events.k8s.io/v1", event()["message"])
    new = await client.get(NEW_EVENTS, "web.1", namespace="default")
    assert (new["apiVersion"], new["regarding"]["name"], new["deprecatedCount"]) == ("events.k8s.io/v1", "web", 1)
    assert new["deprecatedSource"] == {"component": "default-scheduler"}
    order = ["kind", "apiVersion", "metadata", "eventTime", "reason"]
    order += ["regarding", "note", "type", "deprecatedSource", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"]
    assert list(new) == list(seen) == [*order, "deprecatedCount"]
    assert (await client.list(NEW_EVENTS)).items == [new]


async def test_an_autoscaler_of_the_old_version_is_stored_as_the_new(client: Client) -> None:
    old = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": 3, "targetCPUUtilizationPercentage": 70},
    }
    made = await client.create(OLD, old, namespace="default")
    assert (made["apiVersion"], made["spec"]["targetCPUUtilizationPercentage"]) == ("autoscaling/v1", 70)
    new = await client.get(NEW, "web", namespace="default")
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
    assert new["spec"]["metrics"] == [{"type": "Resource", "resource": cpu}]
    memory = {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}}
    metrics = [*new["spec"]["metrics"], {"type": "Resource", "resource": memory}]
    metadata = {**new["metadata"], "annotations": {"z": "1"}}
    await client.update(NEW, {**new, "metadata": metadata, "spec": {**new["spec"], "metrics": metrics}})
    again = await client.get(OLD, "web", namespace="default")
    assert again["spec"]["targetCPUUtilizationPercentage"] == 70
    assert list(again["metadata"]["annotations"]) == sorted(again["metadata"]["annotations"])
    assert list(again["metadata"])[-2:] == ["annotations", "managedFields"]
    assert "memory" in again["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"]
    both = await client.update(OLD, {**again, "spec": {**again["spec"], "maxReplicas": 5}})
    assert both["spec"]["maxReplicas"] == 5
    assert len((await client.get(NEW, "web", namespace="default"))["spec"]["metrics"]) == 2


async def test_an_autoscaler_of_the_old_version_says_its_default_at_once(client: Client) -> None:
    """What is answered is what is read afterwards, and to write it again changes nothing."""
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3}
    old = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}, "spec": spec}
    made = await client.create(OLD, old, namespace="default")
    assert made["spec"]["targetCPUUtilizationPercentage"] == 80
    assert made == await client.get(OLD, "web", namespace="default")
    assert made == await client.update(OLD, made)


ANNOTATION = "autoscaling.alpha.kubernetes.io/"
# What an autoscaler of autoscaling/v1 says, and what is wrong with it: told as of v2, which it becomes.
OF_V1: dict[str, tuple[dict[str, str], Object, str]] = {
    "no part of the CPU": (
        {},
        {"targetCPUUtilizationPercentage": 0},
        "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
    ),
    "a metric of its annotations that is none": (
        {f"{ANNOTATION}metrics": '[{"type":"Pods"}]'},
        {},
        "spec.metrics[0].pods: Required value: must populate information for the given metric source",
    ),
    "a policy of its annotations": (
        {f"{ANNOTATION}behavior": '{"ScaleUp":{"SelectPolicy":"Some"}}'},
        {},
        'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Some": supported values: "Disabled", "Max", "Min"',
    ),
}


@pytest.mark.parametrize("name", OF_V1)
async def test_an_autoscaler_of_the_old_version_is_looked_at_as_what_it_becomes(name: str, client: Client) -> None:
    annotations, said, wrong = OF_V1[name]
    good: Object = {"metadata": {"name": "web"}, "spec": {"scaleTargetRef": TARGET, "maxReplicas": 3}}
    bad = {"metadata": {"name": "web", "annotations": annotations}, "spec": {**good["spec"], **said}}
    with pytest.raises(ApiError) as caught:
        await client.create(OLD, bad, namespace="default")
    assert wrong in caught.value.message
    made = await client.create(OLD, good, namespace="default")
    metadata = {**made["metadata"], "annotations": annotations}
    with pytest.raises(ApiError) as caught:
        await client.update(OLD, {**made, "metadata": metadata, "spec": {**made["spec"], **said}})
    assert wrong in caught.value.message


async def test_broken_annotations_of_the_old_version_are_let_be(client: Client) -> None:
    metadata = {"name": "web", "annotations": {f"{ANNOTATION}metrics": "[1]"}}
    obj = {"metadata": metadata, "spec": {"scaleTargetRef": TARGET, "maxReplicas": 3}}
    await client.create(OLD, obj, namespace="default")
    (metric,) = (await client.get(NEW, "web", namespace="default"))["spec"]["metrics"]
    assert metric["resource"]["name"] == "cpu"


@pytest.mark.parametrize(
    "text", ["nonsense", '[{"type":"Pods","pods":{"metricName":"x","targetAverageValue":"5","y":1}}]']
)
async def test_annotations_of_the_old_version_are_answered_as_they_are_read(text: str, client: Client) -> None:
    """They are written anew from what they say, and nobody is told to own those that say nothing."""
    metadata = {"name": "web", "annotations": {f"{ANNOTATION}metrics": text, "a": "b"}}
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3}
    made = await client.create(OLD, {"metadata": metadata, "spec": spec}, namespace="default")
    assert made == await client.get(OLD, "web", namespace="default")
    assert text not in made["metadata"]["annotations"].values()
    (owner,) = made["metadata"]["managedFields"]
    owned = {f"f:{name}" for name in made["metadata"]["annotations"]}
    assert set(owner["fieldsV1"]["f:metadata"]["f:annotations"]) == {".", *owned}
    again = await client.update(OLD, {**made, "metadata": {**made["metadata"], "annotations": metadata["annotations"]}})
    assert again == made


async def test_annotations_of_the_old_version_are_of_its_spec_and_its_status(client: Client) -> None:
    """Each changes by the resource that its field in the new version changes by, and the generation counts the spec."""
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    made = await client.create(OLD, {"metadata": {"name": "web"}, "spec": spec}, namespace="default")
    metrics = '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":50}}]'
    conditions = '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]'
    annotations = {f"{ANNOTATION}metrics": metrics, f"{ANNOTATION}conditions": conditions}

    def told(obj: Object) -> Object:
        return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}

    changed = await client.update(OLD, told(made), subresource="status")
    assert changed["metadata"]["annotations"] == {f"{ANNOTATION}conditions": conditions}
    assert changed["metadata"]["generation"] == 1
    new = await client.get(NEW, "web", namespace="default")
    assert (len(new["status"]["conditions"]), len(new["spec"]["metrics"])) == (1, 1)
    await client.update(NEW, {**new, "status": {**new["status"], "conditions": []}}, subresource="status")
    changed = await client.update(OLD, told(await client.get(OLD, "web", namespace="default")))
    assert changed["metadata"]["annotations"] == {f"{ANNOTATION}metrics": metrics}
    assert changed["metadata"]["generation"] == 2
    new = await client.get(NEW, "web", namespace="default")
    assert ("conditions" in new["status"], len(new["spec"]["metrics"])) == (False, 2)
    other = told({**made, "metadata": {"name": "other"}})
    assert set((await client.create(OLD, other, namespace="default"))["metadata"]["annotations"]) == {
        f"{ANNOTATION}metrics"
    }
