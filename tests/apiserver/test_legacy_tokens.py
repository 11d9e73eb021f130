"""Tokens that lie in Secrets, used as bearer tokens (upstream's pkg/serviceaccount legacy_test.go and jwt_test.go)."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
import yaml

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import Request, Response
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, account, pod

LAST_USED, INVALID_SINCE = "kubernetes.io/legacy-token-last-used", "kubernetes.io/legacy-token-invalid-since"
WARNING = (
    '299 - "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated '
    'secret-based tokens."'
)
USER = "system:serviceaccount:default:robot"
INVALID = (
    "[invalid bearer token, the token in secret default/old for service account default/robot has been marked invalid. "
    "Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the "
    f"'{INVALID_SINCE}' label from the secret to temporarily allow use of this token]"
)


class Robot:
    """An account and the token in its Secret `old`, as the controller of such Secrets makes it."""

    def __init__(self, server: ApiServer, log: Path) -> None:
        self.server = server
        self.admin = Client(InProcessTransport(server, ADMIN), user_agent="kubectl")
        self.token = ""
        self._log = log

    async def make(self) -> None:
        await self.admin.create(SERVICE_ACCOUNTS, account("robot"), namespace="default")
        metadata = {"name": "old", "annotations": {"kubernetes.io/service-account.name": "robot"}}
        made: Object = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}
        await self.admin.create(SECRETS, {**made, "metadata": metadata}, namespace="default")
        self.token = await self.new_token(1 << 32)
        await self.put(data={"token": base64.b64encode(self.token.encode()).decode()})

    async def new_token(self, seconds: int, *, kind: str = "Secret", name: str = "old") -> str:
        bound = {"apiVersion": "v1", "kind": kind, "name": name}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds, "boundObjectRef": bound},
        }
        made = await self.admin.create(
            SERVICE_ACCOUNTS, request, namespace="default", name="robot", subresource="token"
        )
        return str(made["status"]["token"])

    async def put(self, labels: dict[str, str] | None = None, **fields: Any) -> None:
        """Give the Secret exactly these labels, and other fields."""
        current = await self.secret()
        metadata = {**current["metadata"], "labels": labels or {}}
        await self.admin.update(SECRETS, {**current, **fields, "metadata": metadata})

    async def list_secrets(self, *names: str) -> None:
        current = await self.admin.get(SERVICE_ACCOUNTS, "robot", namespace="default")
        await self.admin.update(SERVICE_ACCOUNTS, {**current, "secrets": [{"name": name} for name in names]})

    async def secret(self) -> Object:
        return await self.admin.get(SECRETS, "old", namespace="default")

    async def labels(self) -> dict[str, str]:
        found: dict[str, str] = (await self.secret())["metadata"].get("labels") or {}
        return found

    async def ask(self, token: str = "") -> Response:
        headers = {"authorization": f"Bearer {token or self.token}"}
        return await self.server.handle(Request("GET", "/version", headers=headers))

    async def review(self, token: str = "") -> Object:
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
        reviews = GVR("authentication.k8s.io", "v1", "tokenreviews")
        made = await self.admin.create(reviews, {**review, "spec": {"token": token or self.token}})
        status: Object = made["status"]
        return status

    def told(self, what: str = "legacy-token") -> Object:
        """The annotations of tokens, of the last event in the audit log that is about /version."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines()]
        annotations: Object = [each for each in lines if each["requestURI"] == "/version"][-1].get("annotations") or {}
        return {key: text for key, text in annotations.items() if what in key}


def served(folder: Path, world: World, store: SqliteStore, version: str = "") -> Robot:
    policy, log = folder / "policy.yaml", folder / "audit.log"
    policy.write_text(yaml.safe_dump({"rules": [{"level": "Metadata"}]} | {
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy"
    }))  # fmt: skip
    config = ClusterConfig(audit_policy_file=policy, audit_log_path=str(log), kubernetes_version=version)
    return Robot(ApiServer(world, store, config=config), log)


