"""`--admission-control-config-file`: what holds by default, who is exempt, how many events are too many (upstream's
tests of pod-security-admission admission and api/validation, and of plugin/pkg/admission/eventratelimit)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.api.errors import ApiError
from engine.api.types import NAMESPACES, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN, account, pod

STANDARDS = "pod-security.admission.config.k8s.io/v1"
LIMITS = "eventratelimit.admission.k8s.io/v1alpha1"


def written(folder: Path, plugin: str, version: str, kind: str, **part: Any) -> Path:
    """A file with one plugin's configuration."""
    plugins = [{"name": plugin, "configuration": {"apiVersion": version, "kind": kind, **part}}]
    whole = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}
    file = folder / "admission.yaml"
    file.write_text(yaml.safe_dump(whole))
    return file


def standards(folder: Path, **part: Any) -> Path:
    return written(folder, "PodSecurity", STANDARDS, "PodSecurityConfiguration", **part)


def limits(folder: Path, *limits: Object) -> Path:
    return written(folder, "EventRateLimit", LIMITS, "Configuration", limits=list(limits))


@asynccontextmanager
async def served(world: World, store: SqliteStore, file: Path, *enabled: str) -> AsyncIterator[ApiServer]:
    config = ClusterConfig(admission_control_config_file=file, enable_admission_plugins=enabled)
    server = ApiServer(world, store, config=config)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def client(server: ApiServer, certificate: ClientCertificate = ADMIN) -> Client:
    return Client(InProcessTransport(server, certificate), user_agent="test")


async def warning(server: ApiServer, path: str, patch: Object) -> str:
    headers = {"content-type": "application/merge-patch+json"}
    response = await server.handle(Request("PATCH", path, {}, headers, patch, certificate=ADMIN))
    assert response.status == 200, response.body
    return response.headers.get("warning", "")


async def test_pod_security(world: World, store: SqliteStore, tmp_path: Path) -> None:
    exempt = {"namespaces": ["free"], "usernames": ["carol"], "runtimeClasses": ["sandboxed"]}
    file = standards(tmp_path, defaults={"enforce": "baseline", "warn": "restricted"}, exemptions=exempt)
    async with served(world, store, file) as server:
        admin, carol = client(server), client(server, ClientCertificate("carol", ("system:masters",)))
        for name in ("free", "own"):
            labels = {"pod-security.kubernetes.io/enforce": "privileged"} if name == "own" else {}
            await admin.create(NAMESPACES, {"metadata": {"name": name, "labels": labels}})
        for namespace in ("default", "free", "own"):
            await admin.create(SERVICE_ACCOUNTS, account("default"), namespace=namespace)

        def host(name: str, **spec: Any) -> Object:
            made = pod(name)
            return {**made, "spec": {**made["spec"], "hostNetwork": True, **spec}}

        with pytest.raises(ApiError) as refused:
            await admin.create(PODS, host("a"), namespace="default")
        assert 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)' in refused.value.message
        await carol.create(PODS, host("b"), namespace="default")
        await admin.create(PODS, host("c"), namespace="free")
        await admin.create(PODS, host("d"), namespace="own")

        patch = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
        told = await warning(server, "/api/v1/namespaces/free", patch)
        assert "is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored" in told
        page = (await admin.send("GET", "/metrics")).body.decode()
        assert 'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 2' in page


# What the cluster says, what the namespace says (None for nothing), what it may; the Pod's own, and what it gets.
SELECTORS: dict[str, tuple[str, str | None, str, dict[str, str], dict[str, str] | str]] = {
    "the cluster's": ("infra = false", None, "", {}, {"infra": "false"}),
    "the namespace's": ("infra = false", "infra=true", "", {"env": "test"}, {"infra": "true", "env": "test"}),
    "the namespace's, of none": ("infra = false", "", "", {}, {}),
    "of its own that is another": ("infra = false", None, "", {"infra": "true"}, "conflicts with its namespace node "
                                   "label selector"),
    "permitted": ("", "infra=false, env = dev", "env=dev, infra=false, color=blue", {"env": "dev", "color": "blue"},
                  {"infra": "false", "env": "dev", "color": "blue"}),
    "not permitted": ("", "infra=false", "infra=true, color=blue", {"color": "blue"}, "labels conflict with its "
                      "namespace whitelist"),
    "the cluster's, not permitted": ("env=dev", None, "env=prd", {}, "labels conflict with its namespace whitelist"),
}  # fmt: skip


@pytest.mark.parametrize("row", SELECTORS)
async def test_node_selectors_of_the_cluster(world: World, store: SqliteStore, tmp_path: Path, row: str) -> None:
    """podnodeselector admission_test.go TestPodAdmission."""
    cluster, annotation, permitted, own, wanted = SELECTORS[row]
    selectors = {"clusterDefaultNodeSelector": cluster, "default": permitted}
    file = written(tmp_path, "PodNodeSelector", "", "", podNodeSelectorPluginConfig=selectors)
    async with served(world, store, file, "PodNodeSelector") as server:
        admin = client(server)
        await admin.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
        if annotation is not None:
            await annotate(admin, "node-selector", annotation)
        creating = admin.create(PODS, pod(nodeSelector=own), namespace="default")
        if isinstance(wanted, dict):
            assert (await creating)["spec"].get("nodeSelector", {}) == wanted
        else:
            with pytest.raises(ApiError) as refused:
                await creating
            assert refused.value.message == f'pods "web" is forbidden: pod node label selector {wanted}'


async def annotate(admin: Client, key: str, value: str) -> None:
    annotations = {f"scheduler.alpha.kubernetes.io/{key}": value}
    await admin.patch(NAMESPACES, "default", {"metadata": {"annotations": annotations}})


