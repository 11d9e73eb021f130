"""How a request says who asks, and what it is told who may not or should know more (after apiserver's
bearertoken_test.go, x509_test.go, responsewriters errors_test.go and filters warning_test.go)."""

from __future__ import annotations

import pytest

from engine.api.types import CLUSTER_ROLE_BINDINGS, GVR, Object
from engine.api.wire import ClientCertificate, Request, Response
from engine.apiserver.server import ApiServer
from engine.apiserver.warning_headers import warning_header
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from tests.apiserver.test_reviews import request_token

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ACCOUNT = "system:serviceaccount:default:default"
TOO_MUCH_SPACE = (
    '299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"'
)


def who(response: Response) -> str:
    if response.status == 403:  # nobody in particular may not even ask who he is
        return str(response.body["message"]).split('"')[1]
    return "" if response.status == 401 else str(response.body["status"]["userInfo"]["username"])


async def test_a_token_is_the_word_behind_its_scheme(
    server: ApiServer, client: Client, default_account: Object
) -> None:
    token = (await request_token(client))["status"]["token"]
    rows: dict[str, tuple[str, str | None]] = {
        f"Bearer {token}": (ACCOUNT, None),
        f"bearer {token}": (ACCOUNT, None),
        f"  BEARER {token}  ": (ACCOUNT, None),
        f"Bearer {token} and more": (ACCOUNT, None),  # what comes behind it is nobody's business
        f"Bearer  {token}": ("system:anonymous", TOO_MUCH_SPACE),
        f"Bearer   {token}": ("system:anonymous", TOO_MUCH_SPACE),
        "Bearer ": ("system:anonymous", None),
        "Bearer": ("system:anonymous", None),
        "Bearer: x": ("system:anonymous", None),
        "Basic dXNlcjpwYXNz": ("system:anonymous", None),
        "Bearer x": ("", None),
        f"Bearer {token},": ("", None),
    }
    for header, (name, warned) in rows.items():
        answer = await server.handle(Request("POST", REVIEWS, headers={"authorization": header}, body=REVIEW))
        assert (who(answer), answer.headers.get("warning")) == (name, warned), header


async def test_a_certificate_may_say_the_uid(server: ApiServer) -> None:
    rows: dict[tuple[str, ...], str | None] = {(): "", ("abc",): "abc", ("abc", "def"): None, ("",): None}
    for uids, uid in rows.items():
        certificate = ClientCertificate("jane", ("staff",), uids=uids)
        answer = await server.handle(Request("POST", REVIEWS, body=REVIEW, certificate=certificate))
        found = None if answer.status == 401 else answer.body["status"]["userInfo"].get("uid", "")
        assert found == uid, uids


async def test_whoever_is_known_is_authenticated(server: ApiServer, client: Client) -> None:
    """TestAuthenticatedGroupAdder of upstream."""
    group = "rbac.authorization.k8s.io"
    others = [
        {"apiGroup": group, "kind": "Group", "name": "system:unauthenticated"},
        {"apiGroup": group, "kind": "User", "name": "system:anonymous"},
    ]
    binding = await client.get(CLUSTER_ROLE_BINDINGS, "system:basic-user")
    await client.update(CLUSTER_ROLE_BINDINGS, {**binding, "subjects": [*binding["subjects"], *others]})
    authenticated, unauthenticated = "system:authenticated", "system:unauthenticated"
    rows: list[tuple[str, tuple[str, ...], list[str]]] = [
        ("jane", ("staff",), ["staff", authenticated]),
        ("jane", (), [authenticated]),
        ("jane", (authenticated, "staff"), [authenticated, "staff"]),
        ("jane", (unauthenticated,), [unauthenticated]),
        ("system:anonymous", ("staff",), ["staff"]),
    ]
    for name, groups, expected in rows:
        certificate = ClientCertificate(name, groups)
        answer = await server.handle(Request("POST", REVIEWS, body=REVIEW, certificate=certificate))
        assert answer.body["status"]["userInfo"]["groups"] == expected, (name, groups)


async def test_before_1_33_a_certificate_had_no_uid(virtual_clock: VirtualClock) -> None:
    async with Cluster(
        ClusterConfig(kubernetes_version="1.32", components=frozenset()), clock=virtual_clock
    ) as cluster:
        certificate = ClientCertificate("jane", uids=("abc", "def"))
        answer = await cluster.api_server.handle(Request("POST", REVIEWS, body=REVIEW, certificate=certificate))
    assert "uid" not in answer.body["status"]["userInfo"]