@pytest.fixture
async def robot(world: World, store: SqliteStore, tmp_path: Path) -> AsyncIterator[Robot]:
    robot = served(tmp_path, world, store)
    await robot.server.start()
    await robot.make()
    yield robot
    await robot.server.stop()


async def test_what_a_token_says(robot: Robot) -> None:
    """It has an issuer of its own, and neither an end nor an audience; what go-jose signs names no type."""
    uid = (await robot.admin.get(SERVICE_ACCOUNTS, "robot", namespace="default"))["metadata"]["uid"]
    said = "kubernetes.io/serviceaccount/"
    assert list(jwt.decode(robot.token, options={"verify_signature": False}).items()) == [
        ("iss", "kubernetes/serviceaccount"), (f"{said}namespace", "default"), (f"{said}secret.name", "old"),
        (f"{said}service-account.name", "robot"), (f"{said}service-account.uid", uid), ("sub", USER),
    ]  # fmt: skip
    asked = await robot.new_token(3600)
    for token in (robot.token, asked):
        assert list(jwt.get_unverified_header(token)) == ["alg", "kid"]
    assert list(jwt.decode(asked, options={"verify_signature": False})["kubernetes.io"]) == [
        "namespace", "secret", "serviceaccount",
    ]  # fmt: skip
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
    made = await robot.admin.create(
        GVR("authentication.k8s.io", "v1", "tokenreviews"),
        {**review, "spec": {"token": robot.token, "audiences": ["x"]}},
    )
    assert made["status"]["error"] == (
        '[invalid bearer token, token audiences ["https://kubernetes.default.svc.cluster.local"] is invalid for the '
        'target audiences ["x"]]'
    )


async def test_a_use_is_noted_once_a_day(robot: Robot, world: World) -> None:
    now = world.clock.now()
    yesterday, today, tomorrow = (f"{now + timedelta(days=days):%Y-%m-%d}" for days in (-1, 0, 1))
    assert await robot.labels() == {}
    assert (await robot.ask()).status == 200
    noted = await robot.secret()
    assert noted["metadata"]["labels"] == {LAST_USED: today}
    assert "kube-apiserver" in [each["manager"] for each in noted["metadata"]["managedFields"]]

    assert (await robot.ask()).status == 200
    assert await robot.secret() == noted
    for said, wanted in ((tomorrow, tomorrow), (yesterday, today), ("", today), ("x", today)):
        await robot.put({LAST_USED: said, "mine": "too"})
        assert (await robot.ask()).status == 200
        assert await robot.labels() == {LAST_USED: wanted, "mine": "too"}, said

    await robot.put({})
    await robot.review()  # a review is a use as well
    assert await robot.labels() == {LAST_USED: today}


async def test_an_account_that_lists_the_secret_is_warned(robot: Robot, world: World) -> None:
    answer = await robot.ask()
    assert "warning" not in answer.headers
    await robot.list_secrets("another", "old")
    answer = await robot.ask()
    assert (answer.status, answer.headers["warning"]) == (200, WARNING)
    await robot.server.stop()
    assert robot.told() == {
        "authentication.k8s.io/legacy-token": USER,
        "authentication.k8s.io/legacy-token-autogenerated-secret": "old",
    }


async def test_the_audit_log_tells_of_a_token_made_by_hand(robot: Robot) -> None:
    await robot.list_secrets("another")
    await robot.ask()
    await robot.server.stop()
    assert robot.told() == {
        "authentication.k8s.io/legacy-token": USER,
        "authentication.k8s.io/legacy-token-manual-secret": "old",
    }


async def test_what_is_marked_as_invalid_is_refused(robot: Robot, world: World) -> None:
    today = f"{world.clock.now():%Y-%m-%d}"
    await robot.list_secrets("old")
    await robot.put({INVALID_SINCE: "2025-01-01"})
    answer = await robot.ask()
    assert answer.status == 401
    assert "warning" not in answer.headers
    assert await robot.labels() == {INVALID_SINCE: "2025-01-01", LAST_USED: today}
    assert await robot.review() == {"user": {}, "error": INVALID}
    await robot.put({INVALID_SINCE: ""})
    assert (await robot.ask()).status == 200

    await robot.put({INVALID_SINCE: "whenever"})
    await robot.ask()
    await robot.server.stop()
    assert robot.told() == {
        "authentication.k8s.io/legacy-token": USER,
        "authentication.k8s.io/legacy-token-invalidated": "old/default",
    }


