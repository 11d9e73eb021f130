"""What new and changed claims and volumes get on the way to the store.

Sources: pkg/registry/core/persistentvolume/strategy.go, persistentvolumeclaim/strategy.go and
pkg/api/persistentvolumeclaim/util.go (EnforceDataSourceBackwardsCompatibility, NormalizeDataSources; KEP-1495).
"""

from __future__ import annotations

from engine.api.types import Object

# What a claim could be filled from before dataSourceRef: kind and group.
_OLD_SOURCES = (("PersistentVolumeClaim", ""), ("VolumeSnapshot", "snapshot.storage.k8s.io"))
_REFERENCE = ("apiGroup", "kind", "name")


def prepare_volume_for_create(volume: Object) -> None:
    """A new volume enters its first phase as it is created."""
    now = volume["metadata"].get("creationTimestamp")
    if now:
        volume["status"]["lastPhaseTransitionTime"] = now


def prepare_volume_for_status_update(new: Object, old: Object, now: str) -> None:
    """Whoever moves a volume to another phase need not say when."""
    status, before = new.setdefault("status", {}), old.get("status") or {}
    moved = status.get("phase", "") != before.get("phase", "")
    if moved and status.get("lastPhaseTransitionTime") in (None, before.get("lastPhaseTransitionTime")):
        status["lastPhaseTransitionTime"] = now


def prepare_attachment_for_create(attachment: Object) -> None:
    """An empty capacity, which no inline volume may have more of, is none."""
    source = (attachment.get("spec") or {}).get("source") or {}
    inline = source.get("inlineVolumeSpec") or {}
    if not inline.get("capacity", True):
        del inline["capacity"]


def prepare_claim_for_create(claim: Object) -> None:
    spec = claim.setdefault("spec", {})
    _drop_unknown_source(spec)
    _mirror_sources(spec)


def prepare_claim_for_update(new: Object, old: Object) -> None:
    spec, before = new.setdefault("spec", {}), old.get("spec") or {}
    if before.get("dataSource") is None and before.get("dataSourceRef") is None:
        _drop_unknown_source(spec)
    _mirror_sources(spec)


def _drop_unknown_source(spec: Object) -> None:
    source = spec.get("dataSource")
    if spec.get("dataSourceRef") is not None:
        return  # whoever sets that knows what it is for
    if source is not None and (source.get("kind", ""), source.get("apiGroup") or "") not in _OLD_SOURCES:
        del spec["dataSource"]


def _mirror_sources(spec: Object) -> None:
    """dataSource and the newer dataSourceRef say the same, unless the latter leads to another namespace."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = _copied(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = _copied(reference)


def _copied(reference: Object) -> Object:
    return {field: reference[field] for field in _REFERENCE if reference.get(field) is not None}
