"""Warnings of definitions of custom resources, and of these (apiextensions-apiserver pkg/registry/*/strategy.go)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.crd import formats
from engine.api.crd.number_ranges import ranged
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.text import qualified_name

_STANDARD_FINALIZERS = frozenset(("orphan", "foregroundDeletion", "kubernetes"))
_OF_TEXT = frozenset(("", "string"))  # types of which a format is one of texts


def resource(new: Object, old: Object | None = None) -> list[str]:
    """Of finalizers that are new and bear no domain."""
    found = []
    before = (old or {}).get("metadata", {}).get("finalizers") or ()
    for name in sorted(set(new["metadata"].get("finalizers") or ()).difference(before)):
        told = list(qualified_name(name))
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in name else ""
            told.append(
                f"prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer "
                "writers"
            )
        found += [f'metadata.finalizers: "{name}": {detail}' for detail in told]
    return found


def definition(new: Object) -> list[str]:
    return [f'unrecognized format "{name}"' for name in _unknown_formats(new)]


def changed_definition(new: Object, old: Object) -> list[str]:
    before = _unknown_formats(old)
    return [f'unrecognized format "{name}"' for name in _unknown_formats(new) if name not in before]


def _unknown_formats(definition: Object) -> list[str]:
    """Those that no value of the type is held to: only strings, what has no type and, from 1.36 on, numbers have any
    (pkg/apiserver/validation/formats.go, GetUnrecognizedFormats)."""
    found: dict[str, None] = {}
    for version in definition["spec"]["versions"]:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        for node in _below(Structural(schema)) if schema else ():
            if node.format and not _known(node):
                found[node.format] = None
    return list(found)


def _known(node: Structural) -> bool:
    return formats.known(node.format) if node.type in _OF_TEXT else ranged(node)


def _below(node: Structural) -> Iterator[Structural]:
    """The node, and all that it is made of."""
    yield node
    for each in (*node.spine(), *node.all_of, *node.any_of, *node.one_of, *((node.not_,) if node.not_ else ())):
        yield from _below(each)
