"""What the inspector says of a hop."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from ktui.widgets import hop_details
from tests.ktui.spans import span


def _words(told: dict[str, Any]) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(*hop_details.describe(told, {}), sep="\n")
    return out.getvalue()


@pytest.mark.parametrize(
    ("verb", "object", "detail", "what"),
    [
        ("create", "pod/default", {}, "create pod in default"),  # a name that was generated comes with admission
        ("create", "pod/default/web-1", {}, "create pod/default/web-1"),
        ("list", "pod/default", {}, "list pods in default"),
        ("list", "pod", {}, "list pod"),
        ("deletecollection", "networkpolicy/shop", {}, "deletecollection networkpolicies in shop"),
        ("create", "node/node-1", {}, "create node/node-1"),
        ("watch", "node/node-1", {}, "watch node/node-1"),
        ("get", "namespace/shop", {}, "get namespace/shop"),
        ("create", "backup/nightly", {}, "create backup/nightly"),  # in a namespace, or of that name
        ("get", "/version", {}, "get /version"),
        ("create", "pod/default/web", {"subresource": "binding"}, "create pods/binding pod/default/web"),
    ],
)
def test_what_was_asked_for(verb: str, object: str, detail: dict[str, str], what: str) -> None:
    told = _words(span("a", 3, verb=verb, object=object, detail=detail))
    assert f"what   {what}\n" in "".join(f"{line.rstrip()}\n" for line in told.splitlines())
