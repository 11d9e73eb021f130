"""The volumes of a Pod in words.

Source of the behaviour: kubectl pkg/describe (describeVolumes and the printers of each source).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.api.types import Object
from engine.kubectl.describe.writer import NONE, UNSET, Page, true_false

Fields = list[tuple[str, object]]


def write(page: Page, volumes: Sequence[Object] | None, space: str = "") -> None:
    if not volumes:
        page.line(f"{space}Volumes:\t{NONE}")
        return
    page.line(f"{space}Volumes:")
    for volume in volumes:
        page.line(f"{' ' if space else ''}{volume['name']}:", 1)
        kind = next((key for key in volume if key in SOURCES), "")
        if not kind:
            page.line("<unknown>", 1)
            continue
        text, fields = SOURCES[kind]
        page.field("Type", text, 2)
        for name, value in fields(volume[kind]):
            page.field(name, value, 2)


def _host_path(source: Object) -> Fields:
    return [("Path", source.get("path", "")), ("HostPathType", source.get("type", NONE))]


def _empty_dir(source: Object) -> Fields:
    return [("Medium", source.get("medium", "")), ("SizeLimit", source.get("sizeLimit", UNSET))]


def _secret(source: Object) -> Fields:
    return [("SecretName", source.get("secretName", "")), ("Optional", true_false(source.get("optional")))]


def _config_map(source: Object) -> Fields:
    return [("Name", source.get("name", "")), ("Optional", true_false(source.get("optional")))]


def _claim(source: Object) -> Fields:
    return [("ClaimName", source.get("claimName", "")), ("ReadOnly", true_false(source.get("readOnly")))]


def _nfs(source: Object) -> Fields:
    return [
        ("Server", source.get("server", "")),
        ("Path", source.get("path", "")),
        ("ReadOnly", true_false(source.get("readOnly"))),
    ]


def _csi(source: Object) -> Fields:
    attributes = source.get("volumeAttributes") or {}
    shown = "\n\t".join(f"{key}={attributes[key]}" for key in sorted(attributes)) or NONE
    return [
        ("Driver", source.get("driver", "")),
        ("FSType", source.get("fsType", "")),
        ("ReadOnly", true_false(source.get("readOnly"))),
        ("VolumeAttributes", shown),
    ]


def _image(source: Object) -> Fields:
    return [("Reference", source.get("reference", "")), ("PullPolicy", source.get("pullPolicy", ""))]


def _nothing(source: Object) -> Fields:
    return []


def _downward(source: Object) -> Fields:
    lines = ""
    for item in source.get("items") or ():
        reference = item.get("fieldRef", {}).get("fieldPath") or item.get("resourceFieldRef", {}).get("resource", "")
        lines += f"\n      {reference} -> {item['path']}"
    return [("Items", lines)]


def _projected(source: Object) -> Fields:
    fields: Fields = []
    for part in source.get("sources") or ():
        if secret := part.get("secret"):
            fields += [("SecretName", secret.get("name", "")), ("Optional", true_false(secret.get("optional")))]
        elif "downwardAPI" in part:
            fields.append(("DownwardAPI", "true"))
        elif config_map := part.get("configMap"):
            optional = true_false(config_map.get("optional"))
            fields += [("ConfigMapName", config_map.get("name", "")), ("Optional", optional)]
        elif token := part.get("serviceAccountToken"):
            fields.append(("TokenExpirationSeconds", token.get("expirationSeconds", 3600)))
    return fields


SOURCES: Mapping[str, tuple[str, Callable[[Object], Fields]]] = {
    "hostPath": ("HostPath (bare host directory volume)", _host_path),
    "emptyDir": ("EmptyDir (a temporary directory that shares a pod's lifetime)", _empty_dir),
    "secret": ("Secret (a volume populated by a Secret)", _secret),
    "configMap": ("ConfigMap (a volume populated by a ConfigMap)", _config_map),
    "nfs": ("NFS (an NFS mount that lasts the lifetime of a pod)", _nfs),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        _claim,
    ),
    "ephemeral": (
        "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        _nothing,
    ),
    "downwardAPI": ("DownwardAPI (a volume populated by information about the pod)", _downward),
    "projected": ("Projected (a volume that contains injected data from multiple sources)", _projected),
    "csi": ("CSI (a Container Storage Interface (CSI) volume source)", _csi),
    "image": ("Image (a container image or OCI artifact)", _image),
}


def _persistent_csi(source: Object) -> Fields:
    attributes = source.get("volumeAttributes") or {}
    lines = "".join(f"\n\t    {key}={attributes[key]}" for key in sorted(attributes))
    return [
        ("Driver", source.get("driver", "")),
        ("FSType", source.get("fsType", "")),
        ("VolumeHandle", source.get("volumeHandle", "")),
        ("ReadOnly", true_false(source.get("readOnly"))),
        ("VolumeAttributes", lines.removeprefix("\n\t") or NONE),
    ]


def _local(source: Object) -> Fields:
    return [("Path", source.get("path", ""))]


def persistent_source(page: Page, spec: Object) -> None:
    """What a PersistentVolume is made of."""
    sources: Mapping[str, tuple[str, Callable[[Object], Fields]]] = {
        **SOURCES,
        "csi": (SOURCES["csi"][0], _persistent_csi),
        "local": ("LocalVolume (a persistent volume backed by local storage on a node)", _local),
    }
    kind = next((key for key in spec if key in sources), "")
    if not kind:
        page.line("<unknown>", 1)
        return
    text, fields = sources[kind]
    page.field("Type", text, 2)
    for name, value in fields(spec[kind]):
        page.field(name, value, 2)
