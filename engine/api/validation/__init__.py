"""Hop 05, validation: what is wrong with an object, all at once, in upstream's words and with upstream's paths.

A kind's rules are functions of the object (and the one before), found in one table by group and kind. Metadata is
checked here for all of them. Sources: pkg/apis/*/validation and apimachinery pkg/api/validation.
"""

from __future__ import annotations

from engine.api.errors import Cause
from engine.api.resource_table import ADMISSION, APIEXTENSIONS, APIREGISTRATION, COORDINATION
from engine.api.resources import ResourceInfo
from engine.api.turns import Work, at_once
from engine.api.types import Object
from engine.api.validation.metadata import object_meta, object_meta_update, own_finalizers
from engine.api.validation.problems import Problems
from engine.api.validation.rules import rules_for

__all__ = [
    "Problems",
    "check_create",
    "check_status_update",
    "check_update",
    "validate_create",
    "validate_status_update",
    "validate_update",
]

# Groups whose validation takes metadata as apimachinery does, without core's word on finalizers.
_ANY_FINALIZERS = (ADMISSION, APIEXTENSIONS, APIREGISTRATION, COORDINATION)


def validate_create(info: ResourceInfo, obj: Object) -> list[Cause]:
    """What is wrong with a new object. Its name has been generated, defaults and strategy have been applied."""
    return at_once(check_create(info, obj))


def validate_update(info: ResourceInfo, new: Object, old: Object) -> Problems:
    return at_once(check_update(info, new, old))


def validate_status_update(info: ResourceInfo, new: Object, old: Object) -> Problems:
    return at_once(check_status_update(info, new, old))


# -- the same in turns, since the rules of a custom resource may take long


def check_create(info: ResourceInfo, obj: Object) -> Work[Problems]:
    problems = Problems()
    rules = rules_for(info)
    if info.stored:
        object_meta(obj.get("metadata", {}), namespaced=info.namespaced, name_rule=rules.name, problems=problems)
        _finalizers(info, obj, problems)
    if info.extension is not None:
        problems += yield from info.extension.problems(obj, None, problems.warned)
    elif rules.create is not None:
        rules.create(obj, problems)
    return problems


def check_update(info: ResourceInfo, new: Object, old: Object) -> Work[Problems]:
    problems = Problems()
    rules = rules_for(info)
    object_meta_update(new.get("metadata", {}), old.get("metadata", {}), problems)
    _finalizers(info, new, problems)
    if info.extension is not None:
        problems += yield from info.extension.problems(new, old, problems.warned)
    elif rules.update is not None:
        rules.update(new, old, problems)
    elif rules.create is not None:
        rules.create(new, problems)
    return problems


def check_status_update(info: ResourceInfo, new: Object, old: Object) -> Work[Problems]:
    problems = Problems()
    rules = rules_for(info)
    object_meta_update(new.get("metadata", {}), old.get("metadata", {}), problems)
    if info.extension is not None:
        problems += yield from info.extension.problems(new, old, problems.warned)
    elif rules.status is not None:
        rules.status(new, old, problems)
    return problems


def _finalizers(info: ResourceInfo, obj: Object, problems: Problems) -> None:
    if not info.custom and info.gvr.group not in _ANY_FINALIZERS:
        own_finalizers(obj.get("metadata", {}), problems)
