"""Where a Node is told to take its kubelet's configuration from (core validation, validateNodeConfigSourceSpec).

Kubelets no longer look at it (KEP-281 was given up), but what is written of it must still be valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_WRITTEN_BY_KUBELET = ("uid", "resourceVersion")
_IN_STATUS = ("assigned", "active", "lastKnownGood")
_NAMES: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    "namespace": text.dns_label,
    "name": text.dns_subdomain,
    "kubeletConfigKey": text.config_key,
}
_NONE = "exactly one reference subfield must be non-nil"


def node_config(node: Object, problems: Problems) -> None:
    source = node.get("spec", {}).get("configSource")
    if source is not None:
        _source(source, "spec.configSource", problems, reported=False)
    status = node.get("status", {}).get("config") or {}
    for field in _IN_STATUS:
        if status.get(field) is not None:
            _source(status[field], f"status.config.{field}", problems, reported=True)


def _source(source: Object, path: str, problems: Problems, *, reported: bool) -> None:
    reference = source.get("configMap")
    if reference is None:
        problems.invalid(path, {"ConfigMap": None}, _NONE)
        return
    path = f"{path}.configMap"
    for field in _WRITTEN_BY_KUBELET:
        if reported and not reference.get(field):
            problems.required(f"{path}.{field}", f"{field} must be set in status")
        elif not reported and reference.get(field):
            problems.forbidden(f"{path}.{field}", f"{field} must not be set in spec")
    for field, check in _NAMES.items():
        if reference.get(field):
            problems.all_invalid(f"{path}.{field}", reference[field], check(reference[field]))
        else:
            problems.required(f"{path}.{field}", f"{field} must be set")
