"""Tokens that nobody has used for a year (upstream's legacy_serviceaccount_token_cleaner_test.go).

A year with nothing running is over at once: what there was before it is made by a server that then stops.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from engine.api.types import CONFIGMAPS, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.config import ClusterConfig
from engine.controllers.legacy_service_account_token_cleaner import LegacyServiceAccountTokenCleaner
from engine.controllers.manager import ControllerManager
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.controllers.cluster import ADMIN, client_of, controller_identity

DAY = 24 * 3600
LAST_USED, INVALID_SINCE = "kubernetes.io/legacy-token-last-used", "kubernetes.io/legacy-token-invalid-since"
TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
TOKEN = "kubernetes.io/service-account-token"
ACCOUNT, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
DAYS = 366 + 400  # that pass


def secret(name: str, *, type: str = TOKEN, account: str = "robot", labels: Any = None, **more: Any) -> Object:
    annotations = {ACCOUNT: account, **more.pop("annotations", {})}
    metadata = {"name": name, "annotations": annotations, "labels": labels or {}, **more}
    return {"apiVersion": "v1", "kind": "Secret", "type": type, "metadata": metadata}


def pod(name: str, **spec: Any) -> Object:
    container = {"name": "c", "image": "i"}
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


@asynccontextmanager
async def serving(world: World, store: SqliteStore) -> AsyncIterator[tuple[ApiServer, Client]]:
    server = ApiServer(world, store)
    await server.start()
    try:
        yield server, client_of(server, ADMIN, "kubectl")
    finally:
        await server.stop()


@asynccontextmanager
async def cleaning(world: World, server: ApiServer) -> AsyncIterator[None]:
    manager = ControllerManager(
        lambda name: client_of(server, controller_identity(name), name),
        world,
        ClusterConfig(),
        controllers=(LegacyServiceAccountTokenCleaner,),
        detect_mutations=True,
    )
    await manager.start()
    await manager.informers.wait_for_sync()
    await world.clock.sleep(1)
    yield
    await manager.stop()


@pytest.fixture
async def store(world: World) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(None, clock=world.clock)
    yield store
    await store.close()


def told(secrets: list[Object]) -> dict[str, str | None]:
    """The Secrets that are there, and since when they are invalid."""
    return {each["metadata"]["name"]: (each["metadata"].get("labels") or {}).get(INVALID_SINCE) for each in secrets}


async def test_which_tokens_are_cleaned(world: World, store: SqliteStore) -> None:
    edge = world.clock.now() + timedelta(days=DAYS - 365)
    before, on, after = (f"{edge + timedelta(days=days):%Y-%m-%d}" for days in (-1, 0, 1))
    today = f"{world.clock.now() + timedelta(days=DAYS):%Y-%m-%d}"
    used = {LAST_USED: before}
    # What becomes of a Secret: whether it is gone, and since when it is invalid.
    kept, marked, gone = None, today, "gone"
    rows: dict[str, tuple[Object, str | None]] = {
        "unused": (secret("unused"), marked),
        "used-long-ago": (secret("used-long-ago", labels=used), marked),
        "used-on-the-day": (secret("used-on-the-day", labels={LAST_USED: on}), kept),
        "used-since": (secret("used-since", labels={LAST_USED: after}), kept),
        "used-whenever": (secret("used-whenever", labels={LAST_USED: "20200101"}), kept),
        "invalid-for-long": (secret("invalid-for-long", labels={INVALID_SINCE: before}), gone),
        "invalid-and-used": (secret("invalid-and-used", labels={**used, INVALID_SINCE: before}), gone),
        "invalid-on-the-day": (secret("invalid-on-the-day", labels={INVALID_SINCE: on}), on),
        "invalid-but-used": (secret("invalid-but-used", labels={LAST_USED: on, INVALID_SINCE: before}), before),
        "invalid-whenever": (secret("invalid-whenever", labels={INVALID_SINCE: "2020.01.01"}), marked),
        "of-another-type": (secret("of-another-type", type="Opaque"), kept),
        "of-nobody": (secret("of-nobody", account="nobody", type="Opaque"), kept),
        "of-another-account": (secret("of-another-account", account="other"), kept),
        "of-an-older-account": (secret("of-an-older-account", annotations={UID: "older"}), kept),
        "by-hand": (secret("by-hand"), kept),
        "deleted": (secret("deleted", finalizers=["a.b/c"]), kept),
        "in-a-volume": (secret("in-a-volume"), kept),
        "to-pull-with": (secret("to-pull-with", labels={INVALID_SINCE: before}), before),
    }
    async with serving(world, store) as (_, admin):
        listed = [{"name": name} for name in rows if name != "by-hand"]
        for name in ("robot", "default", "other"):
            made = {"kind": "ServiceAccount", "metadata": {"name": name}, "secrets": listed if name == "robot" else []}
            await admin.create(SERVICE_ACCOUNTS, made, namespace="default")
        for made, _ in rows.values():
            await admin.create(SECRETS, made, namespace="default")
        await admin.delete(SECRETS, "deleted", namespace="default")
        volumes = [{"name": "v", "secret": {"secretName": "in-a-volume"}}]
        for each in (pod("reads", volumes=volumes), pod("pulls", imagePullSecrets=[{"name": "to-pull-with"}])):
            await admin.create(PODS, each, namespace="default")
    await world.clock.sleep(DAYS * DAY)
    async with serving(world, store) as (server, admin):
        await admin.create(SECRETS, secret("new"), namespace="default")
        async with cleaning(world, server):
            found = told((await admin.list(SECRETS, namespace="default")).items)
    wanted = {name: fate for name, (_, fate) in rows.items() if fate != gone}
    assert found == {**wanted, "new": kept}


@pytest.mark.parametrize(
    ("days", "data", "cleans"),
    [
        pytest.param(366, None, True, id="a year after the first day"),
        pytest.param(365, None, False, id="not quite"),
        pytest.param(800, {"since": "2999-01-01"}, False, id="tracked for less"),
        pytest.param(800, {}, False, id="nobody knows since when"),
        pytest.param(800, {"since": "yesterday"}, False, id="no date"),
    ],
)
async def test_uses_must_have_been_noted_for_a_year(
    world: World, store: SqliteStore, days: int, data: dict[str, str] | None, cleans: bool
) -> None:
    async with serving(world, store) as (_, admin):
        made: Object = {"kind": "ServiceAccount", "metadata": {"name": "robot"}, "secrets": [{"name": "old"}]}
        await admin.create(SERVICE_ACCOUNTS, made, namespace="default")
        await admin.create(SECRETS, secret("old"), namespace="default")
    await world.clock.sleep(days * DAY)
    async with serving(world, store) as (server, admin):
        if data is not None:
            tracked = await admin.get(CONFIGMAPS, TRACKING, namespace="kube-system")
            tracked["data"] = data
            await admin.update(CONFIGMAPS, tracked)
        async with cleaning(world, server):
            found = told((await admin.list(SECRETS, namespace="default")).items)
            assert (found["old"] is not None) is cleans


async def test_it_looks_once_a_day(world: World, store: SqliteStore) -> None:
    async with serving(world, store) as (_, admin):
        made: Object = {"kind": "ServiceAccount", "metadata": {"name": "robot"}, "secrets": [{"name": "old"}]}
        await admin.create(SERVICE_ACCOUNTS, made, namespace="default")
        await admin.create(SECRETS, secret("old"), namespace="default")
    await world.clock.sleep(365 * DAY + 23 * 3600)
    async with serving(world, store) as (server, admin), cleaning(world, server):
        assert told((await admin.list(SECRETS, namespace="default")).items)["old"] is None
        await server.stop()  # a day without a server is soon over
        await world.clock.sleep(23.5 * 3600)
        await server.start()
        await world.clock.sleep(600)
        assert told((await admin.list(SECRETS, namespace="default")).items)["old"] is None
        await world.clock.sleep(1800)
        assert told((await admin.list(SECRETS, namespace="default")).items)["old"] is not None


def test_releases_that_have_it() -> None:
    needed = {
        version: LegacyServiceAccountTokenCleaner.is_needed(ClusterConfig(kubernetes_version=version))
        for version in ("1.28", "1.29", "")
    }
    assert needed == {"1.28": False, "1.29": True, "": True}
