"""A definition to start from, and the way from a schema to what it does."""

from __future__ import annotations

from typing import Any

from engine.api.crd.version import CustomVersion
from engine.api.errors import Cause
from engine.api.schema import load_definitions
from engine.api.turns import at_once
from engine.api.types import Object
from engine.api.validation.problems import Problems

GROUP = "stable.example.com"


def definition(schema: Object | None = None, **version: Any) -> Object:
    """CronTabs, with the given schema of their spec."""
    properties: Object = {"spec": schema if schema is not None else {"type": "object"}, "status": {"type": "object"}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"crontabs.{GROUP}", "uid": "1"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "listKind": "CronTabList"},
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
                    **version,
                }
            ],
        },
        "status": {"storedVersions": ["v1"]},
    }


def compiled(schema: Object, **version: Any) -> CustomVersion:
    made = definition(schema, **version)
    return CustomVersion(load_definitions(), made, made["spec"]["versions"][0])


def cron_tab(spec: Any, **fields: Any) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CronTab",
        "metadata": {"name": "a", "uid": "2"},
        "spec": spec,
        **fields,
    }


def problems_of(schema: Object, spec: Any, old: Any = None) -> list[str]:
    """What is wrong with a CronTab of this spec."""
    before = cron_tab(old) if old is not None else None
    return texts(at_once(compiled(schema).problems(cron_tab(spec), before, [])))


def texts(causes: list[Cause] | Problems) -> list[str]:
    return [str(cause) for cause in causes]
