"""CustomResourceDefinitions, whose rules are loaded with the first of them: they bring the CEL runtime along."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.problems import Problems


def custom_resource_definition(obj: Object, problems: Problems) -> None:
    from engine.api.crd import definition_rules

    definition_rules.custom_resource_definition(obj, problems)


def custom_resource_definition_update(new: Object, old: Object, problems: Problems) -> None:
    from engine.api.crd import definition_rules

    definition_rules.custom_resource_definition_update(new, old, problems)


def custom_resource_definition_status(new: Object, old: Object, problems: Problems) -> None:
    from engine.api.crd import definition_rules

    definition_rules.custom_resource_definition_status(new, old, problems)
