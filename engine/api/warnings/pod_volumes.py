"""Volumes that no longer work, and files of a volume that hide one another (pkg/api/pod/warnings.go)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.api.types import Object
from engine.api.warnings.storage import DEPRECATED_PLUGINS, claim_spec

_CERTIFICATE_FILES = (
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
)


class _File(NamedTuple):
    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{json.dumps(self.path)} ({self.source})" if self.source else json.dumps(self.path)


def volume_warnings(volumes: Sequence[Object], path: str) -> Iterator[str]:
    for index, volume in enumerate(volumes):
        at = f"{path}.volumes[{index}]"
        for source in () if DEPRECATED_PLUGINS.keys().isdisjoint(volume) else DEPRECATED_PLUGINS:
            if source in volume:
                name, text = DEPRECATED_PLUGINS[source]
                yield f"{at}.{name}: {text}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            yield from claim_spec(template.get("spec") or {}, f"{at}.ephemeral.volumeClaimTemplate.spec")
    for volume in volumes:
        yield from _overlaps(volume)


def _overlaps(volume: Object) -> Iterator[str]:
    name = json.dumps(volume.get("name", ""))
    for field, kind, key in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
        if volume.get(field) is not None:
            source = volume[field]
            yield from _overlapping(name, f"{kind} {json.dumps(source.get(key, ''))}", _files(source))
    if volume.get("downwardAPI") is not None:
        yield from _overlapping(name, "DownwardAPI", _files(volume["downwardAPI"]))
    if volume.get("projected") is not None:
        sources = volume["projected"].get("sources") or ()
        yield from (f"volume {name} (Projected) has no sources provided" for source in sources if not source)
        yield from _overlapping(name, "Projected", [file for source in sources for file in _projected(source)])


def _files(source: Object, label: str = "") -> list[_File]:
    return [_File(item.get("path", ""), label) for item in source.get("items") or ()]


def _projected(source: Object) -> list[_File]:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if source.get(field) is not None:
            return _files(source[field], f"{kind} {json.dumps(source[field].get('name', ''))}")
    if source.get("downwardAPI") is not None:
        return _files(source["downwardAPI"], "DownwardAPI")
    if source.get("serviceAccountToken") is not None:
        return [_File(source["serviceAccountToken"].get("path", ""), "ServiceAccountToken")]
    bundle = source.get("clusterTrustBundle")
    if bundle is not None:
        name = bundle.get("name", bundle.get("signerName", ""))
        return [_File(bundle.get("path", ""), f"ClusterTrustBundle {json.dumps(name)}")]
    certificate = source.get("podCertificate") or {}
    return [_File(certificate[field], label) for field, label in _CERTIFICATE_FILES if certificate.get(field)]


def _overlapping(volume: str, source: str, files: Sequence[_File]) -> Iterator[str]:
    """Files with the same path, or one that would be a folder for another."""
    seen: list[_File] = []
    for file in files:
        file = file._replace(path=file.path.rstrip("/"))
        for other in seen if file.path else ():
            if not other.path:
                continue
            mine, theirs = f"{file.path}/", f"{other.path}/"
            if mine.startswith(theirs) or theirs.startswith(mine):
                yield f"volume {volume} ({source}): overlapping paths: {file} with {other}"
        seen.append(file)
