"""Strategic merge patches from one status to the next (pkg/util/pod PatchPodStatus, pkg/util/node PatchNodeStatus).

Only what differs is sent, lists that merge by a key element by element, so that what others own is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.types import Object

# Lists that merge by a key (the patch tags of core/v1 types.go); every other list is replaced as a whole.
POD_KEYS = {"conditions": "type", "podIPs": "ip", "hostIPs": "ip", "resourceClaimStatuses": "name"}
NODE_KEYS = {"conditions": "type", "addresses": "type"}


def status_patch(uid: str, old: Object, new: Object) -> Object | None:
    """From one Pod status to the next; None if nothing changes. The uid makes it fail for another Pod of the name."""
    return _patch(uid, old, new, POD_KEYS)


def node_status_patch(uid: str, old: Object, new: Object) -> Object | None:
    return _patch(uid, old, new, NODE_KEYS)


def _patch(uid: str, old: Object, new: Object, merge_keys: Mapping[str, str]) -> Object | None:
    changes: Object = {}
    for field in [*new, *(field for field in old if field not in new)]:
        before, after, key = old.get(field), new.get(field), merge_keys.get(field)
        if before == after:
            continue
        if key and before and after:
            changes.update(_merged_list(field, key, before, after))
        elif isinstance(before, dict) and isinstance(after, dict):
            changes[field] = _changes(before, after)
        else:
            changes[field] = after
    return {"metadata": {"uid": uid}, "status": changes} if changes else None


def _merged_list(field: str, key: str, old: list[Object], new: list[Object]) -> Object:
    """The patch of a list that merges by `key`; empty if the lists say the same."""
    before = {item[key]: item for item in old}
    items: list[Object] = []
    for item in new:
        known = before.get(item[key])
        if known is None:
            items.append(item)
        elif changed := _changes(known, item):
            items.append({**changed, key: item[key]})
    names = [item[key] for item in new]
    items += [{"$patch": "delete", key: name} for name in before if name not in names]
    if not items and names == list(before):
        return {}
    order: Object = {f"$setElementOrder/{field}": [{key: name} for name in names]}
    return {**order, field: items} if items else order


def _changes(old: Object, new: Object) -> Object:
    """A null is as good as a field that is not there: the server keeps none."""
    changed = {name: _change(old.get(name), value) for name, value in new.items() if old.get(name) != value}
    changed.update({name: None for name in old if name not in new and old[name] is not None})
    return changed


def _change(before: object, after: object) -> object:
    """Objects merge, so that what one of them has no more must be taken out by name."""
    return _changes(before, after) if isinstance(before, dict) and isinstance(after, dict) else after
