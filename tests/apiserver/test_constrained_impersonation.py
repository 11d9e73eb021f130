"""Acting as others for some requests alone (apiserver filters/impersonation, constrained_impersonation_test.go)."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.authentication.constrained_impersonation import Impersonation
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.authorization import Attributes, UnionAuthorizer, Verdict
from engine.apiserver.authorization.attributes import Decision
from engine.apiserver.request_info import RequestInfo
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.pki import ADMIN
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ClientFor

RBAC = "rbac.authorization.k8s.io"
LIST_PODS = RequestInfo(True, "/api/v1/namespaces/n/pods", "list", "", "v1", "n", "pods")
AGENT = UserInfo("system:serviceaccount:n:agent", extra=(("authentication.kubernetes.io/node-name", ("n1",)),))
JANE, ON_N1 = UserInfo("jane"), UserInfo("system:node:n1")


class Grants:
    """Allows what is written down, and keeps what it was asked."""

    name = "grants"

    def __init__(self, *grants: str) -> None:
        self.grants = frozenset(grants)
        self.asked: list[str] = []
        self.extra: set[str] = set()

    async def authorize(self, attributes: Attributes) -> Decision:
        what = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
        self.asked.append(f"{attributes.verb} {what} {attributes.namespace}:{attributes.name}")
        self.extra |= {key for key, _ in attributes.user.extra}
        return Decision(Verdict.ALLOW if self.asked[-1] in self.grants else Verdict.NO_OPINION)


def on(mode: str) -> str:
    return f"impersonate-on:{mode}:list pods n:"


ALLOWED: dict[str, tuple[UserInfo, UserInfo, tuple[str, ...], str, tuple[str, ...]]] = {
    "a user": (
        JANE, UserInfo("bob", "7", ("dev",), (("acme.io/a", ("1",)),)),
        (on("user-info"), "impersonate:user-info users :bob", "impersonate:user-info uids :7",
         "impersonate:user-info groups :dev", "impersonate:user-info userextras/acme.io/a :1"),
        "impersonate:user-info", ("dev", "system:authenticated"),
    ),
    "many groups": (
        JANE, UserInfo("bob", groups=("a", "b", "c", "d")),
        (on("user-info"), "impersonate:user-info users :bob", "impersonate:user-info groups :*"),
        "impersonate:user-info", ("a", "b", "c", "d", "system:authenticated"),
    ),
    "an account": (
        JANE, UserInfo("system:serviceaccount:n:a"),
        (on("serviceaccount"), "impersonate:serviceaccount serviceaccounts n:a"),
        "impersonate:serviceaccount", ("system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"),
    ),
    "a node": (
        JANE, ON_N1, (on("arbitrary-node"), "impersonate:arbitrary-node nodes :n1"),
        "impersonate:arbitrary-node", ("system:nodes", "system:authenticated"),
    ),
    "the node it runs on": (
        AGENT, ON_N1, (on("associated-node"), "impersonate:associated-node nodes :*"),
        "impersonate:associated-node", ("system:nodes", "system:authenticated"),
    ),
    "in the old way": (JANE, UserInfo("bob"), ("impersonate users :bob",), "", ("system:authenticated",)),
    "masters in the old way": (
        JANE, UserInfo("bob", groups=("system:masters",)),
        (on("user-info"), "impersonate:user-info users :bob", "impersonate users :bob",
         "impersonate groups :system:masters"),
        "", ("system:masters", "system:authenticated"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALLOWED)
async def test_who_may_be_acted_as(name: str) -> None:
    actor, wanted, grants, constraint, groups = ALLOWED[name]
    found, verb = await Impersonation(UnionAuthorizer([Grants(*grants)]), constrained=True).user(
        actor, wanted, LIST_PODS
    )
    assert (verb, found.name, found.groups) == (constraint, wanted.name, groups)


REFUSED: dict[str, tuple[UserInfo, UserInfo, tuple[str, ...], str]] = {
    "without any right": (JANE, UserInfo("bob"), (), 'cannot impersonate-on:user-info:list resource "pods"'),
    "for nothing": (JANE, UserInfo("bob"), (on("user-info"),), 'cannot impersonate:user-info resource "users"'),
    "no group of it": (
        JANE, UserInfo("bob", groups=("dev",)), (on("user-info"), "impersonate:user-info users :bob"),
        'cannot impersonate:user-info resource "groups"',
    ),
    "an account with groups": (
        JANE, UserInfo("system:serviceaccount:n:a", groups=("dev",)),
        (on("serviceaccount"), "impersonate:serviceaccount serviceaccounts n:a"),
        'cannot impersonate resource "serviceaccounts"',
    ),
    "a node that it does not run on": (
        AGENT, UserInfo("system:node:n2"), (on("associated-node"), "impersonate:associated-node nodes :*"),
        "cannot impersonate-on:arbitrary-node:list",
    ),
    "masters": (
        JANE, UserInfo("bob", groups=("system:masters",)), (on("user-info"), "impersonate:user-info users :bob"),
        "impersonating the system:masters group is not allowed",
    ),
    "a key that is none": (
        JANE, UserInfo("bob", extra=(("a", ("1",)),)), (on("user-info"), "impersonate:user-info users :bob"),
        'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "a": must be a '
        'domain-prefixed path (such as "acme.io/foo")',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_who_may_not_be_acted_as(name: str) -> None:
    actor, wanted, grants, why = REFUSED[name]
    with pytest.raises(ApiError) as refused:
        await Impersonation(UnionAuthorizer([Grants(*grants)]), constrained=True).user(actor, wanted, LIST_PODS)
    assert refused.value.code == 403
    assert why in refused.value.message


@pytest.mark.parametrize("constrained", [True, False])
async def test_a_name_that_only_begins_like_an_account_is_a_user(constrained: bool) -> None:
    """(SplitUsername) Nor has it the groups of accounts."""
    for name in ("n", "n:a:b", "n:", ":a", "N:a", "n:a_b"):
        wanted = UserInfo(f"system:serviceaccount:{name}")
        grants = Grants(f"impersonate users :{wanted.name}")
        found, _ = await Impersonation(UnionAuthorizer([grants]), constrained=constrained).user(JANE, wanted, LIST_PODS)
        assert found.groups == ("system:authenticated",), name


async def test_the_old_way_asks_for_the_uid_last_before_there_were_modes() -> None:
    account = UserInfo("system:serviceaccount:n:a", "7", ("dev",), (("a", ("1",)),))
    name, uid, group, extra = (
        f"impersonate {what}" for what in ("serviceaccounts n:a", "uids :7", "groups :dev", "userextras/a :1")
    )
    for constrained, order in ((True, [name, uid, group, extra]), (False, [name, group, extra, uid])):
        grants = Grants(*order)
        await Impersonation(UnionAuthorizer([grants]), constrained=constrained).user(JANE, account, LIST_PODS)
        assert grants.asked == order


async def test_the_way_that_worked_is_tried_first() -> None:
    grants = Grants("impersonate users :bob")
    impersonation = Impersonation(UnionAuthorizer([grants]), constrained=True)
    for _ in range(2):
        await impersonation.user(JANE, UserInfo("bob"), LIST_PODS)
    assert grants.asked == [on("user-info"), "impersonate users :bob", "impersonate users :bob"]


async def test_an_agent_is_judged_alike_on_all_of_its_nodes() -> None:
    grants = Grants(on("associated-node"), "impersonate:associated-node nodes :*")
    await Impersonation(UnionAuthorizer([grants]), constrained=True).user(AGENT, ON_N1, LIST_PODS)
    assert grants.extra == {"authentication.kubernetes.io/associated-node-keys"}


async def test_a_user_with_two_roles_acts_as_another(client: Client, client_for: ClientFor) -> None:
    rules: list[Object] = [
        {"apiGroups": ["authentication.k8s.io"], "resources": ["users"], "verbs": ["impersonate:user-info"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "impersonate-on:user-info:list"]},
    ]
    await client.create(GVR(RBAC, "v1", "clusterroles"), {"metadata": {"name": "r"}, "rules": rules})
    subjects = [{"apiGroup": RBAC, "kind": "User", "name": name} for name in ("jane", "bob")]
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "r"}
    binding = {"metadata": {"name": "r"}, "roleRef": role, "subjects": subjects}
    await client.create(GVR(RBAC, "v1", "clusterrolebindings"), binding)
    headers = {"impersonate-user": "bob"}
    assert (await client_for("jane").send("GET", "/api/v1/pods", headers=headers)).status == 200
    refused = await client_for("jane").send("GET", "/api/v1/nodes", headers=headers)
    assert refused.body["message"] == (
        'nodes is forbidden: User "jane" cannot impersonate-on:user-info:list resource "nodes" in API group "" at the '
        "cluster scope"
    )


async def test_metrics_tell_of_attempts_by_their_modes(client: Client, client_for: ClientFor) -> None:
    assert (await client.send("GET", "/api/v1/pods", headers={"impersonate-user": "bob"})).status == 403
    assert (await client_for("jane").send("GET", "/api/v1/pods", headers={"impersonate-user": "bob"})).status == 403
    text = (await client.send("GET", "/metrics")).body.decode()
    for name, labels in (
        ("attempts_total", 'decision="allowed",mode="user-info"'),
        ("attempts_total", 'decision="denied",mode=""'),
        ("attempts_duration_seconds_count", 'decision="allowed",mode="user-info"'),
        ("authorization_attempts_total", 'decision="denied",mode="legacy"'),
    ):
        assert f"apiserver_impersonation_{name}{{{labels}}} 1" in text, (name, labels)
    assert 'apiserver_impersonation_authorization_attempts_total{decision="allowed",mode="user-info"} 2' in text


async def test_a_group_needs_a_user(client: Client) -> None:
    refused = await client.send("GET", "/api/v1/pods", headers={"impersonate-group": "dev"})
    assert (refused.status, refused.body["message"]) == (
        400,
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)} without '
        "impersonating a user name",
    )


async def test_releases_before_1_36_know_the_old_way_alone(world: World, store: SqliteStore) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version="1.35"))
    await server.start()
    jane = Client(InProcessTransport(server, ClientCertificate("jane", ())), user_agent="test")
    admin = Client(InProcessTransport(server, ADMIN), user_agent="test")
    refused = await jane.send("GET", "/api/v1/pods", headers={"impersonate-user": "bob"})
    assert 'cannot impersonate resource "users"' in refused.body["message"]
    headers = {"impersonate-group": "dev", "impersonate-uid": "7", "impersonate-extra-a": "1"}
    answer = await admin.send("GET", "/api/v1/pods", headers=headers)
    assert (answer.status, answer.body) == (
        500,
        b'Internal Server Error: "/api/v1/pods": requested [{Group  dev    } '
        b"{UserExtra  1  authentication.k8s.io/v1  a} {UID  7  authentication.k8s.io/v1  }] without impersonating a "
        b"user\n",
    )
    await server.stop()
