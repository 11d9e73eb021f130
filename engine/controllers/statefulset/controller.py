"""The StatefulSet controller (pkg/controller/statefulset/stateful_set.go, stateful_pod_control.go)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS
from engine.api.types import GVR, PODS, Object, copy_object
from engine.client import NORMAL, WARNING, object_key
from engine.controllers.controller import RetryLaterError
from engine.controllers.features import promotes_revisions_on_delete
from engine.controllers.history import CONTROLLER_REVISIONS, HASH_LABEL, History, apply_revision
from engine.controllers.ownership import OWNER_INDEX, by_controller_uid
from engine.controllers.pod_control import namespace_terminating
from engine.controllers.pod_owner import PodOwnerController
from engine.controllers.pods import phase
from engine.controllers.slow_start import slow_start
from engine.controllers.statefulset.identity import (
    KIND,
    belongs_to,
    claims,
    give_identity,
    give_storage,
    is_member,
    ordinal_of,
    revision_of_pod,
)
from engine.controllers.statefulset.planning import Plan, Revisions, is_ordered, plan, stateful_set_status
from engine.controllers.statefulset.retention import claim_owners, is_stale

STATEFUL_SETS = GVR("apps", "v1", "statefulsets")

Act = Callable[[Object, Object], Awaitable[object]]  # of a set and one of its Pods


class ClaimsError(RetryLaterError):
    """Claims of a Pod could not be made, or are on their way out: the Pod waits for them."""


class StatefulSetController(PodOwnerController):
    name = "statefulset-controller"
    kind = "statefulset"
    resource = STATEFUL_SETS
    gvk = KIND

    def set_up(self) -> None:
        self.watch_pods()
        self._claims = self.lister(CLAIMS)
        self._promotes_on_delete = promotes_revisions_on_delete(self.config.kubernetes_version)
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
            promotes = self._promotes_on_delete
            status = stateful_set_status(
                set_, revisions, pods, collisions=collisions, now=now, promotes_on_delete=promotes
            )
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
        """First what concerns the Pods that should be; where that fails nothing else is done."""
        for pod in changes.ended:
            self._tell_recreation(set_, pod)
        over = [pod for pod in changes.delete if pod in changes.ended]
        keep = [(self._delete, pod) for pod in over]
        keep += [(self._create, pod) for pod in changes.create]
        keep += [(self._create_claims, pod) for pod in changes.pending]
        keep += [(self._correct, pod) for pod in changes.correct]
        keep += [(self._follow_policy, pod) for pod in changes.settle]
        await self._do(set_, sorted(keep, key=lambda act: ordinal_of(act[1])))
        await self._do(set_, [(self._fix_claims, pod) for pod in changes.condemned])
        await self._do(set_, [(self._delete, pod) for pod in changes.delete if pod not in over])

    async def _do(self, set_: Object, acts: list[tuple[Act, Object]]) -> None:
        """One after another, or where Pods need not wait for one another slowly at first (runForAll)."""
        if is_ordered(set_):
            for act, pod in acts:
                await act(set_, pod)
            return
        waiting = iter(acts)

        async def next_act() -> None:
            act, pod = next(waiting)
            await act(set_, pod)

        _, failure = await slow_start(len(acts), next_act)
        if failure is not None:
            raise failure

    async def _create(self, set_: Object, pod: Object) -> None:
        if any(is_stale(set_, pod, claim) for claim in self._claims_of(set_, pod)):
            return
        name, namespace = pod["metadata"]["name"], set_["metadata"]["namespace"]
        try:
            await self._create_claims(set_, pod)
            await self.client.create(PODS, pod, namespace=namespace)
        except ApiError as error:
            if namespace_terminating(error):
                return
            if error.reason != "AlreadyExists":
                self._tell(set_, "create", f"Pod {name}", error)
            raise
        except ClaimsError as error:
            self._tell(set_, "create", f"Pod {name}", error)
            raise
        self._tell(set_, "create", f"Pod {name}")

    def _claims_of(self, set_: Object, pod: Object) -> list[Object]:
        """Those of a Pod's claims that are there."""
        wanted = (claim["metadata"] for claim in claims(set_, pod))
        there = [self._claims.get(metadata["name"], metadata["namespace"]) for metadata in wanted]
        return [claim for claim in there if claim is not None]

    def _tell_recreation(self, set_: Object, pod: Object) -> None:
        of = f"StatefulSet {object_key(set_)} is recreating"
        if phase(pod) == "Failed":
            self.recorder.event(set_, WARNING, "RecreatingFailedPod", f"{of} failed Pod {pod['metadata']['name']}")
        else:
            message = f"{of} terminated Pod {pod['metadata']['name']}"
            self.recorder.event(set_, NORMAL, "RecreatingTerminatedPod", message)

    async def _create_claims(self, set_: Object, pod: Object) -> None:
        """The claims that are not there yet; those of an earlier Pod of the name are taken up again. Raises
        ClaimsError."""
        wrong: list[str] = []
        for claim in claims(set_, pod):
            metadata = claim["metadata"]
            there = self._claims.get(metadata["name"], metadata["namespace"])
            if there is not None:
                if there["metadata"].get("deletionTimestamp"):
                    wrong.append(f"pvc {metadata['name']} is being deleted")
                continue
            owners = claim_owners(set_, pod, claim)
            if owners:
                metadata["ownerReferences"] = owners
            what = f"Claim {metadata['name']} Pod {pod['metadata']['name']}"
            try:
                await self.client.create(CLAIMS, claim, namespace=metadata["namespace"])
            except ApiError as error:
                if namespace_terminating(error):
                    raise
                if error.reason != "AlreadyExists":
                    self._tell(set_, "create", what, error)
                wrong.append(f"failed to create PVC {metadata['name']}: {error}")
                continue
            self._tell(set_, "create", what)
        if wrong:
            raise ClaimsError(wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")

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
        copy = copy_object(pod)
        give_identity(copy)
        give_storage(set_, copy)
        try:
            await self._create_claims(set_, pod)
            await self.client.update(PODS, copy)
        except (ApiError, ClaimsError) as error:
            self._tell(set_, "update", f"Pod {pod['metadata']['name']}", error)
            raise
        self._tell(set_, "update", f"Pod {pod['metadata']['name']}")

    async def _follow_policy(self, set_: Object, pod: Object) -> None:
        """Claims that follow a changed retention policy are told of as a change of their Pod."""
        try:
            changed = await self._fix_claims(set_, pod)
        except ApiError as error:
            self._tell(set_, "update", f"Pod {pod['metadata']['name']}", error)
            raise
        if changed:
            self._tell(set_, "update", f"Pod {pod['metadata']['name']}")

    async def _fix_claims(self, set_: Object, pod: Object) -> bool:
        """Owner references of the claims follow the retention policy. Whether any had to be changed."""
        if not belongs_to(set_, pod):
            return False
        changed = False
        for claim in self._claims_of(set_, pod):
            if (owners := claim_owners(set_, pod, claim)) is None:
                continue
            copy = copy_object(claim)
            copy["metadata"]["ownerReferences"] = owners
            await self.client.update(CLAIMS, copy)
            changed = True
        return changed

    def _tell(self, set_: Object, verb: str, what: str, error: Exception | None = None) -> None:
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
