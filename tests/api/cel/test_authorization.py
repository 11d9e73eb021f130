"""What can be asked of the authorizer in an expression, before it is asked (pkg/cel/library/authz.go)."""

from __future__ import annotations

import pytest

from engine.api.cel.environment import Environment
from engine.api.cel.library.authorization import AUTHORIZER, Check, Question

ENVIRONMENT = Environment({"authorizer": AUTHORIZER})
VALUES = {"authorizer": Check()}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("path(' ')", "path must not be empty"),
        ("group('apps').resource('')", "resource must not be empty"),
        ("group('').resource(' \\t')", "resource must not be empty"),
        ("serviceAccount('default', 'A_').group('').resource('pods')", "Invalid service account name"),
        ("serviceAccount('a.b', 'A_').group('').resource('pods')", "Invalid service account name"),
        ("serviceAccount('a.b', 'c.d').group('').resource('pods')", "Invalid service account namespace"),
    ],
)
def test_what_cannot_be_asked(asked: str, why: str) -> None:
    assert ENVIRONMENT.compile(f"authorizer.{asked}.check('get').allowed()").run(VALUES).error == why


@pytest.mark.parametrize("asked", ["path('/healthz')", "serviceAccount('a', 'c.d').group('').resource('pods')"])
def test_what_is_asked(asked: str) -> None:
    with pytest.raises(Question):
        ENVIRONMENT.compile(f"authorizer.{asked}.check('get').allowed()").run(VALUES)
