"""What the horizontal Pod autoscaler tells of metrics and Pods that it cannot reckon with."""

from __future__ import annotations

import pytest

from engine.api.types import Object
from engine.controllers.features import tells_metric_errors_last
from engine.controllers.podautoscaler.controller import AUTOSCALERS
from engine.controllers.podautoscaler.metric_texts import failure, not_served
from engine.controllers.podautoscaler.metrics import MetricError
from engine.world import World
from tests.controllers.cluster import PodHands, running
from tests.controllers.objects import DEFINITIONS, ROLLOUT, ROLLOUTS
from tests.controllers.test_autoscaling import make_web

CPU: Object = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
SERVED_BY_NOBODY: dict[str, tuple[Object, str, str]] = {
    "pods": (
        {"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "1"}}},
        "unable to get metric qps: unable to fetch metrics from custom metrics API: "
        "no custom metrics API (custom.metrics.k8s.io) registered",
        "failed to get pods metric value: unable to get metric qps: ",
    ),
    "object": (
        {
            "type": "Object",
            "object": {
                "metric": {"name": "qps"},
                "describedObject": {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "main"},
                "target": {"type": "Value", "value": "1"},
            },
        },
        "unable to get metric qps on Ingress default/main: unable to fetch metrics from custom metrics API: "
        "no custom metrics API (custom.metrics.k8s.io) registered",
        "failed to get object metric value: unable to get metric qps on ",
    ),
    "external": (
        {
            "type": "External",
            "external": {
                "metric": {"name": "queue", "selector": {"matchLabels": {"q": "a"}}},
                "target": {"type": "Value", "value": "1"},
            },
        },
        "unable to get external metric default/queue/&LabelSelector{MatchLabels:map[string]string{q: a,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: "
        "the server could not find the requested resource (get queue.external.metrics.k8s.io)",
        "failed to get external metric value: failed to get queue external metric: unable to get external metric ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SERVED_BY_NOBODY)
def test_what_is_told_of_metrics_that_nobody_serves(kind: str) -> None:
    metric, text, prefixed = SERVED_BY_NOBODY[kind]
    said = failure(metric, MetricError(not_served(metric, "default")))
    assert (said.reason, said.text) == (f"FailedGet{metric['type']}Metric", text)
    assert said.prefixed.startswith(prefixed)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.36", "unable to get metric qps: Ingress on default main/unable to fetch metrics from"),
        ("1.37", "unable to get metric qps on Ingress default/main: unable to fetch metrics from"),
    ],
)
def test_before_1_37_what_is_wrong_with_the_metric_of_an_object_is_told_amid_its_name(version: str, text: str) -> None:
    """Upstream's pull request 139029."""
    metric, *_ = SERVED_BY_NOBODY["object"]
    assert not_served(metric, "default", error_last=tells_metric_errors_last(version)).startswith(text)


async def test_which_pods_a_target_has_must_be_told_and_told_once(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await make_web(cluster)
        await cluster.admin.create(DEFINITIONS, ROLLOUT)
        made = {"apiVersion": "example.com/v1", "kind": "Rollout", "metadata": {"name": "odd"}, "spec": {"replicas": 1}}
        await cluster.admin.create(ROLLOUTS, made, namespace="default")

        async def create(name: str, reference: Object, *metrics: Object) -> None:
            spec = {"maxReplicas": 4, "scaleTargetRef": reference, "metrics": list(metrics)}
            await cluster.admin.create(AUTOSCALERS, {"metadata": {"name": name}, "spec": spec}, namespace="default")

        async def told(name: str, reason: str) -> Object:
            async def found() -> Object | None:
                status = (await cluster.admin.get(AUTOSCALERS, name, namespace="default")).get("status") or {}
                active = (each for each in status.get("conditions") or () if each["type"] == "ScalingActive")
                return next((status for each in active if each["reason"] == reason), None)

            status: Object = await cluster.eventually(f"{name} says {reason}", found)
            return status

        def message(status: Object) -> str:
            return next(str(each["message"]) for each in status["conditions"] if each["type"] == "ScalingActive")

        web = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        memory = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Ki"}}
        unserved = SERVED_BY_NOBODY["pods"]
        await create("web", web, unserved[0], {"type": "Resource", "resource": memory})
        await create("odd", {"apiVersion": "example.com/v1", "kind": "Rollout", "name": "odd"}, CPU)

        status = await told("web", "ValidMetricFound")
        assert message(status).endswith("from memory resource")
        first, second = status["currentMetrics"]
        assert first == {"type": ""}, "the place of the metric that could not be had"
        assert second["resource"]["current"]["averageValue"].isdigit(), "bytes, in no unit"
        older = await cluster.admin.get(AUTOSCALERS._replace(version="v1"), "web", namespace="default")
        assert older["status"]["currentReplicas"] >= 1
        assert await cluster.events("FailedGetPodsMetric") == [unserved[1]], "told though another metric decides"

        assert message(await told("odd", "InvalidSelector")) == "the HPA target's scale is missing a selector"
        assert await cluster.events("SelectorRequired") == ["selector is required"]
        assert "selector is required" in await cluster.events("FailedComputeMetricsReplicas")

        await cluster.admin.delete(AUTOSCALERS, "odd", namespace="default")
        await create("rival", web, CPU)
        both = "pods by selector app=web are controlled by multiple HPAs: [default/rival default/web]"
        status = await told("rival", "AmbiguousSelector")
        assert message(status) == both
        assert both in await cluster.events("FailedComputeMetricsReplicas")
        assert message(await told("web", "AmbiguousSelector")) == both
        assert not (await told("web", "AmbiguousSelector")).get("currentMetrics")
