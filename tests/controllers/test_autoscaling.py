"""The horizontal Pod autoscaler: what it proposes, how fast it goes, and a target end to end."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import DEPLOYMENTS, Object
from engine.controllers.podautoscaler.controller import AUTOSCALERS
from engine.controllers.podautoscaler.limits import History, normalize
from engine.controllers.podautoscaler.replicas import MetricError, propose
from engine.world import World
from tests.controllers.cluster import PodHands, running
from tests.controllers.objects import deployment


def pod(name: str, *, ready: bool = True, phase: str = "Running", cpu: str | None = "1") -> Object:
    requests = {"requests": {"cpu": cpu}} if cpu else {}
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "resources": requests}]},
        "status": {"phase": phase, "conditions": [condition]},
    }


# Pods as (ready, use in thousandths), then the current size, the target in percent and what comes of it.
PROPOSALS = {
    "twice the target": ([(True, 1000), (True, 1000)], 2, 50, 4),
    "half the target": ([(True, 250), (True, 250)], 2, 50, 1),
    "within the tolerance": ([(True, 540), (True, 540)], 2, 50, 2),
    "a pod that is not ready counts as idle when there are to be more": ([(True, 1000), (False, 0)], 2, 50, 2),
    "far above even so": ([(True, 3000), (False, 0)], 2, 50, 6),
    "nor when there are to be fewer": ([(True, 100), (True, 100), (False, 0)], 3, 50, 1),
}  # fmt: skip


@pytest.mark.parametrize("case", PROPOSALS)
def test_proposals(case: str) -> None:
    states, current, target, wanted = PROPOSALS[case]
    pods = [pod(f"p{number}", ready=ready) for number, (ready, _) in enumerate(states)]
    used = {f"p{number}": {"c": use} for number, (_, use) in enumerate(states)}
    found = propose(pods, used, resource="cpu", container="", current=current, utilization=target, average=None)
    assert found.replicas == wanted


def test_a_target_in_percent_needs_requests() -> None:
    with pytest.raises(MetricError, match="missing request for cpu in container c of Pod a"):
        propose([pod("a", cpu=None)], {"a": {"c": 1}}, resource="cpu", container="", current=1, utilization=50,
                average=None)  # fmt: skip


def scaler(behavior: Object | None = None, **spec: Any) -> Object:
    spec = {"minReplicas": 1, "maxReplicas": 20, **spec}
    return {"spec": {**spec, "behavior": behavior} if behavior else spec}


SLOW: Object = {
    "scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]},
    "scaleDown": {"policies": [{"type": "Percent", "value": 50, "periodSeconds": 60}], "stabilizationWindowSeconds": 0},
}
LIMITS = {
    "twice at most": (scaler(), 5, 15, 10, "ScaleUpLimit"),
    "but four at least": (scaler(), 1, 15, 4, "ScaleUpLimit"),
    "the maximum": (scaler(maxReplicas=6), 5, 15, 6, "TooManyReplicas"),
    "in range": (scaler(), 5, 6, 6, "DesiredWithinRange"),
    "one by one": (scaler(SLOW), 5, 15, 6, "ScaleUpLimit"),
    "half by half": (scaler(SLOW), 8, 1, 4, "ScaleDownLimit"),
    "the minimum": (scaler(SLOW, minReplicas=6), 8, 1, 6, "TooFewReplicas"),
    "never down": (scaler({"scaleDown": {"selectPolicy": "Disabled", "stabilizationWindowSeconds": 0}}), 8, 1, 8,
                   "ScaleDownLimit"),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITS)
def test_limits(case: str) -> None:
    autoscaler, current, desired, allowed, reason = LIMITS[case]
    verdict = normalize(autoscaler, History(desired, 0.0), current=current, desired=desired, now=1000.0)
    assert (verdict.replicas, verdict.limited[1]) == (allowed, reason)


def test_a_policy_counts_what_was_done_within_its_period() -> None:
    history = History(5, 0.0)
    history.scaled(5, 6, 1000.0)
    assert normalize(scaler(SLOW), history, current=6, desired=9, now=1030.0).replicas == 6
    assert normalize(scaler(SLOW), history, current=6, desired=9, now=1061.0).replicas == 7


async def test_a_deployment_follows_its_load(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        web = deployment(replicas=1)
        web["metadata"] = {"name": "web"}
        web.pop("status")
        web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}}
        await cluster.admin.create(DEPLOYMENTS, web, namespace="default")
        await cluster.available("web", 1)
        target = {"type": "Utilization", "averageUtilization": 50}
        autoscaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "annotations": {"ktui.io/cpu-load": "1500m"}},
            "spec": {
                "minReplicas": 1,
                "maxReplicas": 10,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            },
        }
        await cluster.admin.create(AUTOSCALERS, autoscaler, namespace="default")
        await cluster.available("web", 6)
        await world.clock.sleep(20)
        status = (await cluster.admin.get(AUTOSCALERS, "web", namespace="default"))["status"]
        assert (status["currentReplicas"], status["desiredReplicas"]) == (6, 6)
        assert status["currentMetrics"][0]["resource"]["current"] == {
            "averageUtilization": 50,
            "averageValue": "250m",
        }
        assert "New size: 6; reason: cpu resource utilization (percentage of request) above target" in (
            await cluster.events("SuccessfulRescale")
        )
        patch = {"metadata": {"annotations": {"ktui.io/cpu-load": "250m"}}}
        await cluster.admin.patch(AUTOSCALERS, "web", patch, namespace="default")
        await world.clock.sleep(200)
        kept = (await cluster.admin.get(AUTOSCALERS, "web", namespace="default"))["status"]
        assert kept["desiredReplicas"] == 6, "the window of stabilisation has not passed"
        able = next(each for each in kept["conditions"] if each["type"] == "AbleToScale")
        assert able["reason"] == "ScaleDownStabilized"
        await cluster.available("web", 1)
