"""Hop 05, validation: what is wrong with an object, all at once, in upstream's words and with upstream's paths.

A kind's rules are functions of the object (and the one before), found in one table by group and kind. Metadata is
checked here for all of them. Sources: pkg/apis/*/validation and apimachinery pkg/api/validation.
"""

from __future__ import annotations

from datetime import datetime

from engine.api.errors import Cause
from engine.api.resource_table import ADMISSION, APIEXTENSIONS, APIREGISTRATION, COORDINATION
from engine.api.resources import ResourceInfo
from engine.api.static_names import refused_name
from engine.api.turns import Work, at_once
from engine.api.types import GVK, Object
from engine.api.validation import text
from engine.api.validation.declared import declaratively
from engine.api.validation.metadata import NameRule, object_meta, object_meta_update, own_finalizers
from engine.api.validation.new_expressions import NewExpressions
from engine.api.validation.pods import template_as_before
from engine.api.validation.problems import Problems
from engine.api.validation.rules import Metadata, rules_for

__all__ = [
    "Problems",
    "check_create",
    "check_metadata_update",
    "check_status_update",
    "check_update",
    "validate_create",
    "validate_status_update",
    "validate_update",
]

# Groups whose validation takes metadata as apimachinery does, or not at all, without core's word on finalizers.
_ANY_FINALIZERS = (ADMISSION, APIEXTENSIONS, APIREGISTRATION, COORDINATION, "policy")
_OLD_EVENT = GVK("", "v1", "Event")


def validate_create(info: ResourceInfo, obj: Object, *, static: bool = False) -> list[Cause]:
    """What is wrong with a new object. Its name has been generated, defaults and strategy have been applied. `static`
    says that it is read from a file, for which the API keeps names."""
    return at_once(check_create(info, obj, static=static))


def validate_update(info: ResourceInfo, new: Object, old: Object) -> Problems:
    """In upstream's order, which looks at the metadata more than once: the REST layer for all kinds alike, then the
    strategy of the kind (rest.BeforeUpdate)."""
    return at_once(check_update(info, new, old))


def validate_status_update(info: ResourceInfo, new: Object, old: Object, *, now: datetime | None = None) -> Problems:
    return at_once(check_status_update(info, new, old, now=now))


# -- the same in turns, since the rules of a custom resource may take long


def check_create(info: ResourceInfo, obj: Object, *, alike: bool = False, static: bool = False) -> Work[Problems]:
    """`alike` says that nothing is wrong with the object but, perhaps, its metadata (engine.api.alike_pods)."""
    problems = Problems(NewExpressions(info.release))
    rules = rules_for(info)
    if rules.first is not None:
        rules.first(obj, problems)
        if rules.alone and problems:
            return problems
    if info.stored:
        object_meta(obj.get("metadata", {}), namespaced=info.namespaced, name_rule=rules.name, problems=problems)
        _finalizers(info, obj.get("metadata", {}), problems)
    if info.extension is not None:
        problems += yield from info.extension.problems(obj, None, problems.warned, known=problems)
    elif rules.create is not None:
        if not alike:
            rules.create(obj, problems)
        problems = declaratively(info, obj, None, problems)
    name = obj.get("metadata", {}).get("name", "")
    if not static and (reserved := refused_name(info, name)):
        problems.invalid("metadata.name", name, reserved)
    return problems


def check_update(info: ResourceInfo, new: Object, old: Object) -> Work[Problems]:
    problems, rules = Problems(NewExpressions(info.release, old)), rules_for(info)
    metadata = _Metadata(info, new, old)
    problems += metadata.common()
    if info.extension is not None:
        problems += metadata.changed()
        problems += yield from info.extension.problems(new, old, problems.warned, known=problems)
        return problems
    for step in rules.steps or (Metadata.CHANGED,):
        match step:
            case Metadata.CHANGED:
                problems += metadata.changed()
            case Metadata.WHOLE:
                problems += metadata.whole()
            case check:
                check(new, old, problems)
    if rules.update is not None:
        rules.update(new, old, problems)
    elif rules.create is not None and not rules.steps:
        rules.create(new, problems)
    problems = declaratively(info, new, old, problems)
    if problems and rules.template:
        template_as_before(old, rules.template, problems)
    return problems


def check_status_update(info: ResourceInfo, new: Object, old: Object, *, now: datetime | None = None) -> Work[Problems]:
    """`now` is what the API server's clock says; without one no status is held against it."""
    problems, rules, metadata = Problems(), rules_for(info), _Metadata(info, new, old)
    problems += metadata.common()
    problems += metadata.changed()
    if info.extension is not None:
        problems += yield from info.extension.problems(new, old, problems.warned, known=problems, status=True)
    elif rules.timed_status is not None:
        rules.timed_status(new, old, problems, now)
    elif rules.status is not None:
        rules.status(new, old, problems)
        problems = declaratively(info, new, old, problems)
    return problems


def check_metadata_update(info: ResourceInfo, new: Object, old: Object) -> Problems:
    """What every update is asked for, of whatever part of an object (BeforeUpdate)."""
    return _Metadata(info, new, old).common()


class _Metadata:
    """What is wrong with the metadata of an updated object, looked for once, however often it is told."""

    def __init__(self, info: ResourceInfo, new: Object, old: Object) -> None:
        self._info, self._new = info, new.get("metadata", {})
        self._changed = Problems()
        object_meta_update(self._new, old.get("metadata", {}), self._changed)

    def common(self) -> Problems:
        """As the REST layer has it: any name that fits into a path, any finalizers (validateCommonFields)."""
        problems = self._all(text.path_segment)
        problems += self._changed
        return problems

    def whole(self) -> Problems:
        problems = self._all(rules_for(self._info).name)
        _finalizers(self._info, self._new, problems)
        return problems

    def changed(self) -> Problems:
        problems = Problems()
        problems += self._changed
        _finalizers(self._info, self._new, problems)
        return problems

    def _all(self, name_rule: NameRule) -> Problems:
        problems = Problems()
        object_meta(self._new, namespaced=self._info.namespaced, name_rule=name_rule, problems=problems)
        return problems


def _finalizers(info: ResourceInfo, metadata: Object, problems: Problems) -> None:
    if not metadata.get("finalizers") or info.custom:
        return
    if info.gvr.group not in _ANY_FINALIZERS and info.gvk != _OLD_EVENT:
        own_finalizers(metadata, problems)
