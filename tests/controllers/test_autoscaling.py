"""The horizontal Pod autoscaler: what it proposes, how fast it goes, and a target end to end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest

from engine.api import resource_metrics
from engine.api.crd.naming import is_true
from engine.api.types import DEPLOYMENTS, GVR, Object
from engine.config import ClusterConfig
from engine.controllers.podautoscaler.controller import AUTOSCALERS
from engine.controllers.podautoscaler.limits import History, normalize
from engine.controllers.podautoscaler.metrics import MetricError
from engine.controllers.podautoscaler.replicas import Target, Tolerances, propose
from engine.controllers.podautoscaler.zero import after_rescale
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running
from tests.controllers.objects import DEFINITIONS, ROLLOUT, ROLLOUTS, deployment

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR_AGO = "2025-12-31T23:00:00Z"


def pod(number: int, mark: str, request: str | None = "1") -> Object:
    """A Pod by its mark: `+` is ready, `-` is starting, `x` has lost its readiness long ago, `?` is ready and not
    measured, `P` is pending, `F` has failed, `D` is being deleted."""
    started = "2025-12-31T23:59:00Z" if mark == "-" else HOUR_AGO
    ready = {"type": "Ready", "status": "False" if mark in "-x" else "True", "lastTransitionTime": started}
    if mark == "x":
        ready["lastTransitionTime"] = "2025-12-31T23:50:00Z"
    requests = {"requests": {"cpu": request, "memory": "1Ki"}} if request else {}
    return {
        "metadata": {"name": f"p{number}", **({"deletionTimestamp": HOUR_AGO} if mark == "D" else {})},
        "spec": {"containers": [{"name": "c", "resources": requests}]},
        "status": {
            "phase": {"P": "Pending", "F": "Failed"}.get(mark, "Running"),
            "startTime": started,
            "conditions": [ready],
        },
    }


class Case(NamedTuple):
    """Pods by mark, what each uses in thousandths, how many there are, the target in percent; the size and percents
    that come of it."""

    pods: str
    use: tuple[int, ...]
    target: int
    size: int
    percent: int
    behavior: Object | None = None
    resource: str = "cpu"
    current: int = 0


# After upstream's TestReplicaCalc* (replica_calculator_test.go).
PROPOSALS = {
    "scale up": Case("+++", (300, 500, 700), 30, 5, 50),
    "scale up, one is starting": Case("-++", (300, 500, 700), 30, 4, 60),
    "scale up, most are starting": Case("+--", (400, 500, 700), 30, 3, 40),
    "scale up, one is pending": Case("++P", (500, 700, 0), 30, 4, 60),
    "failed ones are out": Case("++FF", (500, 700, 0, 0), 30, 4, 60, current=2),
    "ones that are being deleted are out": Case("+++DD", (300, 500, 700, 0, 0), 30, 5, 50, current=3),
    "scale down": Case("+++++", (100, 300, 500, 250, 250), 50, 3, 28),
    "scale down, some are starting": Case("+++--", (100, 300, 500, 250, 250), 50, 2, 30),
    "one that was ready before counts as it is": Case("++x", (300, 500, 700), 30, 5, 50),
    "memory does not wait for readiness": Case("-++", (300, 500, 700), 30, 5, 50, resource="memory"),
    "within the tolerance": Case("+++", (1010, 1030, 1020), 100, 3, 102),
    "just within": Case("++", (550, 550), 50, 2, 55),
    "a tolerance of its own": Case("++", (550, 550), 50, 3, 55, {"scaleUp": {"tolerance": "50m"}}),
    "a wide tolerance of its own": Case("++", (350, 350), 50, 2, 35, {"scaleDown": {"tolerance": "0.4"}}),
    "unmeasured ones use all where fewer would do": Case("++?", (100, 100, 0), 50, 3, 10),
    "unmeasured ones use nothing where more would do": Case("++?", (1000, 1000, 0), 50, 4, 100),
    "unmeasured ones turn nothing around": Case("+?", (400, 0), 30, 2, 40),
    "unmeasured, down a little": Case("++++?", (100, 100, 100, 100, 0), 100, 2, 10),
}  # fmt: skip


@pytest.mark.parametrize("case", PROPOSALS)
def test_proposals(case: str) -> None:
    row = PROPOSALS[case]
    pods = [pod(number, mark) for number, mark in enumerate(row.pods)]
    unit = 1 if row.resource == "cpu" else 1024
    used = {
        f"p{number}": {"c": use * unit}
        for number, (mark, use) in enumerate(zip(row.pods, row.use, strict=True))
        if mark not in "?P"
    }
    found = propose(
        pods, used, Target(row.target, None), resource=row.resource, current=row.current or len(pods),
        tolerances=Tolerances.of(row.behavior or {}), now=NOW,
    )  # fmt: skip
    assert (found.replicas, found.utilization) == (row.size, row.percent)


@pytest.mark.parametrize(
    ("marks", "use", "average", "size"),
    [
        pytest.param("++", (1000, 1000), 500, 4, id="up"),
        pytest.param("++++", (100, 100, 100, 100), 400, 1, id="down"),
        pytest.param("++?", (100, 100, 0), 400, 2, id="an unmeasured one uses the target"),
        pytest.param("+-", (1000, 0), 400, 3, id="a starting one uses nothing"),
    ],
)
def test_proposals_by_average(marks: str, use: tuple[int, ...], average: int, size: int) -> None:
    pods = [pod(number, mark, None) for number, mark in enumerate(marks)]
    used = {f"p{number}": {"c": amount} for number, amount in enumerate(use) if marks[number] != "?"}
    found = propose(
        pods, used, Target(None, average), resource="cpu", current=len(pods), tolerances=Tolerances(), now=NOW
    )
    assert (found.replicas, found.utilization) == (size, None)


@pytest.mark.parametrize(
    ("started", "resource", "percent"),
    [
        pytest.param("2025-12-31T23:59:00Z", "cpu", 50, id="while it starts"),
        pytest.param("2025-12-31T23:50:00Z", "cpu", 70, id="long after its start"),
        pytest.param("2025-12-31T23:59:00Z", "memory", 70, id="of memory"),
    ],
)
def test_a_pod_that_was_measured_before_it_was_ready_is_not_reckoned_with(
    started: str, resource: str, percent: int
) -> None:
    pods = [pod(0, "+"), pod(1, "+")]
    pods[1]["status"]["startTime"] = started
    pods[1]["status"]["conditions"][0]["lastTransitionTime"] = "2025-12-31T23:59:40Z"
    unit = 1 if resource == "cpu" else 1024
    found = propose(
        pods, {"p0": {"c": 500 * unit}, "p1": {"c": 900 * unit}}, Target(50, None), resource=resource, current=2,
        tolerances=Tolerances(), now=NOW, since=dict.fromkeys(("p0", "p1"), NOW - timedelta(seconds=30)),
    )  # fmt: skip
    assert found.utilization == percent


def with_own_requests(made: Object, **requests: str) -> Object:
    return {**made, "spec": {**made["spec"], "resources": {"requests": requests}}}


def test_what_a_whole_pod_asks_for_is_what_counts_unless_one_container_is_meant() -> None:
    pods = [with_own_requests(pod(0, "+"), cpu="2")]

    def percent(container: str) -> int | None:
        return propose(
            pods, {"p0": {"c": 500}}, Target(50, None), resource="cpu", container=container, current=1,
            tolerances=Tolerances(), now=NOW,
        ).utilization  # fmt: skip

    assert (percent(""), percent("c")) == (25, 50)


@pytest.mark.parametrize(
    ("pods", "error"),
    [
        pytest.param([], "no pods returned by selector while calculating replica count", id="no Pods"),
        pytest.param(
            [pod(0, "P")], "did not receive metrics for targeted pods (pods might be unready)", id="none is measured"
        ),
        pytest.param([pod(0, "+", None)], "missing request for cpu in container c of Pod p0", id="no requests"),
        pytest.param(
            [pod(0, "P", None)], "did not receive metrics for targeted pods (pods might be unready)",
            id="neither measured nor with requests",
        ),
        pytest.param(
            [with_own_requests(pod(0, "+", None), memory="1Gi")], "missing pod-level request for cpu in Pod p0",
            id="no requests of the whole Pod",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_computed(pods: list[Object], error: str) -> None:
    with pytest.raises(MetricError) as raised:
        propose(pods, {"p0": {"c": 1}}, Target(50, None), resource="cpu", current=1, tolerances=Tolerances(), now=NOW)
    assert str(raised.value) == error


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


@pytest.mark.parametrize(
    ("behavior", "recommended", "current", "desired", "allowed", "reason"),
    [
        pytest.param({}, (10, 1), 10, 3, 10, "ScaleDownStabilized", id="default: the highest of five minutes"),
        pytest.param(
            {"scaleUp": {"stabilizationWindowSeconds": 60}}, (5, 7), 5, 9, 5, "ScaleUpStabilized",
            id="up: the lowest of the window",
        ),
        pytest.param(
            {"scaleUp": {"stabilizationWindowSeconds": 60}}, (2, 3), 5, 9, 5, "ScaleUpStabilized",
            id="up: never down",
        ),
        pytest.param(
            {"scaleDown": {"stabilizationWindowSeconds": 60}}, (4, 6), 8, 2, 6, "ScaleDownStabilized",
            id="down: the highest of the window",
        ),
        pytest.param(
            {"scaleDown": {"stabilizationWindowSeconds": 60}}, (9, 12), 8, 2, 8, "ScaleDownStabilized",
            id="down: never up",
        ),
    ],
)  # fmt: skip
def test_stabilisation(
    behavior: Object, recommended: tuple[int, ...], current: int, desired: int, allowed: int, reason: str
) -> None:
    history = History(recommended[0], 990.0)
    for number, each in enumerate(recommended[1:]):
        history.recommend(each, 991.0 + number, keep=300.0)
    verdict = normalize(scaler(behavior), history, current=current, desired=desired, now=1000.0)
    assert (verdict.replicas, verdict.able[1]) == (allowed, reason)


def test_what_went_down_within_a_period_may_come_up_again() -> None:
    history = History(5, 0.0)
    history.scaled(8, 5, 1000.0)
    assert normalize(scaler(SLOW), history, current=5, desired=12, now=1030.0).replicas == 9


async def make_web(cluster: TestCluster) -> None:
    """A Deployment of one Pod, which asks for half a CPU."""
    await cluster.eventually_service_account("default")
    web = deployment(replicas=1)
    web["metadata"] = {"name": "web"}
    web.pop("status")
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}}
    await cluster.admin.create(DEPLOYMENTS, web, namespace="default")
    await cluster.available("web", 1)


async def test_a_deployment_follows_its_load(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await make_web(cluster)
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
        assert [each["observedGeneration"] for each in (status, *status["conditions"])] == [1, 1, 1, 1, 1]
        kinds = ["AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"]
        assert [each["type"] for each in status["conditions"]] == kinds
        said = "the HPA controller did not scale the workload to zero"
        zero = status["conditions"][-1]
        assert (zero["status"], zero["reason"], zero["message"]) == ("False", "NotScaledToZero", said)
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


NO_API = "the server could not find the requested resource (get pods.metrics.k8s.io)"


async def test_what_the_metrics_api_does_not_tell(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await make_web(cluster)
        target = {"type": "Utilization", "averageUtilization": 50}
        autoscaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"},
            "spec": {
                "maxReplicas": 10,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            },
        }
        await cluster.admin.create(AUTOSCALERS, autoscaler, namespace="default")

        async def active(reason: str) -> str:
            """What the condition ScalingActive says once it has the reason."""

            async def found() -> str:
                status = (await cluster.admin.get(AUTOSCALERS, "web", namespace="default")).get("status") or {}
                same = (each for each in status.get("conditions", ()) if each["type"] == "ScalingActive")
                return next((str(each["message"]) for each in same if each["reason"] == reason), "")

            return str(await cluster.eventually(reason, found))

        unable = "the HPA was unable to compute the replica count: failed to get cpu utilization: "
        unable += "unable to get metrics for resource cpu: "
        assert await active("FailedGetResourceMetric") == f"{unable}no metrics returned from resource metrics API"
        await active("ValidMetricFound")
        await cluster.admin.delete(API_SERVICES, "v1beta1.metrics.k8s.io")
        away = f"unable to fetch metrics from resource metrics API: {NO_API}"
        assert await active("FailedGetResourceMetric") == unable + away
        container = {"name": "cpu", "container": "nope", "target": target}
        metrics = [{"type": "ContainerResource", "containerResource": container}]
        await cluster.admin.create(API_SERVICES, resource_metrics.api_service())

        async def available() -> bool:
            return is_true(await cluster.admin.get(API_SERVICES, "v1beta1.metrics.k8s.io"), "Available")

        await cluster.eventually("the API is there again, until when it answers 503", available)
        await cluster.admin.patch(AUTOSCALERS, "web", {"spec": {"metrics": metrics}}, namespace="default")
        said = await active("FailedGetContainerResourceMetric")
        assert "failed to get container metrics: container nope not present in metrics for pod default/web-" in said


def by_cpu(load: str) -> Object:
    """An autoscaler of web, whose Pods use so much together."""
    target = {"type": "Utilization", "averageUtilization": 50}
    return {
        "metadata": {"name": "web", "annotations": {"ktui.io/cpu-load": load}},
        "spec": {
            "maxReplicas": 10,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }


@pytest.mark.parametrize(("version", "at_once"), [("1.36", False), ("1.37", True)])
async def test_a_new_or_changed_autoscaler_waits_for_its_turn_up_to_1_36(
    world: World, version: str, at_once: bool
) -> None:
    async with running(world, config=ClusterConfig(kubernetes_version=version)) as cluster, PodHands(cluster):

        async def seen() -> tuple[bool, int | None]:
            """Whether it was looked at, and which size it wants."""
            status = (await cluster.admin.get(AUTOSCALERS, "web", namespace="default")).get("status") or {}
            return bool(status.get("conditions")), status.get("desiredReplicas")

        await make_web(cluster)
        await world.clock.sleep(60)
        await cluster.admin.create(AUTOSCALERS, by_cpu("1000m"), namespace="default")
        await world.clock.sleep(5)
        assert await seen() == ((True, 4) if at_once else (False, 0))
        await world.clock.sleep(27)
        assert await seen() == (True, 4)
        await cluster.admin.patch(AUTOSCALERS, "web", {"spec": {"minReplicas": 5}}, namespace="default")
        await world.clock.sleep(5)
        assert await seen() == (True, 5 if at_once else 4)


async def test_a_size_that_earlier_recommendations_ask_for_has_no_reason(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await make_web(cluster)
        await cluster.admin.create(AUTOSCALERS, by_cpu("1000m"), namespace="default")
        await cluster.available("web", 4)
        await world.clock.sleep(30)
        less = {"metadata": {"annotations": {"ktui.io/cpu-load": "500m"}}}
        await cluster.admin.patch(AUTOSCALERS, "web", less, namespace="default")
        await cluster.admin.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, namespace="default")
        await cluster.available("web", 4)
        assert "New size: 4; reason: " in await cluster.events("SuccessfulRescale")


async def test_a_custom_resource_with_a_scale_is_a_target(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(DEFINITIONS, ROLLOUT)
        made = {"apiVersion": "example.com/v1", "kind": "Rollout", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
        await cluster.admin.create(ROLLOUTS, made, namespace="default")
        target = {"type": "Utilization", "averageUtilization": 50}
        autoscaler: Object = {
            "metadata": {"name": "web"},
            "spec": {
                "minReplicas": 3,
                "maxReplicas": 10,
                "scaleTargetRef": {"apiVersion": "example.com/v1", "kind": "Rollout", "name": "web"},
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            },
        }
        await cluster.admin.create(AUTOSCALERS, autoscaler, namespace="default")

        async def scaled() -> bool:
            found = await cluster.find(ROLLOUTS, "web")
            return found is not None and found["spec"]["replicas"] == 3

        await cluster.eventually("the custom resource is scaled", scaled)


EXTERNAL: Object = {
    "type": "External",
    "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}},
}
RESOURCE: Object = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}}


@pytest.mark.parametrize(
    ("least", "metrics", "current", "desired", "reason"),
    [
        pytest.param(0, [EXTERNAL], 3, 0, "ScaledToZero", id="to zero"),
        pytest.param(0, [RESOURCE, EXTERNAL], 1, 0, "ScaledToZero", id="one metric of the two is enough"),
        pytest.param(0, [RESOURCE], 3, 0, "NotScaledToZero", id="Pods alone cannot tell when they are needed again"),
        pytest.param(0, [EXTERNAL], 0, 2, "NotScaledToZero", id="and up again"),
        pytest.param(0, [EXTERNAL], 3, 2, "NotScaledToZero", id="not that far"),
        pytest.param(1, [EXTERNAL], 3, 1, "NotScaledToZero", id="not allowed to"),
    ],
)
def test_who_took_the_replicas(least: int, metrics: list[Object], current: int, desired: int, reason: str) -> None:
    found = after_rescale({"minReplicas": least, "metrics": metrics}, current, desired)
    assert (found.status, found.reason) == (str(reason == "ScaledToZero"), reason)


async def test_a_target_with_no_replicas_wakes_only_if_its_autoscaler_put_it_to_sleep(world: World) -> None:
    async with running(world) as cluster:
        idle = deployment(replicas=0)
        idle["metadata"] = {"name": "web"}
        idle.pop("status")
        await cluster.admin.create(DEPLOYMENTS, idle, namespace="default")
        autoscaler: Object = {
            "metadata": {"name": "web"},
            "spec": {
                "minReplicas": 0,
                "maxReplicas": 10,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "metrics": [EXTERNAL],
            },
        }
        await cluster.admin.create(AUTOSCALERS, autoscaler, namespace="default")

        async def active(reason: str) -> Object:
            async def found() -> Object | None:
                status = (await cluster.admin.get(AUTOSCALERS, "web", namespace="default")).get("status") or {}
                told = {each["type"]: each.get("reason") for each in status.get("conditions", ())}
                return status if told.get("ScalingActive") == reason else None

            status: Object = await cluster.eventually(reason, found)
            return status

        status = await active("ScalingDisabled")
        zero = {
            "type": "ScaledToZero",
            "status": "True",
            "reason": "ScaledToZero",
            "message": "the HPA controller scaled the workload to zero",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        owned = {"status": {"conditions": [*status["conditions"], zero]}}
        await cluster.admin.patch(AUTOSCALERS, "web", owned, namespace="default", subresource="status")
        kept = await active("FailedGetExternalMetric")  # it asks again, though nobody serves the metric
        assert kept["conditions"][-1] == zero
