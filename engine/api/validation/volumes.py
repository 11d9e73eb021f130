"""Volumes of a Pod (core validation, ValidateVolumes, validateVolumeSource)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.api.types import Object
from engine.api.validation import text, volume_sources
from engine.api.validation.claims import claim_template
from engine.api.validation.problems import Problems
from engine.api.validation.projections import downward_api, projected
from engine.api.validation.volume_sources import SHARED

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MORE_THAN_ONE = "may not specify more than 1 volume type"
_CREATED = "must not reference a PVC that gets created for an ephemeral volume"
_ISCSI_LENGTH = 64
ISCSI_TOO_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    "if iscsi.initiatorName is specified."
)
# Where upstream's paths are not the fields' names: once in the error of a second source, once in the source's own.
_SECOND_PATH = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
SOURCE_PATH = {"gcePersistentDisk": "persistentDisk"}


class VolumeOwner(NamedTuple):
    """What has the volumes: a Pod of a name, or a template. A static Pod is a kubelet's own, mirrored here."""

    name: str = ""
    is_pod: bool = False
    is_static: bool = False


def volumes(
    found: Sequence[Object], path: str, problems: Problems, *, owner: VolumeOwner | None = None
) -> dict[str, Object]:
    """Checks the volumes; returns those without an error, by name, for the mounts to look up."""
    owner = owner or VolumeOwner()
    created = {f"{owner.name}-{volume.get('name', '')}" for volume in found if owner.name and "ephemeral" in volume}
    known: dict[str, Object] = {}
    for index, volume in enumerate(found):
        at = f"{path}[{index}]"
        before = len(problems)
        _source(volume, at, problems, owner=owner)
        name = volume.get("name", "")
        if not name:
            problems.required(f"{at}.name")
        else:
            problems.all_invalid(f"{at}.name", name, text.dns_label(name))
        if name in known:
            problems.duplicate(f"{at}.name", name)
        if len(problems) == before:
            known[name] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        if claim in created:
            problems.invalid(f"{at}.persistentVolumeClaim.claimName", claim, _CREATED)
    return known


def _source(volume: Object, path: str, problems: Problems, *, owner: VolumeOwner) -> None:
    """Exactly one of the sources is set, and it is complete."""
    first = ""
    for field, rule in _RULES.items():
        if field not in volume:
            continue
        if first:
            problems.forbidden(f"{path}.{_SECOND_PATH.get(field, field)}", _MORE_THAN_ONE)
        else:
            first = field
            rule(volume[field], f"{path}.{SOURCE_PATH.get(field, field)}", problems)
            _claim_name(volume, field, path, problems, owner=owner)
        if field == "iscsi" and iscsi_too_long(volume.get("name", ""), volume["iscsi"]):
            problems.invalid(f"{path}.name", volume.get("name", ""), ISCSI_TOO_LONG)
    if not first:
        problems.required(path, "must specify a volume type")


def iscsi_too_long(name: str, source: Object) -> bool:
    return "initiatorName" in source and len(f"{name}:{source.get('targetPortal', '')}") > _ISCSI_LENGTH


def _claim_name(volume: Object, field: str, path: str, problems: Problems, *, owner: VolumeOwner) -> None:
    """The claim that an ephemeral volume will get has a name that claims may have."""
    name = volume.get("name", "")
    if field == "ephemeral" and owner.name and name:
        claim = f"{owner.name}-{name}"
        wrong = text.dns_subdomain(claim)
        problems.all_invalid(f"{path}.name", name, (f'PVC name "{claim}": {why}' for why in wrong))


def _image(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "reference")
    problems.one_of(f"{path}.pullPolicy", source.get("pullPolicy"), _PULL_POLICIES)


def _ephemeral(source: Object, path: str, problems: Problems) -> None:
    if "volumeClaimTemplate" not in source:
        problems.required(f"{path}.volumeClaimTemplate")
    else:
        claim_template(source["volumeClaimTemplate"], f"{path}.volumeClaimTemplate", problems)


# In the order in which upstream looks for them.
_RULES: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "emptyDir": volume_sources.empty_dir,
    "hostPath": SHARED["hostPath"],
    "gitRepo": volume_sources.git_repo,
    "gcePersistentDisk": SHARED["gcePersistentDisk"],
    "awsElasticBlockStore": SHARED["awsElasticBlockStore"],
    "secret": volume_sources.secret,
    "nfs": SHARED["nfs"],
    "iscsi": volume_sources.iscsi,
    "glusterfs": volume_sources.complete("endpoints", "path"),
    "flocker": SHARED["flocker"],
    "persistentVolumeClaim": volume_sources.complete("claimName"),
    "rbd": SHARED["rbd"],
    "cinder": volume_sources.cinder,
    "cephfs": SHARED["cephfs"],
    "quobyte": SHARED["quobyte"],
    "downwardAPI": downward_api,
    "fc": SHARED["fc"],
    "flexVolume": SHARED["flexVolume"],
    "configMap": volume_sources.config_map,
    "azureFile": volume_sources.complete("secretName", "shareName"),
    "vsphereVolume": SHARED["vsphereVolume"],
    "photonPersistentDisk": SHARED["photonPersistentDisk"],
    "portworxVolume": SHARED["portworxVolume"],
    "azureDisk": SHARED["azureDisk"],
    "storageos": volume_sources.storage_os,
    "projected": projected,
    "scaleIO": SHARED["scaleIO"],
    "csi": volume_sources.csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
SOURCES = tuple(_RULES)
