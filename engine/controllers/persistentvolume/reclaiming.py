"""What becomes of a volume whose claim is gone (pkg/controller/volume/persistentvolume pv_controller.go, reclaimVolume;
pkg/volume/hostpath and nfs; pkg/volume/util/recyclerclient).

Of the volume plugins that are left in kube-controller-manager one deletes volumes, that of hostPath, and only below
/tmp; whose provisioner is not built in leaves them to that. Two recycle: a Pod in the namespace default empties the
volume, and then it is free again.
"""

from __future__ import annotations

import re

from engine.api.persistent_volumes import capacity
from engine.api.types import Object
from engine.controllers.persistentvolume.objects import PROVISIONED_BY, annotations_of
from engine.controllers.persistentvolume.plugins import BUILT_IN

RECYCLER = "recycler-for-"
RECYCLERS_NAMESPACE = "default"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"
_PLUGINS = frozenset({"csi", "hostPath", "local", "nfs"})
_PLUGIN_NAMES = frozenset({"kubernetes.io/csi", "kubernetes.io/local-volume", "kubernetes.io/nfs"})
_HOST_PATH = "kubernetes.io/host-path"
_LEAST_SECONDS = {"hostPath": 60, "nfs": 300}  # --pv-recycler-minimum-timeout-hostpath and -nfs
_SECONDS_A_GIBIBYTE = 30  # --pv-recycler-timeout-increment-hostpath and -nfs
_IMAGE = "registry.k8s.io/build-image/debian-base:bookworm-v1.0.6"
_SCRUB = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'
_NOT_DELETABLE = "no deletable volume plugin matched"


class CannotDeleteError(Exception):
    """Why a volume is not deleted, as its status says."""


def is_deleted(volume: Object) -> bool:
    """Whether the controller itself deletes a volume; False where that is somebody else's. Raises CannotDeleteError."""
    provisioner = annotations_of(volume).get(PROVISIONED_BY, "")
    if provisioner and provisioner != _HOST_PATH:
        if not provisioner.startswith(BUILT_IN):
            return False
        known = provisioner in _PLUGIN_NAMES
        raise CannotDeleteError(_NOT_DELETABLE if known else f"no volume plugin matched name: {provisioner}")
    host = volume["spec"].get("hostPath")
    if host is None:
        why = _NOT_DELETABLE if _PLUGINS & set(volume["spec"]) else "no volume plugin matched"
        name = volume["metadata"]["name"]
        raise CannotDeleteError(f'error getting deleter volume plugin for volume "{name}": {why}')
    if not re.search("/tmp/.+", host["path"]):
        raise CannotDeleteError(f"host_path deleter only supports /tmp/.+ but received provided {host['path']}")
    return True


def recycler(volume: Object) -> Object | None:
    """The Pod that empties a volume; None for one that nothing recycles."""
    source = next((name for name in _LEAST_SECONDS if volume["spec"].get(name)), None)
    if source is None:
        return None
    fields = ("path",) if source == "hostPath" else ("server", "path")
    given = volume["spec"][source]
    seconds = max(_LEAST_SECONDS[source], capacity(volume).value // 2**30 * _SECONDS_A_GIBIBYTE)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": recycler_name(volume), "namespace": RECYCLERS_NAMESPACE},
        "spec": {
            "volumes": [{"name": "vol", source: {field: given[field] for field in fields}}],
            "containers": [
                {
                    "name": "pv-recycler",
                    "image": _IMAGE,
                    "command": ["/bin/sh"],
                    "args": ["-c", _SCRUB],
                    "volumeMounts": [{"name": "vol", "mountPath": "/scrub"}],
                }
            ],
            "restartPolicy": "Never",
            "activeDeadlineSeconds": seconds,
        },
    }


def recycler_name(volume: Object) -> str:
    return f"{RECYCLER}{volume['metadata']['name']}"


def failure_of(pod: Object) -> str:
    """Why a recycler failed, as the volume's status says."""
    message = (pod.get("status") or {}).get("message") or "pod failed, pod.Status.Message unknown"
    return f"Recycle failed: failed to recycle volume: {message}"
