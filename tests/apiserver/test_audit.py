"""The audit log: what a policy tells of which requests (after apiserver's audit and policy tests)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, NAMESPACES, PODS, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.audit import AuditPolicy, AuditPolicyError, load_policy
from engine.apiserver.audit.policy import Level
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.request_info import RequestInfo
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN, config_map

# -- which rule matches

TOM = UserInfo("tim@k8s.io", groups=("humans", "developers"))
PODS_OF_DEFAULT = RequestInfo(True, "/api/v1/namespaces/default/pods/busybox", "get", "", "v1", "default", "pods")
LOG = PODS_OF_DEFAULT._replace(subresource="log", name="busybox")
ROLES = RequestInfo(
    True, "/apis/rbac/v1/clusterroles/edit", "get", "rbac.authorization.k8s.io", "v1", "", "clusterroles"
)
LOGS = RequestInfo(False, "/logs/kubelet.log", "get")
RULES: dict[str, tuple[Object, list[RequestInfo], list[RequestInfo]]] = {
    "all": ({}, [PODS_OF_DEFAULT, LOG, ROLES, LOGS], []),
    "a user": ({"users": ["tim@k8s.io"]}, [PODS_OF_DEFAULT, LOGS], []),
    "another user": ({"users": ["system:kube-controller-manager"]}, [], [PODS_OF_DEFAULT, LOGS]),
    "a group": ({"userGroups": ["developers"]}, [PODS_OF_DEFAULT, LOGS], []),
    "verbs": ({"verbs": ["get"]}, [PODS_OF_DEFAULT, LOGS], []),
    "other verbs": ({"verbs": ["create"]}, [], [PODS_OF_DEFAULT, LOGS]),
    "a namespace": ({"namespaces": ["default"]}, [PODS_OF_DEFAULT], [ROLES, LOGS]),
    "no namespace": ({"namespaces": [""]}, [ROLES], [PODS_OF_DEFAULT, LOGS]),
    "a group of resources": ({"resources": [{"group": ""}]}, [PODS_OF_DEFAULT, LOG], [ROLES, LOGS]),
    "a resource": ({"resources": [{"resources": ["pods"]}]}, [PODS_OF_DEFAULT], [LOG, ROLES, LOGS]),
    "a subresource": ({"resources": [{"resources": ["pods/log"]}]}, [LOG], [PODS_OF_DEFAULT, ROLES]),
    "all of a resource": ({"resources": [{"resources": ["pods/*"]}]}, [LOG, PODS_OF_DEFAULT], [ROLES]),
    "a subresource of all": ({"resources": [{"resources": ["*/log"]}]}, [LOG], [PODS_OF_DEFAULT]),
    "every resource": ({"resources": [{"resources": ["*"]}]}, [LOG, PODS_OF_DEFAULT], [ROLES]),
    "a name": ({"resources": [{"resources": ["pods/log"], "resourceNames": ["busybox"]}]}, [LOG], [PODS_OF_DEFAULT]),
    "a path": ({"nonResourceURLs": ["/logs*"]}, [LOGS], [PODS_OF_DEFAULT]),
    "another path": ({"nonResourceURLs": ["/metrics"]}, [], [LOGS]),
    "every path": ({"nonResourceURLs": ["*"]}, [LOGS], [PODS_OF_DEFAULT, ROLES]),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_a_rule_matches(name: str) -> None:
    rule, told, untold = RULES[name]
    policy = AuditPolicy({"rules": [{"level": "Request", **rule}]})
    assert [policy.evaluate(TOM, info).level for info in told] == [Level.REQUEST] * len(told)
    assert [policy.evaluate(TOM, info).level for info in untold] == [Level.NONE] * len(untold)


def test_the_first_rule_decides_and_stages_add_up() -> None:
    rules = [
        {"level": "None", "verbs": ["watch"]},
        {"level": "Metadata", "omitStages": ["ResponseStarted"], "omitManagedFields": False},
        {"level": "Request"},
    ]
    told = AuditPolicy({"omitStages": ["RequestReceived"], "omitManagedFields": True, "rules": rules}).evaluate(
        TOM, PODS_OF_DEFAULT
    )
    assert told == (Level.METADATA, frozenset(("RequestReceived", "ResponseStarted")), False)


INVALID: dict[str, tuple[Object, str]] = {
    "no level": ({}, "rules[0].level: Required value"),
    "a level that there is not": (
        {"level": "Everything"},
        'rules[0].level: Unsupported value: "Everything": supported values: "None", "Metadata", "Request", '
        '"RequestResponse"',
    ),
    "both resources and paths": (
        {"level": "Metadata", "resources": [{}], "nonResourceURLs": ["/logs*"]},
        'rules[0].nonResourceURLs: Invalid value: ["/logs*"]: rules cannot apply to both regular resources and '
        "non-resource URLs",
    ),
    "a path without its slash": (
        {"level": "Metadata", "nonResourceURLs": ["logs*"]},
        "rules[0].nonResourceURLs[0]: Invalid value: \"logs*\": non-resource URL rules must begin with a '/' character",
    ),
    "a star in the middle": (
        {"level": "Metadata", "nonResourceURLs": ["/logs*.log"]},
        "rules[0].nonResourceURLs[0]: Invalid value: \"/logs*.log\": non-resource URL wildcards '*' must be the final "
        "character of the rule",
    ),
    "names without resources": (
        {"level": "Metadata", "resources": [{"resourceNames": ["leader"]}]},
        'rules[0].resources.resourceNames: Invalid value: ["leader"]: using resourceNames requires at least one '
        "resource",
    ),
    "a stage that there is not": (
        {"level": "Metadata", "omitStages": ["foo"]},
        'rules[0].omitStages[0]: Invalid value: "foo": allowed stages are '
        "RequestReceived,ResponseStarted,ResponseComplete,Panic",
    ),
}  # fmt: skip


def written(folder: Path, **policy: Any) -> Path:
    file = folder / "policy.yaml"
    file.write_text(yaml.safe_dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", **policy}))
    return file


@pytest.mark.parametrize("name", INVALID)
def test_a_policy_is_refused(name: str, tmp_path: Path) -> None:
    rule, text = INVALID[name]
    with pytest.raises(AuditPolicyError) as refused:
        load_policy(written(tmp_path, rules=[rule]))
    assert text in str(refused.value)


def test_a_server_does_not_start_with_no_rules_or_no_policy(tmp_path: Path) -> None:
    empty = written(tmp_path)
    with pytest.raises(UsageError, match=f"--audit-policy-file: loaded illegal policy with 0 rules: from file {empty}"):
        configure(UpOptions(audit_policy_file=str(empty)))
    with pytest.raises(UsageError, match="failed to read file path"):
        configure(UpOptions(audit_policy_file=str(tmp_path / "none")))
    with pytest.raises(UsageError, match="nothing is told without a policy"):
        configure(UpOptions(audit_log_path="-"))


# -- what is told


class Audited:
    """A server whose log can be read."""

    def __init__(self, server: ApiServer, log: Path) -> None:
        self.server = server
        self._log = log

    def client(self, name: str, *groups: str) -> Client:
        return Client(InProcessTransport(self.server, ClientCertificate(name, groups)), user_agent="test/1.0")

    async def stop(self) -> list[Object]:
        """All that was told."""
        await self.server.stop()
        return [json.loads(line) for line in self._log.read_text().splitlines()]


@pytest.fixture
async def audited(world: World, store_of_one: SqliteStore, tmp_path: Path) -> AsyncIterator[Audited]:
    policy = written(
        tmp_path,
        omitManagedFields=True,
        rules=[
            {"level": "None", "users": ["system:apiserver"]},
            {"level": "RequestResponse", "resources": [{"resources": ["configmaps"]}]},
            {"level": "Request", "resources": [{"resources": ["pods"]}], "omitStages": ["RequestReceived"]},
            {"level": "Metadata", "omitStages": ["RequestReceived"]},
        ],
    )
    log = tmp_path / "audit.log"
    server = ApiServer(world, store_of_one, config=ClusterConfig(audit_policy_file=policy, audit_log_path=str(log)))
    await server.start()
    yield Audited(server, log)
    await server.stop()


@pytest.fixture
async def store_of_one(world: World) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(None, clock=world.clock)
    yield store
    await store.close()


async def test_a_create_is_told_with_what_came_and_went(audited: Audited) -> None:
    client = audited.client(*("jane", *ADMIN.organizations))
    response = await client.send(
        "POST", "/api/v1/namespaces/default/configmaps", body=config_map("a", x="y"), query={"fieldManager": ["me"]}
    )
    received, complete = await audited.stop()
    assert received["stage"] == "RequestReceived"
    assert "responseStatus" not in received
    assert received["stageTimestamp"] == received["requestReceivedTimestamp"]
    assert list(complete) == [
        "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "sourceIPs", "userAgent",
        "objectRef", "responseStatus", "requestObject", "responseObject", "requestReceivedTimestamp", "stageTimestamp",
        "annotations",
    ]  # fmt: skip
    assert (complete["kind"], complete["apiVersion"]) == ("Event", "audit.k8s.io/v1")
    assert complete["auditID"] == response.headers["audit-id"]
    assert (complete["level"], complete["stage"], complete["verb"]) == (
        "RequestResponse", "ResponseComplete", "create",
    )  # fmt: skip
    assert complete["requestURI"] == "/api/v1/namespaces/default/configmaps?fieldManager=me"
    assert complete["user"] == {"username": "jane", "groups": ["system:masters", "system:authenticated"]}
    assert complete["sourceIPs"] == ["127.0.0.1"]
    assert complete["userAgent"] == "test/1.0"
    assert complete["objectRef"] == {
        "resource": "configmaps", "namespace": "default", "apiVersion": "v1", "name": "a",
    }  # fmt: skip
    assert complete["responseStatus"] == {"metadata": {}, "code": 201}
    assert complete["requestObject"]["data"] == {"x": "y"}
    assert complete["responseObject"]["metadata"]["uid"]
    assert "managedFields" not in complete["responseObject"]["metadata"]
    assert complete["annotations"] == {
        "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "",
    }  # fmt: skip


async def test_a_failure_is_told_with_its_status(audited: Audited) -> None:
    client = audited.client(*("jane", *ADMIN.organizations))
    with pytest.raises(ApiError):
        await client.get(PODS, "none", namespace="default")
    with pytest.raises(ApiError):
        await audited.client("jack").list(PODS)
    missing, refused = await audited.stop()
    assert missing["responseStatus"] == {
        "metadata": {}, "status": "Failure", "message": 'pods "none" not found', "reason": "NotFound",
        "details": {"name": "none", "kind": "pods"}, "code": 404,
    }  # fmt: skip
    assert "responseObject" not in missing
    assert refused["responseStatus"]["code"] == 403
    assert refused["annotations"]["authorization.k8s.io/decision"] == "forbid"


async def test_metadata_alone_tells_nothing_of_the_objects(audited: Audited) -> None:
    client = audited.client(*("jane", *ADMIN.organizations))
    await client.create(NAMESPACES, {"metadata": {"name": "mine"}})
    (event,) = await audited.stop()
    assert event["level"] == "Metadata"
    assert event["objectRef"] == {"resource": "namespaces", "apiVersion": "v1", "name": "mine"}
    assert not {"requestObject", "responseObject"} & event.keys()


async def test_a_watch_is_told_when_it_begins_and_when_it_ends(audited: Audited) -> None:
    client = audited.client(*("jane", *ADMIN.organizations))
    watch = await client.send("GET", "/api/v1/pods", query={"watch": ["true"]})
    assert watch.events is not None
    await watch.events.aclose()
    events = await audited.stop()
    assert [(event["verb"], event["stage"]) for event in events] == [
        ("watch", "ResponseStarted"), ("watch", "ResponseComplete"),
    ]  # fmt: skip


async def test_who_acts_as_another_is_told_of_with_both(audited: Audited) -> None:
    client = audited.client(*("jane", *ADMIN.organizations))
    await client.send("GET", "/version", headers={"impersonate-user": "jack"})
    (event,) = await audited.stop()
    assert event["user"]["username"] == "jane"
    assert event["impersonatedUser"] == {"username": "jack", "groups": ["system:authenticated"]}
    assert event["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}
    assert "objectRef" not in event


async def test_a_patch_and_a_delete_are_told_with_what_they_carry(audited: Audited) -> None:
    client = audited.client(*("jane", *ADMIN.organizations))
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    path = "/api/v1/namespaces/default/configmaps/a"
    patch = {"data": {"x": "y"}}
    await client.send("PATCH", path, body=patch, headers={"content-type": "application/merge-patch+json"})
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
    await client.send("DELETE", path, body=options)
    events = {event["verb"]: event for event in await audited.stop() if event["stage"] == "ResponseComplete"}
    assert events["patch"]["requestObject"] == patch
    assert events["delete"]["requestObject"] == options
    assert events["delete"]["responseStatus"]["status"] == "Success"


async def test_what_was_told_is_counted(audited: Audited, client: Client) -> None:
    """TestGetAuditEventsFromCounters and metrics of a server that audits nothing."""

    async def figures(of: Client) -> dict[str, float]:
        lines = (await of.send("GET", "/metrics")).body.decode().splitlines()
        told = [line.rpartition(" ") for line in lines if line.startswith("apiserver_audit_")]
        return {name: float(value) for name, _, value in told}

    jane = audited.client("jane", *ADMIN.organizations)
    before = await figures(jane)
    await jane.create(CONFIGMAPS, config_map("a"), namespace="default")  # begun and ended
    await jane.list(PODS, namespace="default")  # ended
    after = await figures(jane)
    # With them the first page's end, and the second page's level.
    assert after["apiserver_audit_event_total"] - before["apiserver_audit_event_total"] == 4
    for level in ("RequestResponse", "Request", "Metadata"):
        name = f'apiserver_audit_level_total{{level="{level}"}}'
        assert after[name] - before.get(name, 0) == 1, level
    assert after['apiserver_audit_level_total{level="None"}'] > 0
    assert await figures(client) == {"apiserver_audit_event_total": 0, "apiserver_audit_requests_rejected_total": 0}
