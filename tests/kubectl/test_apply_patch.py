"""The patch of a client-side apply, and why there is none. The texts are those that the real kubectl prints."""

from __future__ import annotations

import orjson
import pytest

from engine.api.types import GVR, Object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.apply_patch import difference, merged
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.last_applied import ANNOTATION
from engine.kubectl.selection import Info


def info(gvr: GVR, kind: str) -> Info:
    return Info(Resource(gvr, kind, kind.lower(), True, (), (), (), (), True), "default", "a")


def config_map(**data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


def live(obj: Object, was: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "annotations": {ANNOTATION: orjson.dumps(was).decode()}}}


CONFIG_MAP = info(GVR("", "v1", "configmaps"), "ConfigMap")
REVISION = info(GVR("apps", "v1", "controllerrevisions"), "ControllerRevision")


def test_a_conflict_is_shown_as_yaml_and_warned_of_before() -> None:
    warnings: list[str] = []
    current = live(config_map(x="2"), config_map(x="1"))
    with pytest.raises(CommandError) as caught:
        difference(CONFIG_MAP, config_map(x="3"), current, overwrite=False, warn=warnings.append)
    before, _, conflict = str(caught.value).partition("\nfor: ")
    annotation = current["metadata"]["annotations"][ANNOTATION]
    assert conflict == (
        'patch:\ndata:\n  x: "3"\n\nconflicts with changes made from original to current:\ndata:\n  x: "2"\n'
        f"metadata:\n  annotations:\n    {ANNOTATION}: '{annotation}'\n"
    )
    assert warnings == [
        f"warning: error calculating patch from {source}: {conflict}\n"
        for source in ("openapi v3 spec", "openapi spec")
    ]
    assert before.startswith(
        'creating patch with:\noriginal:\n{"apiVersion":"v1","data":{"x":"1"},"kind":"ConfigMap","metadata":'
        '{"name":"a"}}\n\nmodified:\n{"apiVersion":"v1","data":{"x":"3"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
        "\ncurrent:\n"
    )


def test_what_cannot_be_merged() -> None:
    def revision(value: int) -> Object:
        data = {"spec": {"a": value}}
        return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "a"}, "data": data}

    current = live(revision(1), revision(1))
    with pytest.raises(CommandError) as caught:
        difference(REVISION, revision(2), current, overwrite=True, warn=print)
    assert str(caught.value).endswith(
        '\n\nfor: unable to find api field in struct RawExtension for the json field "spec"'
    )
    patch, _ = difference(REVISION, {**revision(1), "revision": 2}, current, overwrite=True, warn=print)
    assert patch == {"revision": 2}


def test_a_dry_run_of_the_client_shows_the_object_as_it_is_with_the_patch() -> None:
    there = {**config_map(a="1", b="2"), "metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}
    shown = merged(there, {"data": {"a": "3", "b": None}}, STRATEGIC_PATCH, CONFIG_MAP)
    assert shown == {**there, "data": {"a": "3"}}
    assert there["data"] == {"a": "1", "b": "2"}
