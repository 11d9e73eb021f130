"""Names that are kept for admission that is read from files (admissionregistration validation, static_suffix.go)."""

from __future__ import annotations

from engine.api.resource_table import ADMISSION
from engine.api.resources import ResourceInfo

SUFFIX = ".static.k8s.io"
_WARNED_SINCE, _REFUSED_SINCE = (1, 36), (1, 37)
_RESERVED = (
    f'names ending with "{SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via '
    "the API"
)


def refused_name(info: ResourceInfo, name: str) -> str:
    """What is wrong with the name of a new object, or ""."""
    return _RESERVED if _is_static(info, name) and info.release >= _REFUSED_SINCE else ""


def name_warnings(info: ResourceInfo, name: str) -> list[str]:
    """Of the releases that do not yet refuse such a name."""
    warned = _is_static(info, name) and _WARNED_SINCE <= info.release < _REFUSED_SINCE
    return [f"metadata.name: {_RESERVED}"] if warned else []


def _is_static(info: ResourceInfo, name: str) -> bool:
    return info.gvr.group == ADMISSION and name.endswith(SUFFIX)
