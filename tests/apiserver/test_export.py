"""Objects that are asked for without what is the cluster's of them (upstream's TestExportRejection)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.client import Client

REFUSED = "the export parameter, deprecated since v1.14, is no longer supported"
NAMESPACE = "/api/v1/namespaces/default"


@pytest.mark.parametrize(
    ("path", "export", "code"),
    [
        (NAMESPACE, "true", 400),
        (NAMESPACE, "", 400),
        (NAMESPACE, "yes", 400),
        (NAMESPACE, "false", 200),
        (NAMESPACE, "0", 200),
        (f"{NAMESPACE}/status", "true", 400),
        (f"{NAMESPACE}/configmaps/none", "true", 400),  # before it is looked for
        (f"{NAMESPACE}/pods/none/log", "true", 404),
        (f"{NAMESPACE}/configmaps", "true", 200),  # lists never knew of it
    ],
)
async def test_exports_are_refused(client: Client, path: str, export: str, code: int) -> None:
    response = await client.send("GET", path, query={"export": [export]})
    body: Any = response.body
    assert response.status == code
    if code == 400:
        assert (body["reason"], body["message"]) == ("BadRequest", REFUSED)
