"""The ResourceClaim controller: claims are made for Pods from templates, and freed when no Pod uses them any more.

Source: pkg/controller/resourceclaim. Allocating them is the scheduler's part, except that a Pod which came with a node
has no scheduler: then an allocated claim is reserved for it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object, copy_object
from engine.api.wire import APPLY_PATCH
from engine.client import WARNING
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.features import serves_resource_claims

CLAIMS = GVR("resource.k8s.io", "v1", "resourceclaims")
TEMPLATES = GVR("resource.k8s.io", "v1", "resourceclaimtemplates")

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
FINALIZER = "resource.kubernetes.io/delete-protection"
_BY_OWNER, _BY_CLAIM = "owner", "claim"
_LONGEST_BASE = 57


class ResourceClaimController(Controller):
    """Keys are `pod:` and `claim:` with the object's own key."""

    name = "resource-claim-controller"
    kind = "resourceclaim"
    event_source = "resource_claim"

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return serves_resource_claims(config.kubernetes_version)

    def set_up(self) -> None:
        self._pods, self._claims, self._templates = self.lister(PODS), self.lister(CLAIMS), self.lister(TEMPLATES)
        self.index(CLAIMS, _BY_OWNER, _owner_uids)
        self.index(PODS, _BY_CLAIM, lambda pod: [f"claim:{key}" for key in claim_keys(pod)])
        self.watch(PODS, self._pod_changed)
        self.watch(CLAIMS, self._claim_changed)
        self.watch(TEMPLATES, self._template_changed)

    # -- what wakes what

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        pod = new or old
        if pod is None:
            return []
        if new is None or _is_over(new):
            return [f"claim:{key}" for key in (*claim_keys(pod), *_extended_key(pod))]
        return [f"pod:{_key(pod)}"] if pod["spec"].get("resourceClaims") else []

    def _claim_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        claim = new or old
        assert claim is not None
        keys = [f"claim:{_key(claim)}"]
        # A Pod may have waited for it, and needs another if it is gone.
        pods = self._pods.by_index(_BY_CLAIM, f"claim:{_key(claim)}")
        return keys + [f"pod:{_key(pod)}" for pod in pods]

    def _template_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if old is not None or new is None:
            return []
        name, namespace = new["metadata"]["name"], new["metadata"]["namespace"]
        return [
            f"pod:{_key(pod)}"
            for pod in self._pods.list(namespace)
            if any(entry.get("resourceClaimTemplateName") == name for entry in pod["spec"].get("resourceClaims") or ())
        ]

    def object_of(self, key: str) -> str:
        kind, _, name = key.partition(":")
        return f"{'pod' if kind == 'pod' else self.kind}/{name}"

    async def reconcile(self, key: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "pod":
            if (pod := self._pods.by_key(name)) is not None:
                await self._sync_pod(pod)
        elif (claim := self._claims.by_key(name)) is not None:
            await self._sync_claim(claim)

    # -- Pods

    async def _sync_pod(self, pod: Object) -> None:
        if pod["metadata"].get("deletionTimestamp") or _is_over(pod):
            return
        known = {s["name"]: s for s in pod["status"].get("resourceClaimStatuses") or ()}
        made = {}
        for entry in pod["spec"].get("resourceClaims") or ():
            if template := entry.get("resourceClaimTemplateName"):
                name = await self._claim_for(pod, entry["name"], template, known.get(entry["name"]))
                if name != (known.get(entry["name"]) or {}).get("resourceClaimName"):
                    made[entry["name"]] = {"name": entry["name"], "resourceClaimName": name}
        if made:
            statuses = list({**known, **made}.values())
            await self._write_statuses(pod, statuses)
        if pod["spec"].get("nodeName"):
            await self._reserve(pod)

    async def _claim_for(self, pod: Object, entry: str, template: str, known: Object | None) -> str | None:
        """The name of the claim that is made for the Pod; None where its status says that none is needed."""
        if known is not None and "resourceClaimName" not in known:
            return None
        owned = self._claims.by_index(_BY_OWNER, pod["metadata"]["uid"])
        for claim in owned:
            if (claim["metadata"].get("annotations") or {}).get(POD_CLAIM_NAME) == entry:
                return str(claim["metadata"]["name"])
        namespace = pod["metadata"]["namespace"]
        found = self._templates.get(template, namespace)
        try:
            if found is None:
                missing = f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
                raise ValueError(f'resource claim template "{template}": {missing}')
            created = await self.client.create(CLAIMS, _claim(pod, entry, found), namespace=namespace)
        except (ApiError, ValueError) as error:
            # One that is refused has no name yet, and upstream tells none.
            text = f"create ResourceClaim : {error}" if isinstance(error, ApiError) else str(error)
            self.recorder.event(pod, WARNING, "FailedResourceClaimCreation", f"PodResourceClaim {entry}: {text}")
            raise
        return str(created["metadata"]["name"])

    async def _write_statuses(self, pod: Object, statuses: list[Object]) -> None:
        metadata = pod["metadata"]
        applied: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]},
            "status": {"resourceClaimStatuses": statuses},
        }
        await self.client.patch(
            PODS,
            metadata["name"],
            applied,
            namespace=metadata["namespace"],
            subresource="status",
            content_type=APPLY_PATCH,
            field_manager="ResourceClaimController",
            force=True,
        )

    async def _reserve(self, pod: Object) -> None:
        """A Pod that nobody scheduled uses its claims all the same."""
        for key in claim_keys(pod):
            claim = self._claims.by_key(key)
            if claim is None or (claim.get("status") or {}).get("allocation") is None:
                continue
            users = claim["status"].get("reservedFor") or []
            if any(user.get("uid") == pod["metadata"]["uid"] for user in users):
                continue
            user = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
            written = copy_object(claim)
            written["status"]["reservedFor"] = [*users, user]
            await self.client.update_status(CLAIMS, written)

    # -- claims

    async def _sync_claim(self, claim: Object) -> None:
        status = claim.get("status") or {}
        users = status.get("reservedFor") or []
        left = [user for user in users if await self._still_uses(claim, user)]
        protected = FINALIZER in (claim["metadata"].get("finalizers") or ())
        going = bool(claim["metadata"].get("deletionTimestamp"))
        if len(left) < len(users) or (protected and going and not left and status.get("allocation") is not None):
            claim = await self._free(claim, left, deallocate=protected and not left)
        if not left and protected and (going or len(users) > 0):
            claim = await self._unprotect(claim)
        if not left:
            await self._delete_if_unused(claim)

    async def _still_uses(self, claim: Object, user: Object) -> bool:
        """Whether what a claim is reserved for is there and may still run."""
        if user.get("apiGroup") or user.get("resource") != "pods":
            return True  # not ours to judge
        namespace = claim["metadata"]["namespace"]
        pod = self._pods.get(user["name"], namespace)
        if pod is None:
            # The cache may not have it yet.
            try:
                pod = await self.client.get(PODS, user["name"], namespace=namespace)
            except ApiError as error:
                if error.code != 404:
                    raise
                return False
        return bool(pod["metadata"].get("uid") == user.get("uid")) and not _is_over(pod)

    async def _free(self, claim: Object, left: list[Object], *, deallocate: bool) -> Object:
        written = copy_object(claim)
        status = written["status"]
        status["reservedFor"] = left
        if not left:
            del status["reservedFor"]
        if deallocate:
            status.pop("allocation", None)
        return await self.client.update_status(CLAIMS, written)

    async def _unprotect(self, claim: Object) -> Object:
        written = copy_object(claim)
        kept = [each for each in written["metadata"].get("finalizers") or () if each != FINALIZER]
        written["metadata"]["finalizers"] = kept
        return await self.client.update(CLAIMS, written)

    async def _delete_if_unused(self, claim: Object) -> None:
        """A claim that was made for a Pod goes when that Pod will not run any more."""
        owner = next((o for o in claim["metadata"].get("ownerReferences") or () if o.get("controller")), None)
        if owner is None or owner.get("kind") != "Pod" or claim["metadata"].get("deletionTimestamp"):
            return
        pod = self._pods.get(owner["name"], claim["metadata"]["namespace"])
        if pod is None or (pod["metadata"]["uid"] == owner["uid"] and not _is_over(pod)):
            return  # of a Pod that is gone the garbage collector takes care
        try:
            await self.client.delete(
                CLAIMS,
                claim["metadata"]["name"],
                namespace=claim["metadata"]["namespace"],
                preconditions={"uid": claim["metadata"]["uid"]},
            )
        except ApiError as error:
            if error.code not in (404, 409):
                raise


