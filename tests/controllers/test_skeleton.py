"""The skeleton of controllers: retries, what is shown, and that a controller survives what may happen to it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar

import pytest

from engine.api.types import CONFIGMAPS, DEPLOYMENTS, Object
from engine.client import InformerFactory, object_key
from engine.config import ClusterConfig
from engine.controllers.controller import Controller, RetryLaterError
from engine.controllers.manager import MANAGER, ControllerManager
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, client_of, controller_identity, running, web


class Moody(Controller):
    """Fails as often as it is told to, then succeeds."""

    name = "deployment-controller"  # whose rights it borrows
    kind = "configmap"
    workers = 1
    max_retries = 3
    failures: ClassVar[int] = 0
    error: ClassVar[type[Exception]] = RuntimeError

    def set_up(self) -> None:
        self.tries: list[float] = []
        self.watch(CONFIGMAPS, self._changed)

    @staticmethod
    def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
        return [object_key(new)] if new is not None and new["metadata"]["namespace"] == "default" else []

    async def reconcile(self, key: str) -> None:
        self.tries.append(self.clock.monotonic())
        self.note(desired=1, actual=0)
        if len(self.tries) <= self.failures:
            raise self.error("not yet")


async def tried(
    cluster: TestCluster, monkeypatch: pytest.MonkeyPatch, failures: int, error: type[Exception] = RuntimeError
) -> Moody:
    monkeypatch.setattr(Moody, "failures", failures)
    monkeypatch.setattr(Moody, "error", error)
    (controller,) = cluster.manager.controllers
    assert isinstance(controller, Moody)
    await cluster.admin.create(
        CONFIGMAPS,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}},
        namespace="default",
    )
    await cluster.world.clock.sleep(60)
    return controller


@pytest.mark.parametrize(
    ("failures", "error", "tries"),
    [
        pytest.param(0, RuntimeError, 1, id="at once"),
        pytest.param(2, RuntimeError, 3, id="tried again"),
        pytest.param(9, RuntimeError, 4, id="given up"),
        pytest.param(6, RetryLaterError, 7, id="too early is no failure"),
    ],
)
async def test_a_reconcile_that_fails_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch, failures: int, error: type[Exception], tries: int
) -> None:
    async with running(world, controllers=(Moody,)) as cluster:
        controller = await tried(cluster, monkeypatch, failures, error)
        assert len(controller.tries) == tries
        gaps = [later - earlier for earlier, later in zip(controller.tries, controller.tries[1:], strict=False)]
        assert gaps == pytest.approx([0.005 * 2**n for n in range(tries - 1)])
        view = world.views.look("controllers/deployment-controller", {})
        assert view["reconciles"] == tries
        assert view["errors"] == (min(failures, tries) if error is RuntimeError else 0)
        outcome = getattr(error, "reason", error.__name__)
        assert view["last"][-1]["outcome"] == (outcome if failures else "ok")
        assert (view["last"][0]["desired"], view["last"][0]["actual"]) == (1, 0)


async def test_the_latency_of_a_controller_is_model_time_of_its_span(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = World.create(clock=world.clock, seed=1, latencies={"controller": (100, 100)})
    async with running(slow, controllers=(Moody,)) as cluster:
        await tried(cluster, monkeypatch, 0)
        spans = [span for span in slow.tracer.recent if span.verb == "reconcile"]
        assert [span.model_ms for span in spans] == [100]
        assert spans[0].object == "configmap/default/a"


async def test_a_rollout_goes_on_when_the_controllers_are_started_again(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster) as hands:
        hands.ready = lambda pod: False
        await cluster.admin.create(DEPLOYMENTS, web(3), namespace="default")
        await world.clock.sleep(5)
        await cluster.manager.stop()
        hands.ready = lambda pod: True
        hands.look_again()
        await world.clock.sleep(60)
        found = await cluster.admin.get(DEPLOYMENTS, "web", namespace="default")
        assert not found["status"].get("availableReplicas"), "nobody is there to see it"
        again = ControllerManager(
            lambda name: client_of(cluster.api, controller_identity(name), "again"), world, ClusterConfig()
        )
        await again.start()
        await cluster.available("web", 3)
        assert len(await cluster.events("SuccessfulCreate")) == 3, "no Pod was made twice"
        await again.stop()


async def test_all_controllers_have_a_view_while_they_run(world: World) -> None:
    async with running(world) as cluster:
        titles = [controller.title for controller in cluster.manager.controllers]
        assert len(set(titles)) == len(titles)
        assert [name for name in world.views if name.startswith("controllers/")] == sorted(
            f"controllers/{title}" for title in titles
        )
        await world.clock.sleep(30)
        seen = [json.loads(json.dumps(world.views.look(f"controllers/{title}", {}))) for title in titles]
        assert any(view["last"] for view in seen), "plain JSON, also where somebody looks from inside the process"
    assert not [name for name in world.views if name.startswith("controllers/")]


async def test_the_manager_asks_for_one_informer_of_each_resource(world: World) -> None:
    async with running(world) as cluster:
        assert isinstance(cluster.manager.informers, InformerFactory)
        view = world.views.look(f"informers/kube-controller-manager/{MANAGER}", {})
        resources = [each["resource"] for each in view]
        assert len(resources) == len(set(resources))
        assert {"pods", "deployments.apps", "leases.coordination.k8s.io"} <= set(resources)
