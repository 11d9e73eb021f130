"""Binding a pod's volumes before the pod is bound: what is written, and what is waited for.

Source: upstream's plugins/volumebinding/binder.go (BindPodVolumes): the scheduler says what is to be, the volume
controller and the provisioners do it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.api.persistent_volumes import BOUND_BY_CONTROLLER, CLAIMS, SELECTED_NODE, VOLUMES
from engine.api.types import NODES, PODS, Object
from engine.client.origin import revision_of
from engine.scheduler.framework.handle import Handle
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.claims import annotations_of, bound_volume, is_bound, is_meant_for, reachable_from
from engine.scheduler.plugins.migrated_topology import seen_on
from engine.scheduler.pod_info import PodInfo

POLL_PERIOD = 1.0


class BindingError(Exception):
    """The binding has come to nothing; the pod has to be scheduled anew."""


@dataclass(slots=True)
class PodVolumes:
    """What has to be done for a pod's claims: bindings to volumes that are there, and claims to provision."""

    bindings: list[tuple[Object, Object]] = field(default_factory=list)  # volume, claim
    provisions: list[Object] = field(default_factory=list)


class VolumeBinder:
    def __init__(self, handle: Handle, claims: Assumptions, volumes: Assumptions) -> None:
        self._handle = handle
        self._claims = claims
        self._volumes = volumes

    async def bind(self, chosen: PodVolumes, pod: PodInfo, node_name: str, timeout: float) -> None:
        """Returns when all is bound. Raises BindingError, and what a request raises."""
        await self._write(chosen)
        try:
            async with self._handle.clock.timeout(timeout):
                while not self._all_bound(chosen, pod, node_name):
                    await self._handle.clock.sleep(POLL_PERIOD)
        except TimeoutError:
            raise BindingError("binding volumes: context deadline exceeded") from None
        except BindingError as failure:
            raise BindingError(f"binding volumes: {failure}") from None

    def open_claims(self, chosen: PodVolumes) -> list[str]:
        """The names of the claims that are not bound yet."""
        claims = [*(claim for _, claim in chosen.bindings), *chosen.provisions]
        keys = [(claim["metadata"]["name"], claim["metadata"]["namespace"]) for claim in claims]
        return [key[0] for key in keys if (found := self._claims.actual(*key)) is None or not is_bound(found)]

    async def _write(self, chosen: PodVolumes) -> None:
        """Bind volumes to claims, and have the others provisioned."""
        client = self._handle.client
        chosen.bindings = [(await client.update(VOLUMES, volume), claim) for volume, claim in chosen.bindings]
        chosen.provisions = [await client.update(CLAIMS, claim) for claim in chosen.provisions]

    def _all_bound(self, chosen: PodVolumes, pod: PodInfo, node_name: str) -> bool:
        """Whether one after another is bound: what comes after the first that is not yet is not looked at."""
        node = self._handle.lister(NODES).get(node_name)
        if node is None:
            raise BindingError(f'failed to get node "{node_name}": node "{node_name}" not found')
        if self._handle.lister(PODS).get(pod.name, pod.namespace) is None:
            raise BindingError(f'pod does not exist any more: pod "{pod.name}" not found')
        bound = all(self._is_bound(volume, claim, node) for volume, claim in chosen.bindings)
        return bound and all(self._is_provisioned(claim, node) for claim in chosen.provisions)

    def _is_bound(self, written: Object, claim: Object, node: Object) -> bool:
        name = written["metadata"]["name"]
        volume = self._volumes.actual(name)
        if volume is None:
            raise BindingError(f'failed to check binding: could not find v1.PersistentVolume "{name}"')
        current = self._claim(claim, "failed to check binding")
        if revision_of(volume) < revision_of(written):
            return False
        self._check_affinity(volume, node)
        if not ((volume.get("spec") or {}).get("claimRef") or {}).get("uid"):
            raise BindingError(f'ClaimRef got reset for pv "{name}"')
        return is_bound(current)

    def _is_provisioned(self, written: Object, node: Object) -> bool:
        claim = self._claim(written, "failed to check provisioning pvc")
        if revision_of(claim) < revision_of(written):
            return False
        name, annotations = claim["metadata"]["name"], annotations_of(claim)
        if not annotations:
            raise BindingError(f'selectedNode annotation reset for PVC "{name}"')
        if annotations.get(SELECTED_NODE) != node["metadata"]["name"]:
            # So the provisioner says that it failed and that another node shall be tried.
            raise BindingError(f'provisioning failed for PVC "{name}"')
        if bound_volume(claim):
            volume = self._volumes.actual(bound_volume(claim))
            if volume is None:
                return False
            self._check_affinity(volume, node)
        return is_bound(claim)

    def _claim(self, claim: Object, what: str) -> Object:
        """The claim as the API server has it."""
        namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
        found = self._claims.actual(name, namespace)
        if found is None:
            raise BindingError(f'{what}: could not find v1.PersistentVolumeClaim "{namespace}/{name}"')
        return found

    def _check_affinity(self, volume: Object, node: Object) -> None:
        if not reachable_from(seen_on(volume, node, self._handle), node):
            told = f'pv "{volume["metadata"]["name"]}" node affinity doesn\'t match node "{node["metadata"]["name"]}"'
            raise BindingError(f"{told}: no matching NodeSelectorTerms")


def bound_to(volume: Object, claim: Object) -> Object:
    """The volume with a reference to the claim."""
    metadata = claim["metadata"]
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "uid": metadata.get("uid", ""),
        "resourceVersion": metadata.get("resourceVersion", ""),
    }
    changed = {**volume, "spec": {**volume["spec"], "claimRef": reference}}
    if _names(volume["spec"].get("claimRef") or {}) == _names(reference):
        changed["spec"] = volume["spec"]  # whichever version of the claim it was written for
    if not is_meant_for(volume, claim):
        marked = {**annotations_of(volume), BOUND_BY_CONTROLLER: "yes"}
        changed["metadata"] = {**volume["metadata"], "annotations": marked}
    return changed


def _names(reference: Object) -> tuple[object, ...]:
    return tuple(reference.get(name, "") for name in ("namespace", "name", "uid"))


def selected(claim: Object, node_name: str) -> Object:
    marked = {**annotations_of(claim), SELECTED_NODE: node_name}
    return {**claim, "metadata": {**claim["metadata"], "annotations": marked}}
