"""The ReplicaSet controller (pkg/controller/replicaset/replica_set.go).

Compares the Pods that a ReplicaSet owns with `spec.replicas`, creates the missing ones in a slow start or deletes the
surplus by rank, and reports in the status what there is.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from engine.api.errors import ApiError
from engine.api.types import GVK, GVR, REPLICA_SETS, Object
from engine.client import object_key
from engine.controllers.features import counts_terminating_replicas
from engine.controllers.ownership import OWNER_INDEX, by_controller_uid, controller_uid
from engine.controllers.pod_control import namespace_terminating, pod_from_template
from engine.controllers.pod_owner import PodOwnerController, labels_of
from engine.controllers.pods import available_in, is_active, is_terminating
from engine.controllers.replicaset.ranking import pods_to_delete
from engine.controllers.replicaset.status import replica_set_status
from engine.controllers.slow_start import as_failure, slow_start

KIND = GVK("apps", "v1", "ReplicaSet")
BURST_REPLICAS = 500


class ReplicaSetController(PodOwnerController):
    name = "replicaset-controller"
    kind = "replicaset"
    resource: ClassVar[GVR] = REPLICA_SETS
    gvk: ClassVar[GVK] = KIND
    counts_terminating: ClassVar[bool] = True

    def set_up(self) -> None:
        self.watch_pods()
        self.index(self.resource, OWNER_INDEX, by_controller_uid)
        self._count_terminating = self.counts_terminating and counts_terminating_replicas(
            self.config.kubernetes_version
        )

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        rs = self.owners.by_key(key)
        if rs is None:
            self.expectations.forget(key)
            return
        self.writes.check(rs)
        needs_sync = self.expectations.satisfied(key)
        active = await self.claim_pods(rs, is_active)
        matches = self.selector(rs).matches
        terminating = sum(is_terminating(pod) and matches(labels_of(pod)) for pod in self.owned_pods(rs))
        self.note(desired={"replicas": _replicas(rs)}, actual={"replicas": len(active), "terminating": terminating})
        failure: Exception | None = None
        if needs_sync and not rs["metadata"].get("deletionTimestamp"):
            failure = await self._manage(key, rs, active)
        await self._update_status(key, rs, active, terminating=terminating, failure=failure)
        if failure is not None:
            raise failure

    async def _manage(self, key: str, rs: Object, pods: list[Object]) -> Exception | None:
        surplus = len(pods) - _replicas(rs)
        if surplus < 0:
            return await self._create(key, rs, min(-surplus, BURST_REPLICAS))
        if surplus > 0:
            return await self._delete(key, rs, pods, count=min(surplus, BURST_REPLICAS))
        return None

    async def _create(self, key: str, rs: Object, count: int) -> Exception | None:
        pod = pod_from_template(rs["spec"]["template"], rs, self.gvk)

        async def create() -> None:
            try:
                await self.pod_control.create(pod, rs)
            except ApiError as error:
                if not namespace_terminating(error):
                    raise

        self.expectations.expect_creations(key, count)
        successes, failure = await slow_start(count, create)
        for _ in range(count - successes):
            # Never sent, or refused: the informer will not show it.
            self.expectations.creation_observed(key)
        return failure

    async def _delete(self, key: str, rs: Object, pods: list[Object], *, count: int) -> Exception | None:
        doomed = pods_to_delete(pods, self._related(rs), count=count, now=self.clock.now())
        self.expectations.expect_deletions(key, [object_key(pod) for pod in doomed])

        async def delete(pod: Object) -> None:
            try:
                await self.pod_control.delete(pod, rs)
            except ApiError as error:
                self.expectations.deletion_observed(key, object_key(pod))
                if error.code != 404:
                    raise

        results = await asyncio.gather(*(delete(pod) for pod in doomed), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        return as_failure(failures) if failures else None

    def _related(self, rs: Object) -> list[Object]:
        """The Pods of all ReplicaSets with the same controller: those of the other revisions of a Deployment."""
        uid = controller_uid(rs)
        sets = self.owners.by_index(OWNER_INDEX, uid) if uid else [rs]
        return [pod for each in sets for pod in self.owned_pods(each)]

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
            self.writes.note(await self.client.update_status(self.resource, {**rs, "status": status}))
        except ApiError as error:
            if error.code != 409:
                raise
            metadata = rs["metadata"]
            fresh = await self.client.get(self.resource, metadata["name"], namespace=metadata["namespace"])
            self.writes.note(await self.client.update_status(self.resource, {**fresh, "status": status}))


def _replicas(rs: Object) -> int:
    return int(rs["spec"].get("replicas", 1))