FORBIDDEN: dict[str, tuple[str, str, str]] = {
    "a path with a space": ("jane", "/a%20b", 'forbidden: User "jane" cannot get path "/a b"'),
    "a path like HTML": (
        "jane", "/a&b/<script>", 'forbidden: User "jane" cannot get path "/a&amp;b/&lt;script&gt;"',
    ),
    "a user like HTML": (
        '<b>"jane"', "/api/v1/namespaces/a/pods",
        'pods is forbidden: User "&lt;b&gt;\\"jane\\"" cannot list resource "pods" in API group "" in the namespace '
        '"a"',
    ),
    "a name like HTML": (
        "jane", "/api/v1/namespaces/<a>/pods/<b>",
        'pods "<b>" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace '
        '"&lt;a&gt;"',
    ),
}  # fmt: skip


async def test_a_refusal_looks_like_no_html(server: ApiServer) -> None:
    for user, path, message in FORBIDDEN.values():
        answer = await server.handle(Request("GET", path, certificate=ClientCertificate(user)))
        assert answer.status == 403
        assert answer.body["message"] == message
        assert answer.headers["x-content-type-options"] == "nosniff"
    granted = await server.handle(Request("GET", "/version", certificate=ClientCertificate("jane")))
    assert "x-content-type-options" not in granted.headers


async def test_a_path_is_granted_as_it_is_meant(client: Client, server: ApiServer) -> None:
    rule = {"verbs": ["get"], "nonResourceURLs": ["/my files/*"]}
    group = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "mine"}, "rules": [rule]}
    await client.create(GVR(group, "v1", "clusterroles"), role)
    binding = {
        "apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "mine"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "mine"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "jane"}],
    }  # fmt: skip
    await client.create(GVR(group, "v1", "clusterrolebindings"), binding)
    answer = await server.handle(Request("GET", "/my%20files/a", certificate=ClientCertificate("jane")))
    assert answer.status == 404


def said(*texts: str) -> str:
    return ", ".join(f'299 - "{text}"' for text in texts)


WARNINGS: dict[str, tuple[list[str], str]] = {
    "none": ([], ""),
    "an empty one": ([""], ""),
    "one twice": (["a", "a", "b"], said("a", "b")),
    "marks and letters of other scripts": (['Iñtërnâtiôn "a" \\'], said('Iñtërnâtiôn \\"a\\" \\\\')),
    "more than a line": (["a\nb", "c"], said("c")),
    "as much as there may be": (["a" * 4000, "b" * 96], said("a" * 4000, "b" * 96)),
    "more than there may be": (
        ["a" * 4000, "ñ" * 97, "c" * 300, "d"], said("a" * 256, "ñ" * 97, "c" * 256, "d"),
    ),
    "much more": (
        [f"{number:02}" + "a" * 298 for number in range(20)],
        said(*(f"{number:02}" + "a" * 254 for number in range(16))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_are_cut_where_they_are_many(name: str) -> None:
    texts, header = WARNINGS[name]
    assert warning_header(texts) == header


async def test_a_method_that_is_none_is_authorized_first(server: ApiServer, client: Client) -> None:
    admin, jane = ClientCertificate("admin", ("system:masters",)), ClientCertificate("jane")
    rows = {
        ("FOO", "/api/v1/pods"): 405,
        ("FOO", "/version"): 405,
        ("FOO", "/nothing"): 404,
        ("FOO", "/healthz"): 200,
        ("HEAD", "/healthz"): 200,
        ("OPTIONS", "/api/v1/pods"): 405,
    }
    for (method, path), status in rows.items():
        assert (await server.handle(Request(method, path, certificate=admin))).status == status, (method, path)
        assert (await server.handle(Request(method, path, certificate=jane))).status == 403, (method, path)
    refused = await server.handle(Request("FOO", "/api/v1/pods", certificate=jane))
    assert refused.body["message"] == (
        'pods is forbidden: User "jane" cannot  resource "pods" in API group "" at the cluster scope'
    )
    told = (await client.send("GET", "/metrics")).body.decode()
    counted = [line for line in told.splitlines() if line.startswith("apiserver_request_total{")]
    health = {line.partition('verb="')[2].partition('"')[0] for line in counted if 'subresource="/healthz"' in line}
    assert health == {"GET", "other"}


async def test_names_are_quoted_as_go_quotes_them(client: Client) -> None:
    """%q of what is not there, of what is not right, and of the value that is wrong."""
    missing = await client.send("GET", '/api/v1/namespaces/default/pods/a"b%00c')
    assert missing.body["message"] == 'pods "a\\"b\\x00c" not found'
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": 'a"b\u200b\v'}}
    wrong = await client.send("POST", "/api/v1/namespaces/default/configmaps", body=body)
    assert wrong.body["message"].startswith(
        'ConfigMap "a\\"b\\u200b\\v" is invalid: metadata.name: Invalid value: "a\\"b\\u200b\\v": a lowercase RFC 1123'
    )
