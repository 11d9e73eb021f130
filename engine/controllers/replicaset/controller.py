"""The ReplicaSet controller (pkg/controller/replicaset/replica_set.go).

Compares the Pods that a ReplicaSet owns with `spec.replicas`, creates the missing ones in a slow start or deletes the
surplus by rank, and reports in the status what there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import GVK, PODS, REPLICA_SETS, Object
from engine.client import object_key
from engine.controllers.controller import Controller
from engine.controllers.expectations import Expectations
from engine.controllers.features import counts_terminating_replicas
from engine.controllers.ownership import (
    OWNER_INDEX,
    ControllerRefManager,
    by_controller_uid,
    controller_of,
    controller_uid,
    recheck_deletion,
)
from engine.controllers.pod_control import PodControl, namespace_terminating, pod_from_template
from engine.controllers.pods import available_in, is_active, is_ready, is_terminating
from engine.controllers.replicaset.ranking import pods_to_delete
from engine.controllers.replicaset.status import replica_set_status
from engine.controllers.slow_start import as_failure, slow_start

KIND = GVK("apps", "v1", "ReplicaSet")
BURST_REPLICAS = 500


class ReplicaSetController(Controller):
    name = "replicaset-controller"
    kind = "replicaset"

    def set_up(self) -> None:
        self._pods = self.lister(PODS)
        self._replica_sets = self.lister(REPLICA_SETS)
        self.index(PODS, OWNER_INDEX, by_controller_uid)
        self.index(REPLICA_SETS, OWNER_INDEX, by_controller_uid)
        self._expectations = Expectations(self.clock)
        self._pod_control = PodControl(self.client, self.recorder)
        self._count_terminating = counts_terminating_replicas(self.config.kubernetes_version)
        self.watch(REPLICA_SETS, self._replica_set_changed)
        self.watch(PODS, self._pod_changed)

    # -- what wakes it

    def _replica_set_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None and old is not None:
            self._expectations.forget(object_key(old))
        return [object_key(new or old or {})]

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None or new["metadata"].get("deletionTimestamp"):
            # A Pod on its way out is missed at once, not only when the kubelet has let it go.
            return self._pod_deleted(new or old or {})
        keys: dict[str, None] = {}
        before, after = controller_of(old) if old is not None else None, controller_of(new)
        if before is not None and before != after and old is not None:
            keys.update(dict.fromkeys(self._owner_key(old)))
        if after is not None:
            owners = self._owner_key(new)
            if old is None:
                for key in owners:
                    self._expectations.creation_observed(key)
            self._wake_when_available(old, new, owners)
            keys.update(dict.fromkeys(owners))
        elif old is None or before != after or _labels(old) != _labels(new):
            keys.update(dict.fromkeys(self._selecting(new)))
        return list(keys)

    def _pod_deleted(self, pod: Object) -> Iterable[str]:
        owners = self._owner_key(pod)
        for key in owners:
            self._expectations.deletion_observed(key, object_key(pod))
        return owners

    def _owner_key(self, pod: Object) -> list[str]:
        """The key of the ReplicaSet that controls a Pod, if it is the one that the reference means."""
        reference = controller_of(pod)
        if reference is None or reference.get("kind") != KIND.kind:
            return []
        rs = self._replica_sets.get(reference["name"], pod["metadata"]["namespace"])
        return [object_key(rs)] if rs is not None and rs["metadata"]["uid"] == reference["uid"] else []

    def _selecting(self, pod: Object) -> list[str]:
        """The ReplicaSets that might adopt an orphan."""
        labels = _labels(pod)
        return [
            object_key(rs)
            for rs in self._replica_sets.list(pod["metadata"]["namespace"])
            if labels and LabelSelector.from_object(rs["spec"].get("selector")).matches(labels)
        ]

    def _wake_when_available(self, old: Object | None, new: Object, owners: list[str]) -> None:
        if is_ready(old) or not is_ready(new):
            return
        for key in owners:
            rs = self._replica_sets.by_key(key)
            if rs is not None and (seconds := rs["spec"].get("minReadySeconds", 0)):
                # A second more, so that a clock that counts in seconds is past it (kubernetes issue 39785).
                self.queue.add_after(key, seconds + 1)

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        rs = self._replica_sets.by_key(key)
        if rs is None:
            self._expectations.forget(key)
            return
        needs_sync = self._expectations.satisfied(key)
        owned = self._pods.by_index(OWNER_INDEX, rs["metadata"]["uid"])
        active = await self._claim(rs, [pod for pod in owned if is_active(pod)])
        terminating = sum(is_terminating(pod) for pod in owned)
        self.note(desired={"replicas": _replicas(rs)}, actual={"replicas": len(active), "terminating": terminating})
        failure: Exception | None = None
        if needs_sync and not rs["metadata"].get("deletionTimestamp"):
            failure = await self._manage(key, rs, active)
        await self._update_status(key, rs, active, terminating=terminating, failure=failure)
        if failure is not None:
            raise failure

    async def _claim(self, rs: Object, owned: list[Object]) -> list[Object]:
        orphans = self._pods.by_index(OWNER_INDEX, f"orphan/{rs['metadata']['namespace']}")
        manager = ControllerRefManager(
            self.client,
            PODS,
            owner=rs,
            owner_kind=KIND,
            matches=LabelSelector.from_object(rs["spec"].get("selector")).matches,
            can_adopt=lambda: recheck_deletion(self.client, REPLICA_SETS, rs),
        )
        return await manager.claim([*owned, *(pod for pod in orphans if is_active(pod))])

    async def _manage(self, key: str, rs: Object, pods: list[Object]) -> Exception | None:
        surplus = len(pods) - _replicas(rs)
        if surplus < 0:
            return await self._create(key, rs, min(-surplus, BURST_REPLICAS))
        if surplus > 0:
            return await self._delete(key, rs, pods, count=min(surplus, BURST_REPLICAS))
        return None

    async def _create(self, key: str, rs: Object, count: int) -> Exception | None:
        pod = pod_from_template(rs["spec"]["template"], rs, KIND)

        async def create() -> None:
            try:
                await self._pod_control.create(pod, rs)
            except ApiError as error:
                if not namespace_terminating(error):
                    raise

        self._expectations.expect_creations(key, count)
        successes, failure = await slow_start(count, create)
        for _ in range(count - successes):
            # Never sent, or refused: the informer will not show it.
            self._expectations.creation_observed(key)
        return failure

    async def _delete(self, key: str, rs: Object, pods: list[Object], *, count: int) -> Exception | None:
        doomed = pods_to_delete(pods, self._related(rs), count=count, now=self.clock.now())
        self._expectations.expect_deletions(key, [object_key(pod) for pod in doomed])

        async def delete(pod: Object) -> None:
            try:
                await self._pod_control.delete(pod, rs)
            except ApiError as error:
                self._expectations.deletion_observed(key, object_key(pod))
                if error.code != 404:
                    raise

        results = await asyncio.gather(*(delete(pod) for pod in doomed), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        return as_failure(failures) if failures else None

    def _related(self, rs: Object) -> list[Object]:
        """The Pods of all ReplicaSets with the same controller: those of the other revisions of a Deployment."""
        uid = controller_uid(rs)
        sets = self._replica_sets.by_index(OWNER_INDEX, uid) if uid else [rs]
        return [pod for each in sets for pod in self._pods.by_index(OWNER_INDEX, each["metadata"]["uid"])]

    async def _update_status(
        self, key: str, rs: Object, pods: list[Object], *, terminating: int, failure: Exception | None
    ) -> None:
        now = self.clock.now()
        status = replica_set_status(
            rs, pods, terminating=terminating if self._count_terminating else None, failure=failure, now=now
        )
        if status != (rs.get("status") or {}):
            await self._write_status(rs, status)
        min_ready = rs["spec"].get("minReadySeconds", 0)
        ready, available = status.get("readyReplicas", 0), status.get("availableReplicas", 0)
        if failure is None and min_ready and ready == _replicas(rs) and available != ready:
            waits = [left for pod in pods if (left := available_in(pod, min_ready, now)) is not None]
            self.queue.add_after(key, min([min_ready, *waits]))

    async def _write_status(self, rs: Object, status: Object) -> None:
        """Update the status; on a conflict once more, on the ReplicaSet as it is now."""
        try:
            await self.client.update_status(REPLICA_SETS, {**rs, "status": status})
        except ApiError as error:
            if error.code != 409:
                raise
            metadata = rs["metadata"]
            fresh = await self.client.get(REPLICA_SETS, metadata["name"], namespace=metadata["namespace"])
            await self.client.update_status(REPLICA_SETS, {**fresh, "status": status})


def _replicas(rs: Object) -> int:
    return int(rs["spec"].get("replicas", 1))


def _labels(obj: Object) -> Object:
    labels: Object = obj["metadata"].get("labels") or {}
    return labels
