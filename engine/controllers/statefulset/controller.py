"""The StatefulSet controller (pkg/controller/statefulset/stateful_set.go, stateful_pod_control.go)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS
from engine.api.types import GVR, PODS, Object, copy_object
from engine.client import NORMAL, WARNING, object_key
from engine.controllers.history import CONTROLLER_REVISIONS, HASH_LABEL, History, apply_revision
from engine.controllers.ownership import OWNER_INDEX, by_controller_uid, owner_references
from engine.controllers.pod_control import namespace_terminating
from engine.controllers.pod_owner import PodOwnerController
from engine.controllers.pods import phase
from engine.controllers.slow_start import as_failure
from engine.controllers.statefulset.identity import (
    KIND,
    belongs_to,
    claim_owners,
    claims,
    give_identity,
    give_storage,
    is_member,
    revision_of_pod,
)
from engine.controllers.statefulset.planning import Plan, Revisions, plan, stateful_set_status

STATEFUL_SETS = GVR("apps", "v1", "statefulsets")


class StatefulSetController(PodOwnerController):
    name = "statefulset-controller"
    kind = "statefulset"
    resource = STATEFUL_SETS
    gvk = KIND

    def set_up(self) -> None:
        self.watch_pods()
        self._claims = self.lister(CLAIMS)
        self.index(CONTROLLER_REVISIONS, OWNER_INDEX, by_controller_uid)
        self._history = History(
            self.client,
            self.lister(CONTROLLER_REVISIONS),
            resource=STATEFUL_SETS,
            kind=KIND,
            hash_label=HASH_LABEL,
        )

    async def reconcile(self, key: str) -> None:
        set_ = self.owners.by_key(key)
        if set_ is None:
            return
        self.writes.check(set_)
        known = await self._history.claim(set_)
        pods = await self.claim_pods(set_, lambda pod: is_member(set_, pod))
        revisions, collisions = await self._revisions(set_, known)
        now = self.clock.now()
        changes = plan(set_, revisions, pods, now)
        self.note(desired={"replicas": int(set_["spec"].get("replicas", 1))}, actual={"replicas": len(pods)})
        try:
            await self._act(set_, changes)
        finally:
            status = stateful_set_status(set_, revisions, pods, collisions=collisions, now=now)
            if status != (set_.get("status") or {}):
                self.writes.note(await self.client.update_status(STATEFUL_SETS, {**set_, "status": status}))
        live = {revisions.current, revisions.update, *(revision_of_pod(pod) for pod in pods)}
        await self._history.truncate(set_, known, live=live)
        min_ready = set_["spec"].get("minReadySeconds", 0)
        if min_ready and status.get("readyReplicas", 0) > status.get("availableReplicas", 0):
            self.queue.add_after(key, min_ready)

    async def _revisions(self, set_: Object, known: list[Object]) -> tuple[Revisions, int]:
        status = set_.get("status") or {}
        update, collisions = await self._history.current(set_, known, collisions=status.get("collisionCount", 0))
        named = (each for each in known if each["metadata"]["name"] == status.get("currentRevision"))
        current = next(named, update)
        return (
            Revisions(
                current["metadata"]["name"],
                update["metadata"]["name"],
                apply_revision(set_, current),
                apply_revision(set_, update),
            ),
            collisions,
        )

    # -- acting

    async def _act(self, set_: Object, changes: Plan) -> None:
        for pod in changes.ended:
            self._tell_recreation(set_, pod)
        acts: list[Coroutine[None, None, None]] = [self._fix_claims(set_, pod) for pod in changes.settle]
        acts += [self._create(set_, pod) for pod in changes.create if not self._has_stale_claims(set_, pod)]
        acts += [self._create_claims(set_, pod) for pod in changes.pending]
        acts += [self._delete(set_, pod) for pod in changes.delete]
        acts += [self._correct(set_, pod) for pod in changes.correct]
        results = await asyncio.gather(*acts, return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise as_failure(failures)

    async def _create(self, set_: Object, pod: Object) -> None:
        await self._create_claims(set_, pod)
        name, namespace = pod["metadata"]["name"], set_["metadata"]["namespace"]
        try:
            await self.client.create(PODS, pod, namespace=namespace)
        except ApiError as error:
            if namespace_terminating(error):
                return
            if error.reason != "AlreadyExists":
                self._tell(set_, "create", f"Pod {name}", error)
            raise
        self._tell(set_, "create", f"Pod {name}")

    def _has_stale_claims(self, set_: Object, pod: Object) -> bool:
        """Claims of an earlier Pod of the name that are on their way out with it: the next one waits for its own."""
        for wanted in claims(set_, pod):
            claim = self._claims.get(wanted["metadata"]["name"], wanted["metadata"]["namespace"])
            if claim is None:
                continue
            owners = (reference for reference in owner_references(claim) if reference["kind"] == "Pod")
            mine = [reference for reference in owners if reference["name"] == pod["metadata"]["name"]]
            if mine or claim["metadata"].get("deletionTimestamp"):
                return True
        return False

    def _tell_recreation(self, set_: Object, pod: Object) -> None:
        of = f"StatefulSet {object_key(set_)} is recreating"
        if phase(pod) == "Failed":
            self.recorder.event(set_, WARNING, "RecreatingFailedPod", f"{of} failed Pod {pod['metadata']['name']}")
        else:
            message = f"{of} terminated Pod {pod['metadata']['name']}"
            self.recorder.event(set_, NORMAL, "RecreatingTerminatedPod", message)

    async def _create_claims(self, set_: Object, pod: Object) -> None:
        """The claims that are not there yet; those of an earlier Pod of the name are taken up again."""
        for claim in claims(set_, pod):
            metadata = claim["metadata"]
            if self._claims.get(metadata["name"], metadata["namespace"]) is not None:
                continue
            owners = claim_owners(set_, pod, claim)
            if owners:
                metadata["ownerReferences"] = owners
            what = f"Claim {metadata['name']} Pod {pod['metadata']['name']}"
            try:
                await self.client.create(CLAIMS, claim, namespace=metadata["namespace"])
            except ApiError as error:
                if error.reason == "AlreadyExists":
                    continue
                self._tell(set_, "create", what, error)
                raise
            self._tell(set_, "create", what)

    async def _delete(self, set_: Object, pod: Object) -> None:
        name = pod["metadata"]["name"]
        try:
            await self.client.delete(PODS, name, namespace=pod["metadata"]["namespace"])
        except ApiError as error:
            if error.code == 404:
                return
            self._tell(set_, "delete", f"Pod {name}", error)
            raise
        self._tell(set_, "delete", f"Pod {name}")

    async def _correct(self, set_: Object, pod: Object) -> None:
        """Give a Pod back what makes it the n-th."""
        await self._create_claims(set_, pod)
        copy = copy_object(pod)
        give_identity(copy)
        give_storage(set_, copy)
        try:
            await self.client.update(PODS, copy)
        except ApiError as error:
            self._tell(set_, "update", f"Pod {pod['metadata']['name']}", error)
            raise
        self._tell(set_, "update", f"Pod {pod['metadata']['name']}")

    async def _fix_claims(self, set_: Object, pod: Object) -> None:
        """Owner references of the claims follow the retention policy."""
        if not belongs_to(set_, pod):
            return
        for wanted in claims(set_, pod):
            metadata = wanted["metadata"]
            claim = self._claims.get(metadata["name"], metadata["namespace"])
            owners = claim_owners(set_, pod, claim) if claim is not None else None
            if claim is not None and owners is not None:
                copy = copy_object(claim)
                copy["metadata"]["ownerReferences"] = owners
                await self.client.update(CLAIMS, copy)

    def _tell(self, set_: Object, verb: str, what: str, error: ApiError | None = None) -> None:
        """As upstream's events say it, of a Pod and of a claim not quite in the same words."""
        name = set_["metadata"]["name"]
        if error is not None:
            failed = what.replace(" Pod ", " for Pod ") if what.startswith("Claim") else what
            message = f"{verb} {failed} in StatefulSet {name} failed error: {error}"
            self.recorder.event(set_, WARNING, f"Failed{verb.capitalize()}", message)
            return
        done = "success" if what.startswith("Claim") else "successful"
        self.recorder.event(
            set_, NORMAL, f"Successful{verb.capitalize()}", f"{verb} {what} in StatefulSet {name} {done}"
        )
