"""Owners that an object names twice: dropped, and told (apiserver pkg/endpoints/handlers/rest.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.apiserver.call import Call
from engine.apiserver.registry.body import warn

_AFTER_ADMISSION = " after mutating admission happens"


def drop_twins(call: Call, obj: Object, *, admitted: bool) -> None:
    """Drops references that are there already, entry for entry; `obj` is ours to change. A patch is looked at only once
    it has been `admitted`."""
    references = obj["metadata"].get("ownerReferences")
    if not references or len(references) < 2 or (call.info.verb == "patch" and not admitted):
        return
    kept: dict[tuple[tuple[str, object], ...], Object] = {}
    twins: list[str] = []
    for reference in references:
        entry = tuple(sorted(reference.items()))
        if entry in kept:
            twins.append(reference.get("uid", ""))
        kept[entry] = reference
    if not twins:
        return
    obj["metadata"]["ownerReferences"] = [*kept.values()]
    text = (
        f".metadata.ownerReferences contains duplicate entries{_AFTER_ADMISSION if admitted else ''}; "
        "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "
        f"please fix your requests; duplicate UID(s) observed: {', '.join(twins)}"
    )
    warn(call, [text])
