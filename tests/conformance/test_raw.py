"""`get --raw` prints what the server wrote, byte for byte, as the real kubectl does."""

from __future__ import annotations

import pytest

from tests.engine_process import Home


@pytest.mark.parametrize(
    "path",
    [
        "/version",
        "/api",
        "/apis/apps/v1",
        "/healthz",
        "/api/v1/namespaces/default",
        "/api/v1/namespaces/default?pretty=true",
        # Of one revision: the newest moves on between the two questions, as Leases are renewed.
        "/api/v1/namespaces?limit=1&pretty=1&resourceVersionMatch=Exact&resourceVersion={revision}",
        "/openapi/v3",
    ],
)
def test_what_was_written_is_printed(home: Home, path: str) -> None:
    newest = home.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.resourceVersion}").ok()
    asked = path.format(revision=newest)
    assert home.ktui("get", "--raw", asked).ok() == home.kubectl("get", "--raw", asked).ok()
