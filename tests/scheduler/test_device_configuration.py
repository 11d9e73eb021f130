"""The configurations that an allocation carries, and the requests that they name (upstream's allocator, #139803)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.devices.allocator import Allocator, Features, InUse
from engine.scheduler.devices.pools import Slices
from engine.scheduler.devices.selectors import Verdicts
from tests.scheduler.devices import DRIVER, claim, device, device_class, published, wants, way
from tests.scheduler.objects import node


def opaque(value: str) -> Object:
    return {"opaque": {"driver": DRIVER, "parameters": {"is": value}}}


CLASSES = {"gpu": device_class("gpu", config=[opaque("gpu")]), "plain": device_class("plain")}
PLAIN: dict[str, Any] = {"kind": "plain"}
CHOICE = {"name": "r", "firstAvailable": [way("a", kind="plain"), way("b", kind="plain")]}


def configured(requests: list[Object], *config: Object, short: bool = True) -> list[tuple[str, list[str] | None]]:
    """Whose each configuration is, and the requests that it names."""
    allocator = Allocator(
        [claim("x", *requests, config=list(config))],
        in_use=InUse(),
        class_of=CLASSES.get,
        slices=Slices([published(*(device(name) for name in "abcd"))]),
        verdicts=Verdicts(),
        new_share=lambda: "share",
        features=Features(short_config=short),
    )
    found = allocator.allocate(node("n1"))
    assert found is not None
    return [(entry["source"], entry.get("requests")) for entry in found[0]["devices"].get("config") or ()]


def for_(*requests: str) -> Object:
    return {"requests": list(requests), **opaque("claim")}


@pytest.mark.parametrize(
    ("requests", "config", "expected"),
    [
        pytest.param([wants("r")], [], [("FromClass", None)], id="a class's, of the only request"),
        pytest.param(
            [wants("r"), wants("s"), wants("t", **PLAIN)],
            [],
            [("FromClass", ["r", "s"])],
            id="a class's once, for its requests",
        ),
        pytest.param(
            [wants("r", **PLAIN), wants("s", **PLAIN)], [for_("s")], [("FromClaim", ["s"])], id="of one of two"
        ),
        pytest.param([wants("r", **PLAIN), wants("s", **PLAIN)], [for_("s", "r")], [("FromClaim", None)], id="of both"),
        pytest.param([wants("r", **PLAIN)], [for_("other")], [], id="of none"),
        pytest.param([CHOICE], [for_("r/a"), for_("r/b")], [("FromClaim", None)], id="of the alternative that was met"),
        pytest.param(
            [CHOICE, wants("s", **PLAIN)],
            [for_("r/a", "r/b")],
            [("FromClaim", ["r/a", "r/b"])],
            id="of two alternatives of one of two requests",
        ),
        pytest.param([CHOICE], [for_("r/a", "r/b")], [("FromClaim", None)], id="of all alternatives"),
    ],
)
def test_a_configuration_for_all_requests_names_none(
    requests: list[Object], config: list[Object], expected: list[tuple[str, list[str] | None]]
) -> None:
    assert configured(requests, *config) == expected


def test_versions_before_1_37_name_them_always() -> None:
    assert configured([wants("r")], for_("r"), short=False) == [("FromClass", ["r"]), ("FromClaim", ["r"])]
