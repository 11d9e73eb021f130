"""Owned fields as the schema of today tells them apart: a list or map that has become atomic is owned as a whole.

Source of the behaviour: structured-merge-diff typed/reconcile_schema.go.
"""

from __future__ import annotations

from engine.api.apply.field_sets import MEMBER, SELF, FieldSet
from engine.api.apply.field_types import DEDUCED, FieldType, ListType, MapType
from engine.api.apply.merging import below_step


def reconciled(kind: FieldType, fields: FieldSet) -> FieldSet:
    """The set itself where nothing in it has become atomic."""
    if kind is DEDUCED:
        return fields
    found: FieldSet = {}
    changed = False
    for step, node in fields.items():
        below, _ = below_step(kind, step)
        found[step] = now = _node(below, node) if node and step != SELF else node
        changed = changed or now is not node
    return found if changed else fields


def _node(kind: FieldType, node: FieldSet) -> FieldSet:
    if isinstance(kind, MapType | ListType):
        return reconciled(kind, node)
    return MEMBER if kind.atomic else node
