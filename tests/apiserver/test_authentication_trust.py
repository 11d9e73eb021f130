"""The ConfigMap of whom API servers trust (upstream's cluster_authentication_trust_controller_test.go)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig, RequestHeaders
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

NAME = "extension-apiserver-authentication"
CLIENT_CA, PROXY_CA = "client-ca-file", "requestheader-client-ca-file"
_KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(name: str, now: datetime, *, ends: timedelta = timedelta(days=30), size: int = 0) -> str:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(_KEY.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + ends)
    )
    if size:
        padding = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x00" * size)
        builder = builder.add_extension(padding, critical=False)
    return builder.sign(_KEY, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


@pytest.fixture
def root_ca(virtual_clock: VirtualClock) -> str:
    return certificate("kubernetes", virtual_clock.now())


@pytest.fixture
async def trusting(world: World, store: SqliteStore, root_ca: str) -> AsyncIterator[Client]:
    """The administrator's client of a server that has a CA."""
    server = ApiServer(world, store, config=ClusterConfig(root_ca=root_ca))
    await server.start()
    yield Client(InProcessTransport(server, ADMIN), user_agent="kubectl")
    await server.stop()


async def found(client: Client) -> Object:
    return await client.get(CONFIGMAPS, NAME, namespace="kube-system")


async def test_a_server_with_a_ca_tells_of_it(trusting: Client, root_ca: str, virtual_clock: VirtualClock) -> None:
    made = await found(trusting)
    assert made["data"] == {CLIENT_CA: root_ca}
    assert [each["manager"] for each in made["metadata"]["managedFields"]] == ["kube-apiserver"]
    await virtual_clock.sleep(61)
    assert await found(trusting) == made

    await trusting.delete(CONFIGMAPS, NAME, namespace="kube-system")
    await virtual_clock.sleep(1)
    again = await found(trusting)
    assert again["data"] == {CLIENT_CA: root_ca}
    assert again["metadata"]["uid"] != made["metadata"]["uid"]


async def test_a_server_without_one_does_not(client: Client, virtual_clock: VirtualClock) -> None:
    await virtual_clock.sleep(61)
    with pytest.raises(ApiError) as missing:
        await found(client)
    assert missing.value.code == 404


async def test_what_others_say_is_kept(trusting: Client, root_ca: str, virtual_clock: VirtualClock) -> None:
    now = virtual_clock.now()
    other = certificate("other", now)
    old = certificate("old", now, ends=timedelta(minutes=-10))
    ending = certificate("ending", now, ends=timedelta(minutes=4))
    lists = {
        "requestheader-username-headers": ["X-Remote-User"],
        "requestheader-uid-headers": ["X-Remote-Uid"],
        "requestheader-group-headers": ["X-Remote-Group"],
        "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
        "requestheader-allowed-names": ["front", "proxy"],
    }
    headers = {key: json.dumps(values, separators=(",", ":")) for key, values in lists.items()}
    empty = {key: "[]" for key in headers if key != "requestheader-uid-headers"}
    doubled = {key: json.dumps([*values, *values]) for key, values in lists.items()}
    mine = {CLIENT_CA: root_ca}
    rows: dict[str, tuple[dict[str, str], dict[str, str]]] = {
        "nothing": ({}, mine),
        "what it is not": ({"a": "b"}, mine),
        "another CA": ({CLIENT_CA: other}, {CLIENT_CA: other + root_ca}),
        "another CA and its own": ({CLIENT_CA: root_ca + other}, {CLIENT_CA: root_ca + other}),
        "twice the same": ({CLIENT_CA: other + other}, {CLIENT_CA: other + root_ca}),
        "one that has expired": ({CLIENT_CA: old + other}, {CLIENT_CA: other + root_ca}),
        "one that is about to expire": ({CLIENT_CA: ending}, {CLIENT_CA: ending + root_ca}),
        "a proxy": ({PROXY_CA: other, **doubled}, {**mine, PROXY_CA: other, **headers}),
        "a proxy without headers": ({PROXY_CA: other}, {**mine, PROXY_CA: other, **empty}),
        "headers without a CA": (headers, mine),
        "no certificates": ({CLIENT_CA: "x"}, {CLIENT_CA: "x"}),
        "no list": ({"requestheader-allowed-names": "{"}, {"requestheader-allowed-names": "{"}),
        "no list of strings": ({"requestheader-group-headers": "[1]"}, {"requestheader-group-headers": "[1]"}),
    }
    for name, (said, wanted) in rows.items():
        current = await found(trusting)
        await trusting.update(CONFIGMAPS, {**current, "data": said})
        # A change is seen within a minute, and is nothing that wakes the server.
        await virtual_clock.sleep(61)
        assert ((await found(trusting)).get("data") or {}) == wanted, name


async def test_what_is_too_large_begins_anew(trusting: Client, root_ca: str, virtual_clock: VirtualClock) -> None:
    large = certificate("large", virtual_clock.now(), size=773_770)
    assert len(large) < 1 << 20 < len(large) + len(root_ca)
    await trusting.update(CONFIGMAPS, {**await found(trusting), "data": {CLIENT_CA: large}})
    await virtual_clock.sleep(61)
    assert (await found(trusting))["data"] == {CLIENT_CA: root_ca}


@pytest.mark.parametrize(("version", "told"), [("1.32", False), ("1.33", True)])
async def test_headers_of_uids_are_newer(
    world: World, store: SqliteStore, root_ca: str, version: str, told: bool
) -> None:
    server = ApiServer(world, store, config=ClusterConfig(root_ca=root_ca, kubernetes_version=version))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl")
    said = {PROXY_CA: root_ca, "requestheader-uid-headers": '["X-Remote-Uid"]'}
    await client.update(CONFIGMAPS, {**await found(client), "data": said})
    await world.clock.sleep(61)
    data = (await found(client))["data"]
    assert ("requestheader-uid-headers" in data) is told
    await server.stop()


async def test_the_proxies_of_a_server_are_told_of(
    world: World, store: SqliteStore, root_ca: str, virtual_clock: VirtualClock
) -> None:
    """Besides those of another server, whose headers and names come first."""
    proxies, other = (certificate(name, virtual_clock.now()) for name in ("front-proxy-ca", "other"))
    config = ClusterConfig(root_ca=root_ca, request_headers=RequestHeaders(client_ca=proxies))
    server = ApiServer(world, store, config=config)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl")
    mine = {
        CLIENT_CA: root_ca,
        PROXY_CA: proxies,
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }
    made = await found(client)
    assert made["data"] == mine
    said = {PROXY_CA: other, "requestheader-allowed-names": '["other"]'}
    await client.update(CONFIGMAPS, {**made, "data": said})
    await virtual_clock.sleep(61)
    both = {**mine, PROXY_CA: other + proxies, "requestheader-allowed-names": '["other","front-proxy-client"]'}
    assert (await found(client))["data"] == both
    await server.stop()
