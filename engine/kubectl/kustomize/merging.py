"""Strategic merge patches as kustomize merges them (kyaml yaml/merge2 and yaml/walk).

What comes new goes before what is there. Lists merge by the keys that the schemas of built-in kinds name; lists of
other kinds are replaced. `null` takes a field away, `$patch` says `delete`, `replace` or `merge`.
"""

from __future__ import annotations

from typing import Any

from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.resource import copied

_DIRECTIVE = "$patch"
_MISSING: Any = object()


def merge(obj: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any] | None:
    """The object with the patch; None where the patch deletes it. Neither is changed. Raises BuildError."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    schema = load_definitions().kind(GVK(group, version, str(obj.get("kind"))))
    merged = _merged(copied(obj), copied(patch), schema)
    return merged if isinstance(merged, dict) else None


def _merged(below: Any, above: Any, schema: Schema | None) -> Any:
    """What becomes of a value and the patch's; _MISSING for nothing."""
    shape = next((type(value) for value in (below, above) if value is not _MISSING and value is not None), None)
    if shape is None:
        return _MISSING if above is None or below is _MISSING else below
    if above is None:
        return _MISSING
    for value in (below, above):
        if value is not _MISSING and value is not None and _kind(value) != _kind_of(shape):
            raise BuildError(f"wrong node kind: expected {_kind_of(shape)} but was {_kind(value)}")
    if shape is dict:
        return _maps(below, above, schema)
    if shape is list and _associative(schema):
        assert schema is not None
        return _lists(below, above, schema)
    return below if above is _MISSING else above


def _kind(value: Any) -> str:
    return _kind_of(type(value))


def _kind_of(shape: type) -> str:
    if shape is dict:
        return "MappingNode"
    return "SequenceNode" if shape is list else "ScalarNode"


def _maps(below: Any, above: Any, schema: Schema | None) -> Any:
    strategy = _strategy(above)
    if strategy == "delete":
        return _MISSING
    if below is _MISSING or below is None or strategy == "replace":
        below = {}
    if above is _MISSING:
        above = {}
    result: dict[str, Any] = {}
    for key in (*below, *(key for key in above if key not in below)):
        field = schema.field(key) if schema is not None else None
        value = _merged(below.get(key, _MISSING), above.get(key, _MISSING), field)
        if value is not _MISSING:
            result[key] = value
    return result


def _strategy(value: Any) -> str:
    """The `$patch` of a map, which is taken out of it. Raises BuildError for another word."""
    if not isinstance(value, dict) or _DIRECTIVE not in value:
        return "merge"
    word = value.pop(_DIRECTIVE)
    if word not in ("delete", "replace", "merge"):
        raise BuildError(f"unknown patch strategy '{word}'")
    return str(word)


def _associative(schema: Schema | None) -> bool:
    return schema is not None and "merge" in schema.patch_strategies


def _lists(below: Any, above: Any, schema: Schema) -> Any:
    old = [] if below is _MISSING or below is None else below
    new = [] if above is _MISSING else above
    keys = schema.list_map_keys or ((schema.patch_merge_key,) if schema.patch_merge_key else ())
    if not keys:
        return list(dict.fromkeys([*new, *old])) or (_MISSING if below is _MISSING else below)
    directives = [item for item in new if isinstance(item, dict) and _DIRECTIVE in item and not _identity(item, keys)]
    if any(_strategy(item) == "replace" for item in directives):
        old = []
    new = [item for item in new if not any(item is directive for directive in directives)]
    return _paired(old, new, keys, schema.items)


def _paired(old: list[Any], new: list[Any], keys: tuple[str, ...], items: Schema | None) -> list[Any]:
    """Each item of the patch with its counterpart first, then those that it says nothing of."""
    taken: set[int] = set()
    result: list[Any] = []
    for item in new:
        identity = _identity(item, keys)
        if _told_otherwise(identity, old, keys):
            continue
        index = next((i for i, other in enumerate(old) if i not in taken and identity and _same(identity, other)), None)
        merged = _merged(old[index] if index is not None else _MISSING, item, items)
        if index is not None:
            taken.add(index)
        if merged is not _MISSING:
            result.append(merged)
    return [*result, *(_cleaned(item, items) for index, item in enumerate(old) if index not in taken)]


def _told_otherwise(identity: dict[str, Any], old: list[Any], keys: tuple[str, ...]) -> bool:
    """Whether an item of the same first key has other keys beside it, as a port with a protocol beside one without:
    kustomize keeps what is there."""
    first = keys[0]
    if len(keys) == 1:
        return False
    return first not in identity or any(
        theirs.keys() != identity.keys()
        for other in old
        if (theirs := _identity(other, keys)).get(first) == identity[first]
    )


def _cleaned(item: Any, schema: Schema | None) -> Any:
    """An item without the fields that are null."""
    return _merged(item, _MISSING, schema)


def _identity(item: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    """The merge keys that an item has."""
    return {key: item[key] for key in keys if item.get(key) not in (None, "")} if isinstance(item, dict) else {}


def _same(identity: dict[str, Any], other: Any) -> bool:
    return isinstance(other, dict) and all(other.get(key) == value for key, value in identity.items())
