"""What is told of a deprecated version (apiextensions-apiserver pkg/apiserver, customresource_handler_test.go)."""

from __future__ import annotations

import pytest

from engine.api.crd.version import CustomVersion
from engine.api.resources import version_order
from engine.api.schema import load_definitions
from engine.api.types import Object
from tests.api.crd.samples import GROUP, definition

# Served unless they end with "-", deprecated where they end with "!".
ROWS: list[tuple[str, str, str, str]] = [
    ("nothing is left", "v1", "v1! v2! v3-", "v1 CronTab is deprecated"),
    (
        "the best of all",
        "v1",
        "v1! v1alpha2 v1beta2 v2 v2beta2 v3- v3beta1-",
        f"v1 CronTab is deprecated; use {GROUP}/v2 CronTab",
    ),
    ("nothing as stable and newer", "v2", "v1 v2! v3- v3alpha1 v3beta1 v4!", "v2 CronTab is deprecated"),
    (
        "the newest of the betas",
        "v1alpha1",
        "v1alpha1! v1beta2 v1beta3 v1-",
        f"v1alpha1 CronTab is deprecated; use {GROUP}/v1beta3 CronTab",
    ),
    (
        "a name that is no version is preferred to none",
        "blue",
        "blue! red azure",
        f"blue CronTab is deprecated; use {GROUP}/azure CronTab",
    ),
    ("not deprecated", "v1", "v1 v2", ""),
]


def _version(text: str) -> Object:
    name = text.rstrip("!-")
    return {"name": name, "served": not text.endswith("-"), "storage": False, "deprecated": text.endswith("!")}


@pytest.mark.parametrize(("name", "versions", "told"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_version_to_use_instead(name: str, versions: str, told: str) -> None:
    made = definition()
    made["spec"]["versions"] = [_version(each) for each in versions.split()]
    made["spec"]["versions"][-1]["storage"] = True
    [version] = [each for each in made["spec"]["versions"] if each["name"] == name]
    assert CustomVersion(load_definitions(), made, version).warning == (f"{GROUP}/{told}" if told else "")


def test_its_author_may_say_it_otherwise() -> None:
    made = definition(deprecated=True, deprecationWarning="use something else")
    assert CustomVersion(load_definitions(), made, made["spec"]["versions"][0]).warning == "use something else"


def test_versions_are_ordered_by_how_stable_and_new_they_are() -> None:
    names = ["foo10", "v3beta1", "v12alpha1", "v10beta3", "v11alpha2", "foo1", "v11beta2", "v2", "v10", "v1"]
    assert sorted(names, key=version_order) == [
        "v10",
        "v2",
        "v1",
        "v11beta2",
        "v10beta3",
        "v3beta1",
        "v12alpha1",
        "v11alpha2",
        "foo1",
        "foo10",
    ]
