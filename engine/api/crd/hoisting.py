"""What the versions of a definition have in common, which upstream's internal version has at the top of the spec.

Source: apiextensions-apiserver pkg/apis/apiextensions/v1/conversion.go.
"""

from __future__ import annotations

from engine.api.types import Object

_HOISTED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def hoisted(versions: list[Object]) -> Object:
    """What the versions have in common. Fields are selectable in a schema, and go with it only."""
    if not versions:
        return {}
    first = versions[0]
    common = [name for name in _HOISTED if all(_same(first.get(name), each.get(name)) for each in versions)]
    if "schema" not in common and "selectableFields" in common:
        common.remove("selectableFields")
    return {name: first.get(name) for name in common}


def _same(one: object, other: object) -> bool:
    """Lists without elements count as none."""
    return (None if one == [] else one) == (None if other == [] else other)
