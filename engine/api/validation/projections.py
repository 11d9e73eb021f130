"""Projected and downward API volumes: several sources in one folder (core validation, validateProjectionSources)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.environment import resource_field_ref, volume_field
from engine.api.validation.files import file_mode, items, local_file
from engine.api.validation.go_values import internal
from engine.api.validation.labels import annotations_size, label_selector
from engine.api.validation.problems import Problems
from engine.api.validation.signers import bundle_name, signer_name

_CONFLICT = "conflicting duplicate paths"
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_HOUR, _DAY, _QUARTER = 3600, 86_400, 7_862_400
_MIN_TOKEN_SECONDS, _MAX_TOKEN_SECONDS = 600, 1 << 32
_CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")


def downward_api(source: Object, path: str, problems: Problems) -> None:
    file_mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    for item in source.get("items", ()):
        _downward_file(item, path, problems)


def _downward_file(item: Object, path: str, problems: Problems) -> None:
    # The path is the volume's, not the item's: so it is upstream.
    problems.required_fields(item, path, "path")
    local_file(item.get("path", ""), f"{path}.path", problems)
    if "fieldRef" in item:
        volume_field(item["fieldRef"], f"{path}.fieldRef", problems)
        if "resourceFieldRef" in item:
            problems.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif "resourceFieldRef" in item:
        resource_field_ref(item["resourceFieldRef"], f"{path}.resourceFieldRef", problems, volume=True)
    else:
        problems.required(path, "one of fieldRef and resourceFieldRef is required")
    file_mode(item.get("mode"), f"{path}.mode", problems)


class _Place(NamedTuple):
    """Where a projection stands: the path of its volume, its own, and the files that the volume has so far."""

    volume: str
    own: str
    files: set[str]

    def take(self, file: str, shown: str, problems: Problems) -> None:
        if file in self.files:
            problems.invalid(self.volume, shown, _CONFLICT)
        self.files.add(file)


class _Projection(Protocol):
    def __call__(self, source: Object, place: _Place, problems: Problems) -> None: ...


def projected(source: Object, path: str, problems: Problems) -> None:
    file_mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    files: set[str] = set()
    for index, projection in enumerate(source.get("sources", ())):
        at = f"{path}.sources[{index}]"
        found = [field for field in _PROJECTIONS if field in projection]
        for field in found:
            _PROJECTIONS[field](projection[field], _Place(path, f"{at}.{field}", files), problems)
        if len(found) > 1:
            problems.forbidden(at, "may not specify more than 1 volume type per source")


def _keys(source: Object, place: _Place, problems: Problems) -> None:
    """Of a Secret or ConfigMap."""
    problems.required_fields(source, place.own, "name")
    items(source, place.own, problems)
    for item in source.get("items", ()):
        if item.get("path"):
            place.take(item["path"], source.get("name", ""), problems)


def _downward(source: Object, place: _Place, problems: Problems) -> None:
    for item in source.get("items", ()):
        _downward_file(item, place.own, problems)
        if item.get("path"):
            place.take(item["path"], item["path"], problems)


def _token(source: Object, place: _Place, problems: Problems) -> None:
    seconds = source.get("expirationSeconds", 0)
    if seconds < _MIN_TOKEN_SECONDS:
        detail = "may not specify a duration less than 10 minutes"
        problems.invalid(f"{place.own}.expirationSeconds", seconds, detail)
    if seconds > _MAX_TOKEN_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
        problems.invalid(f"{place.own}.expirationSeconds", seconds, detail)
    problems.required_fields(source, place.volume, "path")
    local_file(source.get("path", ""), f"{place.volume}.path", problems)


def _trust_bundle(source: Object, place: _Place, problems: Problems) -> None:
    path, name, signer = place.own, source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        shown = internal("ClusterTrustBundleProjection", source)
        problems.invalid(path, shown, "only one of name and signerName may be used")
    elif name is not None:
        _named_bundle(source, path, problems)
    elif signer is not None:
        if not signer:
            problems.required(f"{path}.signerName", "must be a valid signer name")
        signer_name(signer, f"{path}.signerName", problems)
        label_selector(source.get("labelSelector"), f"{path}.labelSelector", problems)
    else:
        problems.required(path, "either name or signerName must be specified")
    problems.required_fields(source, path, "path")
    local_file(source.get("path", ""), f"{path}.path", problems)
    place.take(source.get("path", ""), source.get("path", ""), problems)


def _named_bundle(source: Object, path: str, problems: Problems) -> None:
    name = source["name"]
    if not name:
        problems.required(f"{path}.name", "must be a valid object name")
    for wrong in bundle_name(name):
        problems.invalid(f"{path}.name", name, f"not a valid clustertrustbundlename: {wrong}")
    if "labelSelector" in source:
        detail = "labelSelector must be unset if name is specified"
        problems.invalid(f"{path}.labelSelector", source["labelSelector"], detail)


def _certificate(source: Object, place: _Place, problems: Problems) -> None:
    path, signer = place.own, source.get("signerName", "")
    signer_name(signer, f"{path}.signerName", problems)
    _user_annotations(source.get("userAnnotations", {}), f"{path}.userAnnotations", problems)
    if source.get("keyType", "") not in _KEY_TYPES:
        problems.not_supported(f"{path}.keyType", source.get("keyType", ""), _KEY_TYPES)
    _lifetime(source.get("maxExpirationSeconds", _DAY), f"{path}.maxExpirationSeconds", problems, signer=signer)
    given = [field for field in _CERTIFICATE_PATHS if source.get(field)]
    for field in given:
        local_file(source[field], f"{path}.{field}", problems)
        place.take(source[field], source[field], problems)
    if not given:
        detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        problems.required(path, detail)


def _user_annotations(annotations: Mapping[str, str], path: str, problems: Problems) -> None:
    """Their keys have a domain, and in all they are no larger than those of an object (ValidateUserAnnotations)."""
    for key in annotations:
        lower = key.lower()
        wrong = text.qualified_name(lower) if lower else ()
        problems.all_invalid(path, lower, wrong)
        if not lower:
            problems.required(path)
        elif not wrong and "/" not in lower:
            problems.invalid(path, lower, 'must be a domain-prefixed key (such as "acme.io/foo")')
    annotations_size(annotations, path, problems)


def _lifetime(seconds: int, path: str, problems: Problems, *, signer: str) -> None:
    longest = _DAY if f".{signer.partition('/')[0]}".endswith(".kubernetes.io") else _QUARTER
    if seconds < _HOUR:
        problems.invalid(path, seconds, f"if provided, maxExpirationSeconds must be >= {_HOUR}")
    if seconds > longest:
        problems.invalid(path, seconds, f"if provided, maxExpirationSeconds must be <= {longest}")


_PROJECTIONS: Mapping[str, _Projection] = {
    "secret": _keys,
    "configMap": _keys,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _certificate,
}
