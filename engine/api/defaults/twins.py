"""Fields that came to be lists and whose older, single form is kept beside them (pkg/apis/core/v1/conversion.go).

Upstream has the list alone inside: on the way in the single one speaks if both differ, on the way out it is the first.
"""

from __future__ import annotations

from typing import Any

from engine.api.types import Object

# Annotations that init containers were before they were fields: no client is shown them any more.
_INIT_CONTAINERS = frozenset(
    f"pod.{stage}.kubernetes.io/{what}"
    for stage in ("alpha", "beta")
    for what in ("init-containers", "init-container-statuses")
)


def pod_ranges(spec: Object) -> None:
    _agree(spec, "podCIDR", "podCIDRs")


def pod_addresses(status: Object) -> None:
    _agree(status, "podIP", "podIPs", key="ip")


def _agree(owner: Object, one: str, many: str, *, key: str = "") -> None:
    single, found = owner.get(one), owner.get(many)
    first: Any = found[0].get(key) if found and key else found[0] if found else None
    if single and single != first:
        owner[many] = [{key: single}] if key else [single]
    elif first and not single:
        owner[one] = first


def drop_init_annotations(metadata: Object) -> None:
    annotations = metadata.get("annotations")
    if not annotations or _INIT_CONTAINERS.isdisjoint(annotations):
        return
    kept = {name: value for name, value in annotations.items() if name not in _INIT_CONTAINERS}
    if kept:
        metadata["annotations"] = kept
    else:
        del metadata["annotations"]
