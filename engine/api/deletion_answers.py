"""Which kinds are answered in full where one of them is deleted for good; of all others that is told by a Status.

Source: `ReturnDeletedObject` of the stores in pkg/registry/*/*/storage/storage.go.
"""

from __future__ import annotations

from engine.api.resources import ResourceInfo

_RETURNED = {
    "": (
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourcequotas",
        "serviceaccounts",
        "services",
    ),
    "resource.k8s.io": ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
    "storage.k8s.io": ("csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"),
}


def returned_when_deleted(info: ResourceInfo) -> bool:
    return info.gvr.resource in _RETURNED.get(info.gvr.group, ())
