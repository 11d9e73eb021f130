"""What volumes, claims and classes of storage are warned of.

Sources: pkg/api/persistentvolume/util.go, pkg/api/persistentvolumeclaim/util.go, pkg/api/storage/util.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.persistent_volumes import BETA_CLASS
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.warnings import nodes

_CLASS_TEXT = 'deprecated since v1.8; use "storageClassName" attribute instead'
_RECYCLE_TEXT = (
    "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."
)
# In the order in which upstream looks at them; `storageos` is named as in its internal type.
DEPRECATED_PLUGINS: Mapping[str, tuple[str, str]] = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}


def fractional(amounts: Mapping[str, str] | None, names: tuple[str, ...], path: str) -> list[str]:
    """Bytes come in one piece."""
    found: list[str] = []
    if not amounts:
        return found
    for name in names:
        if name in amounts:
            value = Quantity.parse(amounts[name])
            if value.milli % 1000:
                found.append(f'{path}[{name}]: fractional byte value "{value}" is invalid, must be an integer')
    return found


def claim_spec(spec: Object, path: str) -> list[str]:
    resources = spec.get("resources") or {}
    return [
        text
        for field in ("requests", "limits")
        for text in fractional(resources.get(field), ("storage",), f"{path}.resources.{field}")
    ]


def persistent_volume_claim(obj: Object) -> list[str]:
    return _class_annotation(obj) + claim_spec(obj.get("spec") or {}, "spec")


def persistent_volume(obj: Object) -> list[str]:
    spec, found = obj.get("spec") or {}, _class_annotation(obj)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        found.append(f"spec.persistentVolumeReclaimPolicy: {_RECYCLE_TEXT}")
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        found += nodes.expressions(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")
    found += [f"spec.{name}: {text}" for field, (name, text) in DEPRECATED_PLUGINS.items() if field in spec]
    return found


def _class_annotation(obj: Object) -> list[str]:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return [f"metadata.annotations[{BETA_CLASS}]: {_CLASS_TEXT}"] if BETA_CLASS in annotations else []


def storage_class(obj: Object) -> list[str]:
    return [
        f"allowedTopologies[{index}].matchLabelExpressions[{place}].key: {nodes.DEPRECATED_LABELS[expression['key']]}"
        for index, term in enumerate(obj.get("allowedTopologies") or ())
        for place, expression in enumerate(term.get("matchLabelExpressions") or ())
        if expression.get("key") in nodes.DEPRECATED_LABELS
    ]


def csi_storage_capacity(obj: Object) -> list[str]:
    return nodes.label_selector(obj.get("nodeTopology") or {}, "nodeTopology")