def _key(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _owner_uids(claim: Object) -> list[str]:
    return [owner["uid"] for owner in claim["metadata"].get("ownerReferences") or () if owner.get("controller")]


def claim_keys(pod: Object) -> Iterator[str]:
    """The claims of a Pod, those that were made for it by its status."""
    namespace = pod["metadata"]["namespace"]
    made = {s["name"]: s.get("resourceClaimName") for s in pod["status"].get("resourceClaimStatuses") or ()}
    for entry in pod["spec"].get("resourceClaims") or ():
        if name := entry.get("resourceClaimName") or made.get(entry["name"]):
            yield f"{namespace}/{name}"


def _extended_key(pod: Object) -> list[str]:
    """The claim that the scheduler made for the Pod's extended resources."""
    status = pod["status"].get("extendedResourceClaimStatus") or {}
    return [f"{pod['metadata']['namespace']}/{name}"] if (name := status.get("resourceClaimName")) else []


def _is_over(pod: Object) -> bool:
    """Whether the Pod has run to its end, or is on its way out and never got a node."""
    if pod["status"].get("phase") in ("Succeeded", "Failed"):
        return True
    return bool(pod["metadata"].get("deletionTimestamp")) and not pod["spec"].get("nodeName")


def _base_name(pod: str, entry: str) -> str:
    """Of both names as much as leaves room for what is generated, each cut by its share."""
    whole = f"{pod}-{entry}-"
    if len(whole) <= _LONGEST_BASE:
        return whole
    pod_length, entry_length = (len(name) * _LONGEST_BASE // len(whole) for name in (pod, entry))
    return f"{pod[:pod_length]}-{entry[:entry_length]}"


def _claim(pod: Object, entry: str, template: Object) -> Object:
    wanted, metadata = copy_object(template["spec"]), pod["metadata"]
    given = wanted.get("metadata") or {}
    made: Object = {
        "generateName": _base_name(metadata["name"], entry),
        "annotations": {**(given.get("annotations") or {}), POD_CLAIM_NAME: entry},
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": metadata["name"],
                "uid": metadata["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    if labels := given.get("labels"):
        made["labels"] = labels
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": made,
        "spec": wanted.get("spec") or {},
    }
