"""DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize and DefaultIngressClass.

Source: plugin/pkg/admission/storage/storageclass/setdefault, storageobjectinuseprotection and
persistentvolume/resize; plugin/pkg/admission/network/defaultingressclass.
"""

from __future__ import annotations

from engine.api.default_class import INGRESS, default_storage_class, marked, newest
from engine.api.persistent_volumes import BETA_CLASS, STORAGE_CLASSES, class_of, requested
from engine.api.resources import ResourceInfo
from engine.api.types import GVR
from engine.apiserver.admission.attributes import CREATES, UPDATES, Attributes, Operation, Plugin, denied
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.lookup import Lookup

INGRESS_CLASSES = GVR("networking.k8s.io", "v1", "ingressclasses")
_FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}
_ATTRIBUTES_SINCE = (1, 34)


class StorageObjectInUseProtection(Plugin):
    """What is in use is not deleted: the protection controllers take the finalizer off."""

    name = "StorageObjectInUseProtection"
    operations = CREATES
    resources = frozenset(_FINALIZERS)

    async def mutate(self, attributes: Attributes) -> bool:
        finalizer = _FINALIZERS.get(attributes.key)
        obj = attributes.object
        if finalizer is None or obj is None or attributes.operation is not Operation.CREATE:
            return False
        if attributes.resource.gvr.group and attributes.resource.release < _ATTRIBUTES_SINCE:
            return False  # no controller would take it off
        finalizers = obj["metadata"].get("finalizers") or []
        if finalizer in finalizers:
            return False
        obj["metadata"]["finalizers"] = [*finalizers, finalizer]
        return True


class DefaultStorageClass(Plugin):
    """A claim that names no class gets the default one; of several the newest."""

    name = "DefaultStorageClass"
    operations = CREATES
    resources = frozenset(("persistentvolumeclaims",))

    def __init__(self, caches: WatchCaches, classes: ResourceInfo | None) -> None:
        self._caches = caches
        self._classes = classes

    async def mutate(self, attributes: Attributes) -> bool:
        claim = attributes.object
        if attributes.key != "persistentvolumeclaims" or attributes.operation is not Operation.CREATE or claim is None:
            return False
        spec = claim.setdefault("spec", {})
        annotations = claim["metadata"].get("annotations") or {}
        if BETA_CLASS in annotations or spec.get("storageClassName") is not None or self._classes is None:
            return False
        cache = await self._caches.started(self._classes)
        found = default_storage_class(cache.objects())
        if found is None:
            return False
        spec["storageClassName"] = found["metadata"]["name"]
        return True


class PersistentVolumeClaimResize(Plugin):
    """Only a bound claim of a class that allows it may grow."""

    name = "PersistentVolumeClaimResize"
    operations = UPDATES
    resources = frozenset(("persistentvolumeclaims",))

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def validate(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old
        if attributes.key != "persistentvolumeclaims" or new is None or old is None:
            return
        if requested(new) <= requested(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise denied(attributes, "Only bound persistent volume claims can be expanded")
        name = class_of(new)
        found = await self._lookup.find(STORAGE_CLASSES, "", name) if name and name == class_of(old) else None
        if found is None or not found.get("allowVolumeExpansion"):
            raise denied(
                attributes,
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
                "support resize",
            )


class DefaultIngressClass(Plugin):
    """An Ingress that names no class gets the default one; of several the newest."""

    name = "DefaultIngressClass"
    operations = CREATES
    resources = frozenset(("ingresses.networking.k8s.io",))

    def __init__(self, caches: WatchCaches, classes: ResourceInfo | None) -> None:
        self._caches = caches
        self._classes = classes

    async def mutate(self, attributes: Attributes) -> bool:
        ingress = attributes.object
        if attributes.key != "ingresses.networking.k8s.io" or attributes.operation is not Operation.CREATE:
            return False
        if ingress is None or self._classes is None:
            return False
        annotations = ingress["metadata"].get("annotations") or {}
        spec = ingress.setdefault("spec", {})
        if spec.get("ingressClassName") is not None or "kubernetes.io/ingress.class" in annotations:
            return False
        cache = await self._caches.started(self._classes)
        found = newest(marked(cache.objects(), INGRESS))
        if found is None:
            return False
        spec["ingressClassName"] = found["metadata"]["name"]
        return True
