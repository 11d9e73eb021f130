"""The ReplicaSet of a Deployment's current template: found and brought into step, or created (sync.go)."""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import DEPLOYMENTS, GVK, REPLICA_SETS, Object, copy_object
from engine.client import NORMAL, WARNING, Client, EventRecorder, Lister
from engine.clock import Clock
from engine.controllers.conditions import Conditions, conditions_of
from engine.controllers.deployment.limits import max_surge
from engine.controllers.deployment.replica_sets import (
    HASH_LABEL,
    REVISION,
    ReplicaSets,
    annotations_of,
    equal_ignoring_hash,
    max_revision,
    new_annotations,
    replicas,
    with_annotations,
)
from engine.controllers.deployment.scaling import new_size
from engine.controllers.deployment.status import PROGRESSING, condition, deadline, progressing_condition, set_condition
from engine.controllers.hashing import template_hash
from engine.controllers.own_writes import OwnWrites
from engine.controllers.ownership import controller_reference, is_controlled_by
from engine.controllers.pod_control import namespace_terminating

KIND = GVK("apps", "v1", "Deployment")
MAX_NAME = 253


class NewReplicaSet:
    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        clock: Clock,
        replica_sets: Lister,
        *,
        writes: OwnWrites,
        set_writes: OwnWrites,
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._clock = clock
        self._replica_sets = replica_sets
        self._writes = writes
        self._set_writes = set_writes

    async def sync(self, deployment: Object, sets: ReplicaSets, *, create: bool) -> tuple[Object, ReplicaSets]:
        """The Deployment and its ReplicaSets as they are afterwards; `create` makes a new one where there is none."""
        if sets.new is not None:
            return await self._bring_into_step(deployment, sets, sets.new)
        if not create:
            return deployment, sets
        return await self._create(deployment, sets)

    async def _bring_into_step(self, deployment: Object, sets: ReplicaSets, rs: Object) -> tuple[Object, ReplicaSets]:
        """The ReplicaSet follows the Deployment in annotations and minReadySeconds, the Deployment it in revision."""
        wanted = new_annotations(
            deployment, rs, new_revision=max_revision(sets.old) + 1, exists=True, surge=max_surge(deployment)
        )
        min_ready = deployment["spec"].get("minReadySeconds", 0)
        if wanted != annotations_of(rs) or rs["spec"].get("minReadySeconds", 0) != min_ready:
            copy = with_annotations(rs, wanted)
            copy["spec"].pop("minReadySeconds", None)
            if min_ready:
                copy["spec"]["minReadySeconds"] = min_ready
            updated = self._set_writes.note(await self._client.update(REPLICA_SETS, copy))
            return deployment, sets._replace(new=updated)
        conditions = conditions_of(deployment.get("status") or {})
        if deadline(deployment) is not None and progressing_condition(deployment.get("status") or {}) is None:
            message = f'Found new replica set "{rs["metadata"]["name"]}"'
            conditions = self._progressing(conditions, "True", reason="FoundNewReplicaSet", message=message)
        revision = annotations_of(rs).get(REVISION, "")
        return await self._write(deployment, revision=revision, conditions=conditions), sets

    async def _create(self, deployment: Object, sets: ReplicaSets) -> tuple[Object, ReplicaSets]:
        revision = max_revision(sets.old) + 1
        wanted = self._make(deployment, sets, revision)
        name = wanted["metadata"]["name"]
        namespace = deployment["metadata"]["namespace"]
        fresh = True
        try:
            created = await self._client.create(REPLICA_SETS, wanted, namespace=namespace)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                await self._report_failure(deployment, name, error)
                raise
            created, fresh = await self._already_there(deployment, wanted, error), False
        if fresh and replicas(wanted) > 0:
            message = f"Scaled up replica set {name} from 0 to {replicas(wanted)}"
            self._recorder.event(deployment, NORMAL, "ScalingReplicaSet", message)
        conditions = conditions_of(deployment.get("status") or {})
        if fresh and deadline(deployment) is not None:
            message = f'Created new replica set "{name}"'
            conditions = self._progressing(conditions, "True", reason="NewReplicaSetCreated", message=message)
        deployment = await self._write(deployment, revision=str(revision), conditions=conditions)
        return deployment, sets._replace(new=created)

    def _make(self, deployment: Object, sets: ReplicaSets, revision: int) -> Object:
        """The ReplicaSet to create; its name follows from the template, so that trying twice makes one."""
        metadata, spec = deployment["metadata"], deployment["spec"]
        template = copy_object(spec["template"])
        hashed = template_hash(spec["template"], (deployment.get("status") or {}).get("collisionCount"))
        labels = {**((template.get("metadata") or {}).get("labels") or {}), HASH_LABEL: hashed}
        template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
        selector = copy_object(spec["selector"])
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: hashed}
        rs: Object = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{metadata['name'][: MAX_NAME - len(hashed) - 1]}-{hashed}",
                "namespace": metadata["namespace"],
                "labels": dict(labels),
                "ownerReferences": [controller_reference(deployment, KIND)],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        }
        if spec.get("minReadySeconds"):
            rs["spec"]["minReadySeconds"] = spec["minReadySeconds"]
        rs["spec"]["replicas"] = new_size(deployment, [*sets.old, rs], 0)
        rs["metadata"]["annotations"] = new_annotations(
            deployment, rs, new_revision=revision, exists=False, surge=max_surge(deployment)
        )
        return rs

    async def _already_there(self, deployment: Object, wanted: Object, error: ApiError) -> Object:
        """A ReplicaSet of that name: ours, which the cache showed late, or another template with the same hash.

        Then the collision count goes up, the error is raised, and the next try gets another name.
        """
        metadata = wanted["metadata"]
        there = self._replica_sets.get(metadata["name"], metadata["namespace"])
        if there is None:
            raise error
        same = equal_ignoring_hash(there["spec"]["template"], deployment["spec"]["template"])
        if is_controlled_by(there, deployment) and same:
            return there
        status = deployment.get("status") or {}
        counted = {**status, "collisionCount": status.get("collisionCount", 0) + 1}
        self._writes.note(await self._client.update_status(DEPLOYMENTS, {**deployment, "status": counted}))
        raise error

    async def _report_failure(self, deployment: Object, name: str, error: ApiError) -> None:
        """Say on the Deployment why there is no ReplicaSet."""
        if namespace_terminating(error):
            return
        message = f'Failed to create new replica set "{name}": {error}'
        if deadline(deployment) is not None:
            conditions = conditions_of(deployment.get("status") or {})
            conditions = self._progressing(conditions, "False", reason="ReplicaSetCreateError", message=message)
            await self._write(deployment, revision="", conditions=conditions)
        self._recorder.event(deployment, WARNING, "ReplicaSetCreateError", message)

    def _progressing(self, conditions: Conditions, status: str, *, reason: str, message: str) -> Conditions:
        return set_condition(
            conditions, condition(PROGRESSING, status, reason=reason, message=message, now=self._clock.now())
        )

    async def _write(self, deployment: Object, *, revision: str, conditions: Conditions) -> Object:
        """Revision (an annotation, which a status update may set) and conditions in one write, where they differ."""
        status = deployment.get("status") or {}
        same_revision = not revision or annotations_of(deployment).get(REVISION) == revision
        if same_revision and conditions == conditions_of(status):
            return deployment
        copy = with_annotations(deployment, {REVISION: revision} if revision else {})
        copy["status"] = {**status, "conditions": conditions}
        return self._writes.note(await self._client.update_status(DEPLOYMENTS, copy))
