"""Proxies that say for whom they ask (apiserver pkg/authentication/request/headerrequest requestheader_test.go)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.api.types import Object
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.config import ClusterConfig, RequestHeaders
from engine.pki import FRONT_PROXY
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions

PROXY = FRONT_PROXY._replace(of_proxy=True, verified=False)
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
PATH = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ALL = "system:authenticated"
_TWO_PREFIXES = {"group_headers": ("X-Remote-Group-1", "X-Remote-Group-2")}


class Row(NamedTuple):
    config: dict[str, Any]
    headers: dict[str, str]
    user: Object | None  # None: nobody is told of


def _user(name: str = "Bob", *groups: str, **more: Any) -> Object:
    return {"username": name, "groups": [*groups, ALL], **more}


ROWS = {
    "nothing": Row({}, {}, None),
    "no user": Row({}, {"x-remote-group": "dev"}, None),
    "a user": Row({}, {"x-remote-user": "Bob"}, _user()),
    "longer names": Row({}, {"prefixed-x-remote-user-with-suffix": "Bob", "x-remote-user-with-suffix": "Bob"}, None),
    "the first header with a value": Row(
        {"username_headers": ("X-Remote-User", "A-Second", "Another")},
        {"x-remote-user": "\nsecond value", "a-second": "first\nsecond", "another": "third"},
        _user("first"),
    ),
    "names in any case": Row(
        {"username_headers": ("x-REMOTE-user",), "group_headers": ("X-REMOTE-Group",)},
        {"x-remote-user": "Bob", "x-remote-group": "Users"},
        _user("Bob", "Users"),
    ),
    "all groups": Row(
        _TWO_PREFIXES,
        {"x-remote-user": "Bob", "x-remote-group-1": "one-a\none-b", "x-remote-group-2": "two-a\n\ntwo-b,c"},
        _user("Bob", "one-a", "one-b", "two-a", "two-b,c"),
    ),
    "no uid is looked for": Row({}, {"x-remote-user": "Bob", "x-remote-uid": "1"}, _user()),
    "a uid": Row(
        {"uid_headers": ("X-Remote-Uid", "X-Remote-Uid-2")},
        {"x-remote-user": "Bob", "x-remote-uid-2": "2\n3"},
        _user(uid="2"),
    ),
    "extra": Row(
        {"extra_headers_prefix": ("X-Remote-Extra-1-", "X-Remote-Extra-2-")},
        {
            "x-remote-user": "Bob",
            "x-remote-extra-1-key1": "alfa\nbravo",
            "x-remote-extra-1-key2": "charlie\ndelta",
            "x-remote-extra-1-": "india\njuliet",
            "x-remote-extra-2-": "kilo\nlima",
            "x-remote-extra-2-key1": "echo\nfoxtrot",
            "x-remote-extra-2-key2": "golf\nhotel",
            "x-group-remote": "snorlax",
        },
        _user(
            extra={
                "": ["india", "juliet", "kilo", "lima"],
                "key1": ["alfa", "bravo", "echo", "foxtrot"],
                "key2": ["charlie", "delta", "golf", "hotel"],
            }
        ),
    ),
    "keys that are escaped": Row(
        {},
        {
            "x-remote-user": "Bob",
            "x-remote-extra-alpha": "alphabetical",
            "x-remote-extra-alph4num3r1c": "alphanumeric",
            "x-remote-extra-percent%20encoded": "percent encoded",
            "x-remote-extra-almost%zzpercent%xxencoded": "not quite",
            "x-remote-extra-example.com%2fpercent%2520encoded": "twice",
            "x-remote-extra-example.com%2f%e4%bb%8a%e6%97%a5%e3%81%af": "utf-8",
            "x-remote-extra-abc123!#$+.-_*\\^`~|'": "header key legal",
        },
        _user(
            extra={
                "abc123!#$+.-_*\\^`~|'": ["header key legal"],
                "almost%zzpercent%xxencoded": ["not quite"],
                "alph4num3r1c": ["alphanumeric"],
                "alpha": ["alphabetical"],
                "example.com/percent%20encoded": ["twice"],
                "example.com/今日は": ["utf-8"],
                "percent encoded": ["percent encoded"],
            }
        ),
    ),
    "a name that is allowed": Row(
        {"allowed_names": ("other", FRONT_PROXY.common_name)}, {"x-remote-user": "Bob"}, _user()
    ),
    "any name": Row({"allowed_names": ()}, {"x-remote-user": "Bob"}, _user()),
    "a name that is not allowed": Row({"allowed_names": ("other",)}, {"x-remote-user": "Bob"}, None),
}


async def _asked(
    world: World, store: SqliteStore, config: RequestHeaders, headers: dict[str, str], certificate: ClientCertificate
) -> tuple[int, Object]:
    server = ApiServer(world, store, config=ClusterConfig(request_headers=config))
    await server.start()
    said = {**headers, "content-type": "application/json"}
    answer = await server.handle(Request("POST", PATH, {}, said, REVIEW, certificate=certificate))
    await server.stop()
    return answer.status, answer.body


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_for_whom_a_proxy_asks(world: World, store: SqliteStore, row: Row) -> None:
    config = RequestHeaders(client_ca="PEM", **row.config)
    status, body = await _asked(world, store, config, row.headers, PROXY)
    if row.user is None:
        assert status == 401  # its certificate is none of a client's
    else:
        assert (status, body["status"]["userInfo"]) == (201, row.user)


@pytest.mark.parametrize(
    ("certificate", "name"),
    [
        (ClientCertificate("front-proxy-client"), "front-proxy-client"),
        (ClientCertificate("Alice", of_proxy=True), "Alice"),  # of both, and not allowed as a proxy
        (ClientCertificate("front-proxy-client", of_proxy=True), "Bob"),
    ],
)
async def test_who_is_no_proxy_asks_for_itself(
    world: World, store: SqliteStore, certificate: ClientCertificate, name: str
) -> None:
    config = RequestHeaders(client_ca="PEM")
    status, body = await _asked(world, store, config, {"x-remote-user": "Bob"}, certificate)
    assert (status, body["status"]["userInfo"]["username"]) == (201, name)


async def test_without_an_authority_of_proxies_nobody_is_believed(world: World, store: SqliteStore) -> None:
    status, _ = await _asked(world, store, RequestHeaders(), {"x-remote-user": "Bob"}, PROXY)
    assert status == 401


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"requestheader_username_headers": "a, "}, 'empty value in "requestheader-username-headers"'),
        ({"requestheader_group_headers": ",a"}, 'empty value in "requestheader-group-headers"'),
        ({"requestheader_extra_headers_prefix": " "}, 'empty value in "requestheader-extra-headers-prefix"'),
        ({"requestheader_allowed_names": "a,,b"}, 'empty value in "requestheader-allowed-names"'),
        (
            {"requestheader_uid_headers": "X-Uid"},
            "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation "
            "will not work",
        ),
        (
            {"requestheader_client_ca_file": "{0}/none"},
            "--requestheader-client-ca-file: open {0}/none: no such file or directory",
        ),
        (
            {"requestheader_client_ca_file": "{0}/empty"},
            '--requestheader-client-ca-file: missing content for CA bundle "request-header::{0}/empty"',
        ),
        (
            {"requestheader_client_ca_file": "{0}/text"},
            '--requestheader-client-ca-file: error loading CA bundle for "request-header::{0}/text": data does not '
            "contain any valid RSA or ECDSA certificates",
        ),
        (
            {"proxy_client_cert_file": "{0}/text"},
            "--proxy-client-cert-file and --proxy-client-key-file go together: give both, or none",
        ),
        (
            {"proxy_client_cert_file": "{0}/text", "proxy_client_key_file": "{0}/empty"},
            "--proxy-client-cert-file: {0}/text and {0}/empty are no certificate and its key",
        ),
    ],
)
def test_what_no_server_starts_with(tmp_path: Path, options: dict[str, str], why: str) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "text").write_text("text")
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(**{name: value.format(tmp_path) for name, value in options.items()}))  # type: ignore[arg-type]
    assert str(caught.value) == why.format(tmp_path)


def test_a_header_that_servers_behind_do_not_know_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    config = configure(UpOptions(requestheader_group_headers="X-Group,Y-Group"))
    assert config.request_headers.group_headers == ("X-Group", "Y-Group")
    assert capsys.readouterr().err == (
        "warning: --requestheader-group-headers is set without specifying the standard X-Remote-Group header - API "
        "aggregation will not work\n"
    )
