"""What the filters of the chain say in the headers of an answer: the audit id, and the flow of the request."""

from __future__ import annotations

import pytest

from engine.api.types import GVR
from engine.client import Client
from tests.apiserver.conftest import ClientFor

GROUP = "flowcontrol.apiserver.k8s.io"
SCHEMAS = GVR(GROUP, "v1", "flowschemas")
LEVELS = GVR(GROUP, "v1", "prioritylevelconfigurations")
NODES_GROUP, MASTERS = "system:nodes", "system:masters"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"

# Who asks for what -> the FlowSchema and the priority level of the request.
FLOWS: dict[str, tuple[tuple[str, ...], str, tuple[str, str]]] = {
    "a master": (("jane", MASTERS), "/api/v1/pods", ("exempt", "exempt")),
    "a probe of anybody": (("jane",), "/readyz", ("probes", "exempt")),
    "a single check": (("jane",), "/livez/ping", ("probes", "exempt")),
    "a person": (("jane",), "/api/v1/pods", ("global-default", "global-default")),
    "a path": (("jane",), "/version", ("global-default", "global-default")),
    "a node's own object": (
        ("system:node:a", NODES_GROUP), "/api/v1/nodes/a", ("system-node-high", "node-high"),
    ),
    "a node's lease": (
        ("system:node:a", NODES_GROUP), _LEASES.format("kube-node-lease"), ("system-node-high", "node-high"),
    ),
    "a node's Pods": (("system:node:a", NODES_GROUP), "/api/v1/pods", ("system-nodes", "system")),
    "the leader's lease": (
        ("system:kube-scheduler",), _LEASES.format("kube-system") + "/kube-scheduler",
        ("system-leader-election", "leader-election"),
    ),
    "the scheduler": (("system:kube-scheduler",), "/api/v1/pods", ("kube-scheduler", "workload-high")),
    "an account of kube-system": (
        ("system:serviceaccount:kube-system:a", "system:serviceaccounts"), "/api/v1/pods",
        ("kube-system-service-accounts", "workload-high"),
    ),
    "another account": (
        ("system:serviceaccount:default:a", "system:serviceaccounts"), "/api/v1/pods",
        ("service-accounts", "workload-low"),
    ),
    "a namespace that begins alike": (
        ("system:serviceaccount:kube-system-2:a", "system:serviceaccounts"), "/api/v1/pods",
        ("service-accounts", "workload-low"),
    ),
    "an elector of its own": (
        ("system:serviceaccount:kube-system:a", "system:serviceaccounts"), _LEASES.format("kube-system") + "/mine",
        ("system-leader-election", "leader-election"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOWS)
async def test_an_answer_names_its_flow(name: str, client: Client, client_for: ClientFor) -> None:
    (user, *groups), path, (schema, level) = FLOWS[name]
    # A person's certificate is not that of a component of this process, whatever it says.
    answer = await client.send("GET", path, headers={"impersonate-user": user, "impersonate-group": "\n".join(groups)})
    found = await client.get(SCHEMAS, schema), await client.get(LEVELS, level)
    assert answer.headers["x-kubernetes-pf-flowschema-uid"] == found[0]["metadata"]["uid"]
    assert answer.headers["x-kubernetes-pf-prioritylevel-uid"] == found[1]["metadata"]["uid"]


async def test_a_schema_of_ones_own_goes_first_if_it_says_so(client: Client) -> None:
    rule = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["default"]}
    subject = {"kind": "User", "user": {"name": "jane"}}
    spec = {
        "priorityLevelConfiguration": {"name": "workload-low"},
        "matchingPrecedence": 50,
        "rules": [{"subjects": [subject], "resourceRules": [rule]}],
    }
    made = await client.create(SCHEMAS, {"metadata": {"name": "mine"}, "spec": spec})
    jane = {"impersonate-user": "jane"}
    for path, expected in (("/api/v1/namespaces/default/pods", True), ("/api/v1/pods", False)):
        answer = await client.send("GET", path, headers=jane)
        assert (answer.headers["x-kubernetes-pf-flowschema-uid"] == made["metadata"]["uid"]) is expected
    await client.delete(SCHEMAS, "mine")
    answer = await client.send("GET", "/api/v1/namespaces/default/pods", headers=jane)
    assert answer.headers["x-kubernetes-pf-flowschema-uid"] != made["metadata"]["uid"]


async def test_who_is_refused_has_a_flow_and_who_is_unknown_has_none(client: Client, client_for: ClientFor) -> None:
    refused = await client_for("jane").send("GET", "/api/v1/pods")
    assert refused.status == 403
    assert "x-kubernetes-pf-flowschema-uid" in refused.headers
    unknown = await client_for("").send("GET", "/api/v1/pods", headers={"authorization": "Bearer x"})
    assert unknown.status == 401
    assert "x-kubernetes-pf-flowschema-uid" not in unknown.headers


async def test_streams_of_a_pod_have_no_flow_but_watches_do(client: Client) -> None:
    log = await client.send("GET", "/api/v1/namespaces/default/pods/none/log")
    assert "x-kubernetes-pf-flowschema-uid" not in log.headers
    watch = await client.send("GET", "/api/v1/pods", query={"watch": ["1"]})
    assert "x-kubernetes-pf-flowschema-uid" in watch.headers
    assert watch.events is not None
    await watch.events.aclose()


async def test_an_answer_has_the_audit_id_that_its_request_asks_for(client: Client) -> None:
    first, second = [await client.send("GET", "/version") for _ in range(2)]
    assert first.headers["audit-id"] != second.headers["audit-id"]
    assert len(first.headers["audit-id"]) == 36
    asked = await client.send("GET", "/version", headers={"audit-id": "mine"})
    assert asked.headers["audit-id"] == "mine"
