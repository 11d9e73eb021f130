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
        "/api/v1/namespaces?limit=1&pretty=1",
        "/openapi/v3",
    ],
)
def test_what_was_written_is_printed(home: Home, path: str) -> None:
    assert home.ktui("get", "--raw", path).ok() == home.kubectl("get", "--raw", path).ok()
