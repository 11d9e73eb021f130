"""The Deployment controller (pkg/controller/deployment/deployment_controller.go).

Plans come from `scaling` and `status`; here they are carried out: ReplicaSets are claimed, created, scaled and cleaned
up, and the Deployment's status and revision are written.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import DEPLOYMENTS, PODS, REPLICA_SETS, Object
from engine.client import WARNING, object_key
from engine.controllers.controller import Controller
from engine.controllers.deployment import scaling
from engine.controllers.deployment.limits import is_rolling
from engine.controllers.deployment.new_replica_set import KIND, NewReplicaSet
from engine.controllers.deployment.replica_sets import ReplicaSets, replicas, split, status_sum
from engine.controllers.deployment.rollback import asked_revision, rolled_back
from engine.controllers.deployment.scaler import Scaler
from engine.controllers.deployment.status import (
    check_progress_in,
    deployment_status,
    is_complete,
    names,
    paused_conditions,
    rollout_status,
)
from engine.controllers.features import counts_terminating_replicas
from engine.controllers.own_writes import OwnWrites
from engine.controllers.ownership import (
    OWNER_INDEX,
    ControllerRefManager,
    by_controller_uid,
    controller_of,
    recheck_deletion,
)
from engine.controllers.pods import is_terminal


class DeploymentController(Controller):
    name = "deployment-controller"
    kind = "deployment"
    max_retries = 15

    def set_up(self) -> None:
        self._deployments = self.lister(DEPLOYMENTS)
        self._replica_sets = self.lister(REPLICA_SETS)
        self._pods = self.lister(PODS)
        self.index(REPLICA_SETS, OWNER_INDEX, by_controller_uid)
        self.index(PODS, OWNER_INDEX, by_controller_uid)
        self._count_terminating = counts_terminating_replicas(self.config.kubernetes_version)
        self._writes = OwnWrites(self.clock)  # of Deployments
        self._set_writes = OwnWrites(self.clock)  # of ReplicaSets
        self._scaler = Scaler(self.client, self.recorder, self._set_writes)
        self._new = NewReplicaSet(
            self.client,
            self.recorder,
            self.clock,
            self._replica_sets,
            writes=self._writes,
            set_writes=self._set_writes,
        )
        self.watch(DEPLOYMENTS, lambda old, new: [object_key(new or old or {})])
        self.watch(REPLICA_SETS, self._replica_set_changed)
        self.watch(PODS, self._pod_changed)

    # -- what wakes it

    def _replica_set_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        keys: dict[str, None] = {}
        before = controller_of(old) if old is not None else None
        after = controller_of(new) if new is not None else None
        if old is not None and before is not None and before != after:
            keys.update(dict.fromkeys(self._owner_key(old)))
        if new is not None and after is not None:
            keys.update(dict.fromkeys(self._owner_key(new)))
        elif new is not None and (old is None or before != after or _labels(old) != _labels(new)):
            keys.update(dict.fromkeys(self._selecting(new)))
        return list(keys)

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """A Deployment that recreates waits until the last old Pod is gone."""
        if new is not None or old is None:
            return []
        reference = controller_of(old)
        if reference is None or reference.get("kind") != "ReplicaSet":
            return []
        rs = self._replica_sets.get(reference["name"], old["metadata"]["namespace"])
        if rs is None or rs["metadata"]["uid"] != reference["uid"]:
            return []
        return [key for key in self._owner_key(rs) if self._waits_for_pods(key)]

    def _waits_for_pods(self, key: str) -> bool:
        deployment = self._deployments.by_key(key)
        if deployment is None or is_rolling(deployment):
            return False
        sets = self._replica_sets.by_index(OWNER_INDEX, deployment["metadata"]["uid"])
        return not any(self._pods.by_index(OWNER_INDEX, rs["metadata"]["uid"]) for rs in sets)

    def _owner_key(self, rs: Object) -> list[str]:
        reference = controller_of(rs)
        if reference is None or reference.get("kind") != KIND.kind:
            return []
        deployment = self._deployments.get(reference["name"], rs["metadata"]["namespace"])
        same = deployment is not None and deployment["metadata"]["uid"] == reference["uid"]
        return [object_key(deployment)] if same and deployment is not None else []

    def _selecting(self, rs: Object) -> list[str]:
        """The Deployments that might adopt an orphan."""
        labels = _labels(rs)
        return [
            object_key(deployment)
            for deployment in self._deployments.list(rs["metadata"]["namespace"])
            if labels and LabelSelector.from_object(deployment["spec"].get("selector")).matches(labels)
        ]

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        deployment = self._deployments.by_key(key)
        if deployment is None:
            self._writes.forget(key)
            return
        self._writes.check(deployment)
        if not deployment["spec"].get("selector"):
            await self._refuse_to_select_all(deployment)
            return
        claimed = await self._claim(deployment)
        for rs in claimed:
            self._set_writes.check(rs)
        sets = split(deployment, claimed)
        self.note(desired={"replicas": replicas(deployment)}, actual=names(sets.all))
        if deployment["metadata"].get("deletionTimestamp"):
            deployment, sets = await self._new.sync(deployment, sets, create=False)
            await self._write_status(deployment, self._plain_status(deployment, sets))
            return
        if (conditions := paused_conditions(deployment, self.clock.now())) is not None:
            status = {**(deployment.get("status") or {}), "conditions": conditions}
            deployment = await self._write_status(deployment, status)
        paused = deployment["spec"].get("paused")
        if not paused and (revision := asked_revision(deployment)) is not None:
            await self._roll_back(deployment, sets, revision)
        elif paused or scaling.is_scaling_event(deployment, sets):
            await self._scale(deployment, sets)
        elif is_rolling(deployment):
            await self._roll(key, deployment, sets)
        else:
            await self._recreate(key, deployment, sets)

    async def _refuse_to_select_all(self, deployment: Object) -> None:
        self.recorder.event(
            deployment,
            WARNING,
            "SelectingAll",
            "This deployment is selecting all pods. A non-empty selector is required.",
        )
        generation = deployment["metadata"].get("generation", 0)
        status = deployment.get("status") or {}
        if status.get("observedGeneration", 0) < generation:
            await self._write_status(deployment, {**status, "observedGeneration": generation})

    async def _claim(self, deployment: Object) -> list[Object]:
        metadata = deployment["metadata"]
        owned = self._replica_sets.by_index(OWNER_INDEX, metadata["uid"])
        orphans = self._replica_sets.by_index(OWNER_INDEX, f"orphan/{metadata['namespace']}")
        manager = ControllerRefManager(
            self.client,
            REPLICA_SETS,
            owner=deployment,
            owner_kind=KIND,
            matches=LabelSelector.from_object(deployment["spec"]["selector"]).matches,
            can_adopt=lambda: recheck_deletion(self.client, DEPLOYMENTS, deployment),
        )
        return await manager.claim([*owned, *orphans])

    # -- the ways to go on

    async def _roll_back(self, deployment: Object, sets: ReplicaSets, revision: int) -> None:
        """Nothing else follows in this sync: the next one finds the Deployment as it is wanted then."""
        deployment, sets = await self._new.sync(deployment, sets, create=True)
        done = rolled_back(deployment, sets.all, revision)
        self._writes.note(await self.client.update(DEPLOYMENTS, done.deployment))
        self.recorder.event(deployment, done.type, done.reason, done.message)

    async def _scale(self, deployment: Object, sets: ReplicaSets) -> None:
        """A change of size, or a paused Deployment: no rollout, but sizes follow."""
        deployment, sets = await self._new.sync(deployment, sets, create=False)
        sets = await self._scaler.scale(deployment, sets, scaling.plan_scale(deployment, sets))
        if deployment["spec"].get("paused"):
            await self._clean_up(deployment, sets)
        await self._write_status(deployment, self._plain_status(deployment, sets))

    async def _roll(self, key: str, deployment: Object, sets: ReplicaSets) -> None:
        deployment, sets = await self._new.sync(deployment, sets, create=True)
        plan = scaling.plan_new(deployment, sets) or scaling.plan_old(deployment, sets)
        if plan:
            sets = await self._scaler.scale(deployment, sets, plan)
        elif is_complete(deployment, deployment.get("status") or {}):
            await self._clean_up(deployment, sets)
        await self._report_rollout(key, deployment, sets)

    async def _recreate(self, key: str, deployment: Object, sets: ReplicaSets) -> None:
        deployment, sets = await self._new.sync(deployment, sets, create=False)
        if plan := scaling.plan_recreate_down(sets):
            sets = await self._scaler.scale(deployment, sets, plan)
            await self._report_rollout(key, deployment, sets)
            return
        if self._old_pods_running(sets):
            await self._report_rollout(key, deployment, sets)
            return
        if sets.new is None:
            deployment, sets = await self._new.sync(deployment, sets, create=True)
        assert sets.new is not None
        if replicas(sets.new) != replicas(deployment):
            plan = [scaling.Scale(sets.new, replicas(deployment))]
            sets = await self._scaler.scale(deployment, sets, plan)
        elif is_complete(deployment, deployment.get("status") or {}):
            await self._clean_up(deployment, sets)
        await self._report_rollout(key, deployment, sets)

    def _old_pods_running(self, sets: ReplicaSets) -> bool:
        """Any Pod of an old ReplicaSet that is not over, terminating ones too, as far as is known."""
        if status_sum(sets.old, "replicas"):
            return True
        pods = [pod for rs in sets.old for pod in self._pods.by_index(OWNER_INDEX, rs["metadata"]["uid"])]
        return any(not is_terminal(pod) for pod in pods)

    async def _clean_up(self, deployment: Object, sets: ReplicaSets) -> None:
        for rs in scaling.plan_cleanup(deployment, sets):
            metadata = rs["metadata"]
            try:
                await self.client.delete(REPLICA_SETS, metadata["name"], namespace=metadata["namespace"])
                self._set_writes.forget(object_key(rs))
            except ApiError as error:
                if error.code != 404:
                    raise

    # -- status

    def _plain_status(self, deployment: Object, sets: ReplicaSets) -> Object:
        """The status outside of a rollout: no progress is judged."""
        return deployment_status(deployment, sets, now=self.clock.now(), count_terminating=self._count_terminating)

    async def _report_rollout(self, key: str, deployment: Object, sets: ReplicaSets) -> None:
        now = self.clock.now()
        status = rollout_status(deployment, sets, now=now, count_terminating=self._count_terminating)
        if status != (deployment.get("status") or {}):
            await self._write_status(deployment, status)
            return
        after = check_progress_in(deployment, status, now)
        if after is not None and after < 1:
            self.queue.add_rate_limited(key)
        elif after is not None:
            self.queue.add_after(key, after + 1)

    async def _write_status(self, deployment: Object, status: Object) -> Object:
        if status == (deployment.get("status") or {}):
            return deployment
        return self._writes.note(await self.client.update_status(DEPLOYMENTS, {**deployment, "status": status}))


def _labels(obj: Object) -> Object:
    labels: Object = obj["metadata"].get("labels") or {}
    return labels
