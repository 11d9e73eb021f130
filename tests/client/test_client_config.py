"""From a kubeconfig and flags to a connection: rows checked beside the real kubectl (clientcmd validation_test.go,
client_config_test.go)."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.client.connection import AuthProvider, Connection, KubeConfigError, Overrides, base_url
from engine.client.credentials import Credentials
from engine.client.https import HttpsTransport
from engine.client.kubeconfig import KubeConfig
from engine.clock import VirtualClock

KEYS = {"client-certificate-data": "aGk=", "client-key-data": "aGk="}
PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "x", "interactiveMode": "Never"}
UNREAD = "unable to read {0} /nope for {1} due to open /nope: no such file or directory"


def _config(user: dict[str, Any], cluster: dict[str, Any] | None = None, server: str = "https://k:1") -> KubeConfig:
    return KubeConfig(
        current_context="c",
        clusters={"k": {"server": server, **(cluster or {})}},
        contexts={"c": {"cluster": "k", "user": "u"}},
        users={"u": user},
    )


PROBLEMS: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "a token and a password": ({"token": "t", "password": "p"}, {}, (
        "more than one authentication method found for u; found [token basicAuth], only one is allowed",)),
    "a certificate and no key": ({"client-certificate-data": "aGk="}, {}, (
        "client-key-data or client-key must be specified for u to use the clientCert authentication method.",)),
    "files that are not there": (
        {"client-certificate": "/nope", "client-key": "/nope"}, {"certificate-authority": "/nope"},
        tuple(UNREAD.format(*of) for of in (("client-cert", "u"), ("client-key", "u"), ("certificate-authority", "k"))),
    ),
    "a file and its data": (
        {"client-certificate": "/dev/null", "client-key": "/dev/null", **KEYS},
        {"certificate-authority": "/dev/null", "certificate-authority-data": "aGk="}, (
            "client-cert-data and client-cert are both specified for u. client-cert-data will override.",
            "client-key-data and client-key are both specified for u; client-key-data will override",
            "certificate-authority-data and certificate-authority are both specified for k. "
            "certificate-authority-data will override.",
        ),
    ),
    "groups of nobody": ({"as-groups": ["g"]}, {}, (
        "requesting uid, groups or user-extra for u without impersonating a user",)),
    "a plugin of nothing": ({"exec": {"command": "", "env": [{"name": "", "value": ""}]}, "auth-provider": {}}, {}, (
        "authProvider cannot be provided in combination with an exec plugin for u",
        "command must be specified for u to use exec authentication plugin",
        "apiVersion must be specified for u to use exec authentication plugin",
        "env variable name must be specified for u to use exec authentication plugin",
        "interactiveMode must be specified for u to use exec authentication plugin",
    )),
    "a mode that is none": ({"exec": {**PLUGIN, "interactiveMode": "Foo"}}, {}, (
        'invalid interactiveMode for u: "Foo"',)),
    "a proxy that is none": ({}, {"proxy-url": "ftp://x"}, (
        'invalid \'proxy-url\' "ftp://x" for cluster "k": unsupported scheme "ftp", must be http, https, or socks5',)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_all_that_is_wrong_is_told_at_once(name: str) -> None:
    user, cluster, problems = PROBLEMS[name]
    with pytest.raises(KubeConfigError) as raised:
        _config(user, cluster).connection()
    assert raised.value.problems == problems


def test_what_was_asked_for_and_is_not_there_is_told_first() -> None:
    less = Overrides(context="x", cluster="x")
    for asked, why in (
        (replace(less, user="x"), 'auth info "x"'),
        (less, 'context "x"'),
        (replace(less, context=""), 'cluster "x"'),
    ):
        with pytest.raises(KubeConfigError) as raised:
            _config({}).connection(asked)
        assert str(raised.value) == f"{why} does not exist"


def test_a_namespace_needs_less() -> None:
    config = _config({"token": "t", "password": "p"}).client_config(Overrides(user="x", cluster="x", context="x"))
    with pytest.raises(KubeConfigError) as raised:
        config.confirm_usable()
    assert raised.value.problems == (
        "context was not found for specified context: x",
        'no server found for cluster "x"',
    )


MADE: dict[str, tuple[KubeConfig, Overrides, dict[str, Any]]] = {
    "nobody is told who one is over plain HTTP": (
        _config({"token": "t", "exec": PLUGIN, "as": "bob", **KEYS}, {"tls-server-name": "n"}, server="http://k:1"),
        Overrides(), {"server": "http://k:1", "impersonate": "bob"},
    ),
    "flags for a certificate": (
        _config(dict(KEYS), {"certificate-authority-data": "aGk="}),
        Overrides(insecure=True, token="t", server="https://other:1"),
        {"server": "https://other:1", "insecure": True, "token": "t", "certificate": b"hi", "key": b"hi"},
    ),
    "a server's name goes with the server": (
        _config({"token": "t"}, {"tls-server-name": "n"}), Overrides(server="https://other:1"),
        {"server": "https://other:1", "token": "t", "reloads": True},
    ),
    "a key and no certificate": (_config({"client-key-data": "aGk="}), Overrides(), {"server": "https://k:1"}),
    "flags for who one acts as": (
        _config({"token": "t", "as": "bob", "as-groups": ["a"], "as-uid": "1", "as-user-extra": {"k": ["v"]}}),
        Overrides(impersonate_groups=("b", "c"), impersonate_extra=(("l", "w"),)),
        {"server": "https://k:1", "token": "t", "reloads": True, "impersonate": "bob", "impersonate_groups": ("b", "c"),
         "impersonate_uid": "1", "impersonate_extra": (("k", "v"), ("l", "w"))},
    ),
    "a query is none of the server's": (
        _config({}, server="http://k:1/a?b=c"), Overrides(), {"server": "http://k:1/a"}),
    "no cluster at all": (KubeConfig(), Overrides(), {"server": "http://localhost:8080"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_connection(name: str) -> None:
    config, overrides, expected = MADE[name]
    found = config.connection(overrides)
    assert found == Connection(**{"reloads": found.reloads, **expected})


SERVERS = {
    "https://a:1/b/": "https://a:1/b",
    "a:1": "http://a:1",
    "a": "http://a",
    "http://u:p@a//": "http://a",
    "HTTPS://a": "https://a",
}


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_may_be_named_by_host_and_port(server: str) -> None:
    assert base_url(server) == SERVERS[server]


@pytest.mark.parametrize("server", ["a:1/b", "http://[::1", "http://a:b"])
def test_a_server_that_is_none(server: str) -> None:
    with pytest.raises(KubeConfigError) as raised:
        base_url(server)
    assert str(raised.value) == f'host must be a URL or a host:port pair: "{server}"'


SECURE = Connection("https://a:1", insecure=True)
UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "roots and insecure": ({"ca": b"x"}, "specifying a root certificates file with the insecure flag is not allowed"),
    "no roots": (
        {"ca": b"x", "insecure": False}, "unable to load root certificates: unable to parse bytes as PEM block"),
    "no certificate": ({"certificate": b"x", "key": b"x"}, "tls: failed to find any PEM data in certificate input"),
    "a password and a token": (
        {"username": "a", "token": "b"}, "username/password or bearer token may be set, but not both"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_go_together_is_told_before_anything_is_sent(name: str) -> None:
    changes, why = UNUSABLE[name]
    with pytest.raises(KubeConfigError) as raised:
        HttpsTransport(replace(SECURE, **changes))
    assert str(raised.value) == why


def test_certificates_in_files_are_looked_into_when_the_server_asks() -> None:
    with pytest.raises(ConnectionError, match=r"^Unable to connect to the server: tls: failed to find any PEM data"):
        HttpsTransport(replace(SECURE, certificate=b"x", key=b"x", reloads=True))


async def test_the_token_of_a_file_is_read_anew_every_minute(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    file = tmp_path / "token"
    said = Credentials(replace(SECURE, token="first", token_file=file), virtual_clock)

    async def given() -> str:
        return (await said.given()).token

    assert await given() == "first"  # there is no file
    found = []
    for text in ("  a b \n", "c", ""):
        file.write_text(text)
        found.append(await given())
        await virtual_clock.sleep(61)
        found.append(await given())
    assert found == ["first", "a b", "a b", "c", "c", "c"]


def _token(claims: str) -> str:
    return f"a.{base64.urlsafe_b64encode(claims.encode()).decode().rstrip('=')}.c"


TOKENS = {
    "good": (_token('{"exp": 4102444800}'), ""),
    "expired": (_token('{"exp": 1}'), "No valid id-token, and cannot refresh without refresh-token"),
    "none": ("", "No valid id-token, and cannot refresh without refresh-token"),
    "two parts": ("a.b", "ID Token is not a valid JWT"),
    "no base64": ("a.!.c", "illegal base64 data at input byte 0"),
    "no json": (_token("hi"), "parsing claims: invalid character 'h' looking for beginning of value"),
}


@pytest.mark.parametrize("name", TOKENS)
async def test_an_identity_token_is_good_until_it_expires(name: str, virtual_clock: VirtualClock) -> None:
    token, why = TOKENS[name]
    config = {"idp-issuer-url": "https://i", "client-id": "c", "id-token": token}
    said = Credentials(replace(SECURE, provider=AuthProvider("oidc", tuple(config.items()))), virtual_clock)
    if not why:
        assert (await said.given()).token == token
        return
    with pytest.raises(ConnectionError) as raised:
        await said.given()
    assert str(raised.value) == f"Unable to connect to the server: {why}"


PROVIDERS = {
    "gcp": "The gcp auth plugin has been removed.",
    "azure": "The azure auth plugin has been removed.",
    "foo": 'no Auth Provider found for name "foo"',
    "oidc": "Must provide idp-issuer-url",
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_ways_to_log_in_that_are_no_more(name: str, tmp_path: Path) -> None:
    with pytest.raises(KubeConfigError) as raised:
        HttpsTransport(_config({"token": "t", "auth-provider": {"name": name}}).connection(Overrides(insecure=True)))
    assert str(raised.value).splitlines()[0] == PROVIDERS[name]
