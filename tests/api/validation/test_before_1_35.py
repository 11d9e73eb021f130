"""What 1.34 and 1.35 tell once, and the releases before told twice."""

from __future__ import annotations

import copy

import pytest

from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.validation import validate_update
from tests.api.objects import deployment, prepared

STORAGE = "storage.k8s.io"
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
ATTACHED = {"attacher": "csi.example.com", "nodeName": "n", "source": {"persistentVolumeName": "p"}}
KINDS: dict[str, tuple[GVK, Object, dict[str, int]]] = {
    "a claim": (GVK("", "v1", "PersistentVolumeClaim"), {"spec": CLAIM}, {"1.34": 5, "1.35": 4, "1.37": 4}),
    "daemons": (GVK("apps", "v1", "DaemonSet"), {"spec": deployment()["spec"]}, {"1.33": 4, "1.34": 3, "1.37": 3}),
    "replicas": (GVK("apps", "v1", "ReplicaSet"), {"spec": deployment()["spec"]}, {"1.33": 4, "1.34": 3, "1.37": 3}),
    "an attachment": (GVK(STORAGE, "v1", "VolumeAttachment"), {"spec": ATTACHED}, {"1.34": 4, "1.35": 3, "1.37": 3}),
    "attributes": (
        GVK(STORAGE, "v1", "VolumeAttributesClass"),
        {"driverName": "csi.example.com", "parameters": {"iops": "5"}},
        {"1.34": 5, "1.35": 4, "1.37": 4},
    ),
}


@pytest.mark.parametrize(("gvk", "made", "times"), KINDS.values(), ids=KINDS.keys())
def test_how_often_a_label_is_refused(gvk: GVK, made: Object, times: dict[str, int]) -> None:
    """Twice by the REST layer, and as often as the kind's own rules look."""
    namespace = {"namespace": "default"} if gvk.group != STORAGE else {}
    old = prepared(gvk, {"metadata": {"name": "web", **namespace}, **made})
    old["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a b": ""}
    for version, told in times.items():
        info = ResourceRegistry.for_version(version).by_kind(gvk)
        assert info is not None
        causes = list(validate_update(info, new, old))
        assert [each.field for each in causes] == ["metadata.labels"] * told