async def test_what_a_token_must_be(robot: Robot) -> None:
    good = await robot.review()
    assert good["authenticated"]
    assert "extra" not in good["user"]  # it has no id of its own

    # A token that is asked for and bound to the Secret is none of these, and is not noted.
    await robot.put()
    assert (await robot.ask(await robot.new_token(3600))).status == 200
    assert await robot.labels() == {}

    other = await robot.new_token(1 << 32)
    assert (await robot.review(other))["error"] == "[invalid bearer token, Token does not match server's copy]"
    await robot.put(data={})
    assert (await robot.review())["error"] == "[invalid bearer token, Token does not match server's copy]"
    await robot.put(data={"token": base64.b64encode(robot.token.encode()).decode()})

    accounts, secrets = (SERVICE_ACCOUNTS, "robot"), (SECRETS, "old")
    for (gvr, name), error in (
        (accounts, "ServiceAccount default/robot has been deleted"),
        (secrets, "Token has been invalidated"),
    ):
        await robot.admin.patch(gvr, name, {"metadata": {"finalizers": ["a.b/c"]}}, namespace="default")
        await robot.admin.delete(gvr, name, namespace="default")
        assert (await robot.review())["error"] == f"[invalid bearer token, {error}]"
    await robot.admin.patch(SECRETS, "old", {"metadata": {"finalizers": None}}, namespace="default")
    with pytest.raises(ApiError):
        await robot.secret()
    assert (await robot.review())["error"] == "[invalid bearer token, Token has been invalidated]"


@pytest.mark.parametrize(
    ("version", "noted", "refuses"), [("1.26", False, False), ("1.28", True, False), ("1.29", True, True)]
)
async def test_each_release_does_what_it_does(
    world: World, store: SqliteStore, tmp_path: Path, version: str, noted: bool, refuses: bool
) -> None:
    robot = served(tmp_path, world, store, version)
    await robot.server.start()
    await robot.make()
    await robot.list_secrets("old")
    assert ("warning" in (await robot.ask()).headers) is noted
    assert (LAST_USED in await robot.labels()) is noted
    await robot.put({INVALID_SINCE: "2025-01-01"})
    assert ((await robot.ask()).status == 401) is refuses
    await robot.server.stop()


async def test_tokens_are_counted(robot: Robot) -> None:
    await robot.ask()
    await robot.list_secrets("old")
    await robot.ask()
    await robot.put({INVALID_SINCE: "2025-01-01"})
    await robot.ask()
    found = await robot.server.handle(Request("GET", "/metrics", certificate=ADMIN))
    kinds = ("legacy_tokens", "legacy_manual_token_uses", "legacy_auto_token_uses", "invalid_legacy_auto_token_uses")
    counted = {line.rpartition(" ")[0]: line.rpartition(" ")[2] for line in found.body.decode().splitlines()}
    assert [counted[f"serviceaccount_{kind}_total"] for kind in kinds] == ["3", "1", "1", "1"]


async def test_a_holder_that_does_not_come_again_is_told_of(robot: Robot, world: World) -> None:
    """A Pod's token is good for a year, and was to be replaced after an hour."""
    await robot.admin.create(PODS, pod("web", serviceAccountName="robot"), namespace="default")
    token = await robot.new_token(3607, kind="Pod", name="web")
    assert (await robot.ask(token)).status == 200
    await world.clock.sleep(3600 + 10)
    assert (await robot.ask(token)).status == 200
    found = await robot.server.handle(Request("GET", "/metrics", certificate=ADMIN))
    lines = found.body.decode().splitlines()
    assert {"serviceaccount_valid_tokens_total 1", "serviceaccount_stale_tokens_total 1"} <= set(lines)
    await robot.server.stop()
    assert robot.told("stale-token") == {
        "authentication.k8s.io/stale-token": f"subject: {USER}, seconds after warning threshold: 3"
    }
