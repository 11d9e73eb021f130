"""What a PersistentVolumeClaim asks for, of one that is stored or of the template of an ephemeral volume.

Source of the behaviour: kubectl pkg/describe (printPersistentVolumeClaim) and pkg/util/storage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.api.persistent_volumes import class_of
from engine.api.types import Object
from engine.kubectl.describe.writer import Page

ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def write(
    page: Page, obj: Object, *, status: Callable[[], None] | None = None, finalizers: Callable[[], None] | None = None
) -> None:
    """The claim; `status` and `finalizers` write what a template has not."""
    spec, known = obj.get("spec") or {}, obj.get("status") or {}
    page.field("StorageClass", class_of(obj))
    if status is not None:
        status()
    page.field("Volume", spec.get("volumeName", ""))
    page.labels_and_annotations(obj)
    if finalizers is not None:
        finalizers()
    bound = bool(spec.get("volumeName"))
    page.field("Capacity", (known.get("capacity") or {}).get("storage", "0") if bound else "")
    page.field("Access Modes", access_modes(known.get("accessModes")) if bound else "")
    if spec.get("volumeMode"):
        page.field("VolumeMode", spec["volumeMode"])
    if source := spec.get("dataSource"):
        page.line("DataSource:")
        for title, key in (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name")):
            if key != "apiGroup" or source.get(key) is not None:
                page.field(title, source.get(key, ""), 1)


def access_modes(modes: Sequence[str] | None) -> str:
    """`RWO,ROX`, each once, in their own order; what is none of them is passed over."""
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))
