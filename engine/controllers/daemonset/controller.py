"""The DaemonSet controller (pkg/controller/daemon/daemon_controller.go)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.strategies.daemon_generation import TEMPLATE_GENERATION
from engine.api.types import GVK, GVR, NODES, PODS, Object, copy_object
from engine.client import NORMAL, WARNING, object_key
from engine.controllers.daemonset.fitting import daemon_tolerations, fit, pinned_to
from engine.controllers.daemonset.planning import (
    POD_GENERATION,
    Plan,
    by_node,
    daemon_set_status,
    plan_nodes,
    plan_update,
    target_node,
)
from engine.controllers.history import CONTROLLER_REVISIONS, POD_REVISION, History, same_content
from engine.controllers.ownership import OWNER_INDEX, by_controller_uid
from engine.controllers.pod_control import namespace_terminating, pod_from_template
from engine.controllers.pod_owner import PodOwnerController
from engine.controllers.slow_start import as_failure, slow_start

DAEMON_SETS = GVR("apps", "v1", "daemonsets")
KIND = GVK("apps", "v1", "DaemonSet")
BURST_REPLICAS = 250
MAX_FAILURE_DELAY = 900.0


class DaemonSetController(PodOwnerController):
    name = "daemon-set-controller"
    kind = "daemonset"
    resource = DAEMON_SETS
    gvk = KIND
    event_source = "daemonset-controller"
    workers = 2

    def set_up(self) -> None:
        self._nodes = self.lister(NODES)
        self.watch_pods()
        self.index(CONTROLLER_REVISIONS, OWNER_INDEX, by_controller_uid)
        self._history = History(
            self.client,
            self.lister(CONTROLLER_REVISIONS),
            resource=DAEMON_SETS,
            kind=KIND,
            hash_label=POD_REVISION,
        )
        # When a Pod last failed and how long to wait then, by DaemonSet and Node.
        self._failures: dict[tuple[str, str], tuple[float, float]] = {}
        self.watch(NODES, self._node_changed)

    def _node_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """The DaemonSets for which the Node now counts otherwise than before."""
        return [
            object_key(each)
            for each in self.owners.list()
            if (old is None or new is None or fit(each, old) != fit(each, new))
            and any(tuple(fit(each, node)) != (False, False) for node in (old, new) if node is not None)
        ]

    async def reconcile(self, key: str) -> None:
        daemon_set = self.owners.by_key(key)
        if daemon_set is None:
            self.expectations.forget(key)
            return
        self.writes.check(daemon_set)
        if not daemon_set["spec"].get("selector"):
            message = "This daemon set is selecting all pods. A non-empty selector is required."
            self.recorder.event(daemon_set, WARNING, "SelectingAll", message)
            return
        if daemon_set["metadata"].get("deletionTimestamp"):
            return
        known = await self._history.claim(daemon_set)
        known = [await self._history.labelled(each) for each in known]
        collisions = (daemon_set.get("status") or {}).get("collisionCount")
        current, counted = await self._history.current(daemon_set, known, collisions=collisions or 0)
        hashed = current["metadata"]["labels"][POD_REVISION]
        old = [each for each in known if not same_content(each, current)]
        await self._join(daemon_set, current, [each for each in known if each not in old])
        collisions = counted if counted else collisions
        satisfied = self.expectations.satisfied(key)
        try:
            if satisfied:
                await self._manage(key, daemon_set, hashed)
                if self.expectations.satisfied(key):
                    await self._roll(key, daemon_set, hashed)
                await self._forget_revisions(daemon_set, old)
        finally:
            await self._report(key, daemon_set, hashed, collisions=collisions, observed=satisfied)

    async def _join(self, daemon_set: Object, current: Object, equal: list[Object]) -> None:
        """Of revisions that keep the same template one is left, which all Pods are then of (dedupCurHistories)."""
        others = [each for each in equal if each["metadata"]["name"] != current["metadata"]["name"]]
        if not others:
            return
        labels = {POD_REVISION: current["metadata"]["labels"][POD_REVISION]}
        for pod in self.owned_pods(daemon_set):
            metadata = pod["metadata"]
            if not labels.items() <= (metadata.get("labels") or {}).items():
                changed = {"metadata": {"labels": labels}}
                await self.client.patch(PODS, metadata["name"], changed, namespace=metadata["namespace"])
        await self._history.delete(others)

    async def _forget_revisions(self, daemon_set: Object, old: list[Object]) -> None:
        """As many old revisions as are too many, the oldest first of those that no Pod has (cleanupHistory)."""
        hashes = {(pod["metadata"].get("labels") or {}).get(POD_REVISION) for pod in self.owned_pods(daemon_set)}
        unused = [each for each in old if each["metadata"]["labels"].get(POD_REVISION) not in hashes]
        surplus = len(old) - int(daemon_set["spec"].get("revisionHistoryLimit", 10))
        await self._history.delete(unused[: max(0, surplus)])

    async def _manage(self, key: str, daemon_set: Object, hashed: str) -> None:
        pods = by_node(await self.claim_pods(daemon_set))
        nodes = self._nodes.list()
        changes = plan_nodes(daemon_set, nodes, pods, hashed=hashed, now=self.clock.now())
        self.note(
            desired={"nodes": sum(fit(daemon_set, node).should_run for node in nodes)},
            actual={"pods": sum(len(each) for each in pods.values())},
        )
        for pod in changes.succeeded:
            message = f"Found succeeded daemon pod {object_key(pod)} on node {target_node(pod)}, will try to delete it"
            self.recorder.event(daemon_set, NORMAL, "SucceededDaemonPod", message)
        changes.delete += changes.succeeded
        changes.delete += [pod for pod in changes.failed if self._may_retry(key, daemon_set, pod)]
        await self._act(key, daemon_set, changes, hashed)

    def _may_retry(self, key: str, daemon_set: Object, pod: Object) -> bool:
        """A Pod that failed is deleted at once the first time on a Node, and ever later after that."""
        node, now = pod["spec"].get("nodeName", ""), self.clock.monotonic()
        last, delay = self._failures.get((key, node), (float("-inf"), 0.0))
        if now - last < delay:
            self.queue.add_after(key, delay)
            return False
        calm = now - last > 2 * MAX_FAILURE_DELAY
        self._failures[key, node] = (now, 1.0 if calm else min(2 * delay, MAX_FAILURE_DELAY))
        message = f"Found failed daemon pod {object_key(pod)} on node {node}, will try to kill it"
        self.recorder.event(daemon_set, WARNING, "FailedDaemonPod", message)
        return True

    async def _roll(self, key: str, daemon_set: Object, hashed: str) -> None:
        strategy = (daemon_set["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate")
        if strategy != "RollingUpdate":
            return
        pods = by_node(self.owned_pods(daemon_set))
        changes = plan_update(daemon_set, self._nodes.list(), pods, hashed=hashed, now=self.clock.now())
        await self._act(key, daemon_set, changes, hashed)

    # -- acting

    async def _act(self, key: str, daemon_set: Object, changes: Plan, hashed: str) -> None:
        create, delete = changes.create[:BURST_REPLICAS], changes.delete[:BURST_REPLICAS]
        if not create and not delete:
            return
        self.expectations.expect(key, creations=len(create), deletions=[object_key(pod) for pod in delete])
        waiting = iter(create)

        async def create_next() -> None:
            await self._create(daemon_set, next(waiting), hashed)

        successes, failure = await slow_start(len(create), create_next)
        for _ in range(len(create) - successes):
            self.expectations.creation_observed(key)
        results = await asyncio.gather(*(self._delete(key, daemon_set, pod) for pod in delete), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failure is not None:
            raise failure
        if failures:
            raise as_failure(failures)

    async def _create(self, daemon_set: Object, node: str, hashed: str) -> None:
        template = copy_object(daemon_set["spec"]["template"])
        spec, metadata = template["spec"], template.setdefault("metadata", {})
        spec["affinity"] = pinned_to(spec.get("affinity"), node)
        spec["tolerations"] = daemon_tolerations(spec)
        labels = metadata.setdefault("labels", {})
        labels[POD_REVISION] = hashed
        generation = (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION)
        if generation:
            labels[POD_GENERATION] = generation
        try:
            await self.pod_control.create(pod_from_template(template, daemon_set, KIND), daemon_set)
        except ApiError as error:
            if not namespace_terminating(error):
                raise

    async def _delete(self, key: str, daemon_set: Object, pod: Object) -> None:
        try:
            await self.pod_control.delete(pod, daemon_set)
        except ApiError as error:
            self.expectations.deletion_observed(key, object_key(pod))
            if error.code != 404:
                raise

    # -- status

    async def _report(
        self, key: str, daemon_set: Object, hashed: str, *, collisions: int | None, observed: bool
    ) -> None:
        before = daemon_set.get("status") or {}
        generation = daemon_set["metadata"].get("generation", 0)
        status = daemon_set_status(
            daemon_set,
            self._nodes.list(),
            by_node(self.owned_pods(daemon_set)),
            hashed=hashed,
            collisions=collisions,
            observed=generation if observed else before.get("observedGeneration", 0),
            now=self.clock.now(),
        )
        if before.get("conditions"):
            status["conditions"] = before["conditions"]
        if status != before:
            self.writes.note(await self.client.update_status(DAEMON_SETS, {**daemon_set, "status": status}))
        min_ready = daemon_set["spec"].get("minReadySeconds", 0)
        if min_ready and status["numberReady"] != status.get("numberAvailable", 0):
            self.queue.add_after(key, min_ready)