TOLERATIONS = "podtolerationrestriction.admission.k8s.io/v1alpha1"


async def test_tolerations_of_the_cluster(world: World, store: SqliteStore, tmp_path: Path) -> None:
    """podtolerationrestriction admission_test.go: what a namespace says, also that it is none, counts first."""
    one, two = ({"key": "key", "operator": "Equal", "value": v, "effect": "NoSchedule"} for v in ("one", "two"))
    said = {"default": [one], "whitelist": [one]}
    file = written(tmp_path, "PodTolerationRestriction", TOLERATIONS, "Configuration", **said)
    config = ClusterConfig(
        admission_control_config_file=file,
        enable_admission_plugins=("PodTolerationRestriction",),
        disable_admission_plugins=("DefaultTolerationSeconds",),
    )
    server = ApiServer(world, store, config=config)
    await server.start()
    admin = client(server)
    await admin.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    assert (await admin.create(PODS, pod("a"), namespace="default"))["spec"]["tolerations"] == [one]
    with pytest.raises(ApiError, match="conflict with its cluster whitelist"):
        await admin.create(PODS, pod("b", tolerations=[two]), namespace="default")
    await annotate(admin, "defaultTolerations", "")
    assert "tolerations" not in (await admin.create(PODS, pod("c"), namespace="default"))["spec"]
    await annotate(admin, "tolerationsWhitelist", "")
    made = await admin.create(PODS, pod("d", tolerations=[two]), namespace="default")
    assert made["spec"]["tolerations"] == [two]
    await server.stop()


EVENT = {"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}


def event(number: int, host: str = "n1") -> Object:
    return {**EVENT, "metadata": {"name": f"e{number}"}, "source": {"component": "kubelet", "host": host}}


async def test_too_many_events(world: World, store: SqliteStore, tmp_path: Path) -> None:
    file = limits(
        tmp_path,
        {"type": "Server", "qps": 1, "burst": 3},
        {"type": "SourceAndObject", "qps": 1, "burst": 2, "cacheSize": 1},
    )
    async with served(world, store, file, "EventRateLimit") as server:
        admin = client(server)

        async def tell(number: int, host: str = "n1") -> str:
            response = await admin.send("POST", "/api/v1/namespaces/default/events", body=event(number, host))
            assert (response.status, response.body.get("code", 201)) in ((201, 201), (429, 429))
            return str(response.body.get("message", ""))

        assert [await tell(1), await tell(2)] == ["", ""]
        assert await tell(3) == (
            "Too many requests: limit reached on type SourceAndObject for key kubeletn1Poddefaultp"
        )
        assert await tell(4) == (
            "Too many requests: [limit reached on type Server for key , limit reached on type SourceAndObject for key "
            "kubeletn1Poddefaultp]"
        )
        assert await tell(4, "n2") == "Too many requests: limit reached on type Server for key "
        dry = await admin.send("POST", "/api/v1/namespaces/default/events", query={"dryRun": ["All"]}, body=event(4))
        assert dry.status == 201  # nothing of it is stored
        await world.clock.sleep(10)
        assert [await tell(5), await tell(6, "n2"), await tell(7)] == ["", "", ""]


ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "level": ({"defaults": {"warn": "x"}}, 'defaults.warn: Invalid value: "x": must be one of privileged, baseline, '
              "restricted"),
    "version": ({"defaults": {"audit-version": "1"}}, 'defaults.audit-version: Invalid value: "1": must be "latest" or '
                '"v1.x"'),
    "twice": ({"exemptions": {"usernames": ["a", "a"]}}, 'exemptions.usernames[1]: Duplicate value: "a"'),
    "empty": ({"exemptions": {"usernames": [""]}}, "exemptions.usernames[0]: Required value"),
    "field": ({"defaults": {"enforced": "baseline"}}, 'strict decoding error: unknown field "defaults.enforced"'),
}  # fmt: skip


def test_what_a_server_would_not_start_with(tmp_path: Path) -> None:
    def told(file: Path, plugins: str = "") -> str:
        options = UpOptions(admission_control_config_file=str(file), enable_admission_plugins=plugins)
        with pytest.raises(UsageError) as error:
            configure(options)
        return str(error.value).removeprefix("--admission-control-config-file: ")

    for part, why in ROWS.values():
        assert told(standards(tmp_path, **part)) == f'couldn\'t init admission plugin "PodSecurity": {why}'
    tolerated = [{"key": "foo", "operator": "Exists", "value": "bar", "effect": "NoSchedule"}]
    file = written(tmp_path, "PodTolerationRestriction", TOLERATIONS, "Configuration", whitelist=tolerated)
    assert told(file) == (
        'couldn\'t init admission plugin "PodTolerationRestriction": invalid config: [podtolerationrestriction.'
        "whitelist[0].operator: Invalid value: \"bar\": value must be empty when `operator` is 'Exists']"
    )
    wrong = "limits[0].burst: Invalid value: 0: must be positive"
    file = limits(tmp_path, {"type": "User", "qps": 5})
    assert told(file) == f'couldn\'t init admission plugin "EventRateLimit": {wrong}'
    with pytest.raises(UsageError, match="limits: Invalid value: null: must not be empty"):
        configure(UpOptions(enable_admission_plugins="EventRateLimit"))
    file.write_text(file.read_text().split("plugins:")[0] + "plugins: [{name: PodSecurity, configuration: text}]")
    assert told(file) == "couldn't init admission plugin \"PodSecurity\": 'text' is no object"
    file.write_text(file.read_text().split("plugins:")[0] + "plugins: [text]")
    assert told(file) == f"{file}: plugins[0] is no object"
    assert "unable to read admission control configuration" in told(tmp_path / "none")
