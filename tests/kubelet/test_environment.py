"""What a container finds when it starts: variables, the files of its volumes, and those of its network."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from engine.api.types import CONFIGMAPS, SECRETS, SERVICES, Object
from engine.kubelet.kuberuntime.downward import resource_value
from engine.kubelet.kuberuntime.env_file import env_file_value
from engine.kubelet.kuberuntime.errors import ConfigError
from engine.kubelet.kuberuntime.network_files import hosts_file, resolv_conf
from engine.kubelet.kuberuntime.service_env import service_environment
from engine.world import World
from tests.kubelet.node import Node, running
from tests.kubelet.states import container, pod


def service(name: str, ip: str, *ports: Object, namespace: str = "test") -> Object:
    spec: Object = {"clusterIP": ip, "ports": list(ports)}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


SERVICES_OF_TESTS = [
    service("foo-bar", "1.2.3.4", {"port": 8080, "protocol": "TCP"}),
    service("abc-123", "5.6.7.8", {"name": "u-d-p", "port": 8081, "protocol": "UDP"}, {"name": "t", "port": 81}),
    service("v6", "2001:db8::1", {"port": 80}),
    service("headless", "None", {"port": 80}),
    service("none-yet", "", {"port": 80}),
    service("elsewhere", "9.9.9.9", {"port": 80}, namespace="other"),
    service("kubernetes", "10.96.0.1", {"name": "https", "port": 443}, namespace="default"),
]


def test_services_show_as_variables_in_the_form_of_dockers_links() -> None:
    env = service_environment(SERVICES_OF_TESTS, "test", links=True)

    assert {name: value for name, value in env.items() if name.startswith("FOO_BAR")} == {
        "FOO_BAR_SERVICE_HOST": "1.2.3.4",
        "FOO_BAR_SERVICE_PORT": "8080",
        "FOO_BAR_PORT": "tcp://1.2.3.4:8080",
        "FOO_BAR_PORT_8080_TCP": "tcp://1.2.3.4:8080",
        "FOO_BAR_PORT_8080_TCP_PROTO": "tcp",
        "FOO_BAR_PORT_8080_TCP_PORT": "8080",
        "FOO_BAR_PORT_8080_TCP_ADDR": "1.2.3.4",
    }
    assert env["ABC_123_SERVICE_PORT"] == env["ABC_123_SERVICE_PORT_U_D_P"] == "8081"
    assert env["ABC_123_SERVICE_PORT_T"] == "81"
    assert env["ABC_123_PORT"] == env["ABC_123_PORT_8081_UDP"] == "udp://5.6.7.8:8081"
    assert env["V6_PORT"] == "tcp://[2001:db8::1]:80"
    assert not [name for name in env if name.startswith(("HEADLESS", "NONE_YET", "ELSEWHERE"))]


def test_without_links_only_the_api_server_shows() -> None:
    env = service_environment(SERVICES_OF_TESTS, "test", links=False)

    assert {name.partition("_")[0] for name in env} == {"KUBERNETES"}
    assert env["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert env["KUBERNETES_SERVICE_PORT_HTTPS"] == "443"


LIMITED = container("foo", resources={"limits": {"cpu": "9", "memory": "10Mi"}, "requests": {"cpu": "100m"}})


@pytest.mark.parametrize(
    ("resource", "divisor", "of", "expected"),
    [
        pytest.param("limits.cpu", "", LIMITED, "9", id="cpu"),
        pytest.param("limits.cpu", "100m", LIMITED, "90", id="cpu in tenths"),
        pytest.param("requests.cpu", "1", LIMITED, "1", id="cpu rounded up"),
        pytest.param("limits.memory", "", LIMITED, "10485760", id="memory"),
        pytest.param("limits.memory", "1Mi", LIMITED, "10", id="memory in Mi"),
        pytest.param("requests.memory", "", LIMITED, "0", id="nothing requested"),
        pytest.param("limits.cpu", "1m", container("foo"), "4000", id="no limit: the node's"),
        pytest.param("limits.memory", "1Gi", container("foo"), "8", id="no limit of memory: the node's"),
    ],
)
def test_resources_of_the_downward_api(resource: str, divisor: str, of: Object, expected: str) -> None:
    reference = {"containerName": "foo", "resource": resource, "divisor": divisor}
    assert resource_value(pod(of), reference, {"cpu": "4", "memory": "8Gi"}) == expected


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        pytest.param("A='1'\nB='2'\n", "B", "2", id="the second"),
        pytest.param("# first\n\n  A='x y'\n", "A", "x y", id="comments and blanks"),
        pytest.param("A='one\ntwo'\nB='3'", "A", "one\ntwo", id="over lines"),
        pytest.param("A='1'", "B", None, id="not there"),
    ],
)
def test_variables_out_of_a_file(text: str, key: str, value: str | None) -> None:
    assert env_file_value(text, key) == value


def test_a_file_of_another_form_is_refused() -> None:
    with pytest.raises(ConfigError, match="couldn't parse env file"):
        env_file_value('A="1"\n', "A")


def of_spec(**spec: Any) -> Object:
    made = pod()
    return {**made, "spec": {**made["spec"], **spec}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {},
            "search default.svc.cluster.local svc.cluster.local cluster.local\n"
            "nameserver 10.96.0.10\noptions ndots:5\n",
            id="ClusterFirst",
        ),
        pytest.param({"dnsPolicy": "Default"}, "nameserver 172.18.0.1\n", id="Default"),
        pytest.param({"hostNetwork": True}, "nameserver 172.18.0.1\n", id="ClusterFirst on the host's network"),
        pytest.param(
            {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["a.b"],
             "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}]}},
            "search a.b\nnameserver 1.1.1.1\noptions ndots:2 edns0\n",
            id="None, with all of its own",
        ),
    ],
)  # fmt: skip
def test_resolv_conf(spec: Object, expected: str) -> None:
    assert resolv_conf(of_spec(**spec)) == expected


def test_the_hosts_file_names_the_pod_and_its_aliases() -> None:
    aliases = [{"ip": "1.2.3.4", "hostnames": ["a.local", "b.local"]}]
    text = hosts_file(of_spec(subdomain="db", hostAliases=aliases), "web", ("10.244.0.2",))

    assert text.startswith("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n")
    assert "fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\n" in text
    assert "10.244.0.2\tweb.db.default.svc.cluster.local\tweb\n" in text
    assert text.endswith("\n# Entries added by HostAliases.\n1.2.3.4\ta.local\tb.local\n")


# -- on a node


async def printed(node: Node, script: str, *, env: list[Object] | None = None, **spec: Any) -> list[str]:
    """What a container with this script has printed when it has ended."""
    one: Object = {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script], "env": env or []}
    one.update(spec.pop("container", {}))
    await node.run(containers=[one], restartPolicy="Never", **spec)
    await node.in_phase("Succeeded")
    return node.logs("web")


async def put(node: Node, kind: str, name: str, data: dict[str, str]) -> None:
    resource = CONFIGMAPS if kind == "ConfigMap" else SECRETS
    encoded = data if kind == "ConfigMap" else {key: base64.b64encode(v.encode()).decode() for key, v in data.items()}
    await node.admin.create(resource, {"kind": kind, "metadata": {"name": name}, "data": encoded}, namespace="default")


async def test_a_container_finds_the_services_of_its_namespace(world: World) -> None:
    async with running(world) as node:
        made = {"kind": "Service", "metadata": {"name": "my-db"}, "spec": {"ports": [{"port": 5432}]}}
        ip = (await node.admin.create(SERVICES, made, namespace="default"))["spec"]["clusterIP"]
        await node.sleep(1)

        assert await printed(
            node,
            "echo $MY_DB_SERVICE_HOST:$MY_DB_SERVICE_PORT $URL $MY_DB_PORT",
            env=[{"name": "URL", "value": "db=$(MY_DB_PORT_5432_TCP_ADDR)"}, {"name": "MY_DB_PORT", "value": "mine"}],
        ) == [f"{ip}:5432 db={ip} mine"]


async def test_variables_of_the_downward_api_and_of_objects(world: World) -> None:
    async with running(world) as node:
        await put(node, "ConfigMap", "settings", {"mode": "fast"})
        await put(node, "Secret", "keys", {"key": "s3cret"})
        env: list[Object] = [
            {"name": "IPS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIPs"}}},
            {"name": "WHO", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['team']"}}},
            {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "key"}}},
            {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "gone", "key": "key", "optional": True}}},
            {"name": "ALL", "value": "$(MODE)-$(KEY)-$$(KEY)-$(NOBODY)"},
        ]
        printed_lines = await printed(
            node,
            "echo $IPS $WHO $ALL ${NONE:-unset} $X_mode",
            env=env,
            annotations={"team": "blue"},
            container={"envFrom": [{"prefix": "X_", "configMapRef": {"name": "settings"}}]},
        )
        assert printed_lines == ["10.244.0.2 blue fast-s3cret-$(KEY)-$(NOBODY) unset fast"]


async def test_a_container_sees_the_annotations_that_its_node_adds(world: World) -> None:
    """config.go updatePodsFunc and recordFirstSeenTime; the API's object has them not."""
    async with running(world) as node:
        items = [{"path": "all", "fieldRef": {"fieldPath": "metadata.annotations"}}]
        source = {"fieldRef": {"fieldPath": "metadata.annotations['kubernetes.io/config.source']"}}
        lines = await printed(
            node,
            "cat /info/all; echo; echo $SOURCE",
            env=[{"name": "SOURCE", "valueFrom": source}],
            annotations={"team": "blue", "a": "1"},
            volumes=[{"name": "info", "downwardAPI": {"items": items}}],
            container={"volumeMounts": [{"name": "info", "mountPath": "/info"}]},
        )
        seen = lines.pop(1)
        assert lines == ['a="1"', 'kubernetes.io/config.source="api"', 'team="blue"', "api"]
        assert re.fullmatch(r'kubernetes\.io/config\.seen="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d*[1-9])?Z"', seen)
        assert (await node.pod("web"))["metadata"]["annotations"] == {"team": "blue", "a": "1"}


async def test_the_service_accounts_volume_holds_a_token_that_the_api_takes(world: World) -> None:
    async with running(world) as node:
        await put(node, "ConfigMap", "kube-root-ca.crt", {"ca.crt": "PEM"})
        folder = "/var/run/secrets/kubernetes.io/serviceaccount"
        token, ca, namespace = await printed(node, f"cd {folder}; cat token; echo; cat ca.crt; echo; cat namespace")

        claims = base64.urlsafe_b64decode(token.split(".")[1] + "==").decode()
        assert '"pod":{"name":"web"' in claims.replace(" ", "")
        assert (ca, namespace) == ("PEM", "default")


async def test_a_container_knows_its_names(world: World) -> None:
    async with running(world) as node:
        lines = await printed(node, "hostname; cat /etc/resolv.conf; cat /etc/hosts", hostname="h1", subdomain="s")

        assert lines[0] == "h1"
        assert "nameserver 10.96.0.10" in lines
        assert lines[-1] == "10.244.0.2\th1.s.default.svc.cluster.local\th1"


async def test_a_volume_follows_its_config_map(world: World) -> None:
    async with running(world) as node:
        await put(node, "ConfigMap", "settings", {"mode": "slow"})
        script = "while true; do cat /etc/app/mode; echo; sleep 30; done"
        mounted: Object = {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script]}
        mounted["volumeMounts"] = [{"name": "app", "mountPath": "/etc/app"}]
        await node.run(containers=[mounted], volumes=[{"name": "app", "configMap": {"name": "settings"}}])
        await node.ready()
        await node.admin.patch(CONFIGMAPS, "settings", {"data": {"mode": "fast"}}, namespace="default")
        await node.sleep(130)

        lines = node.logs("web")
        assert (lines[0], lines[-1]) == ("slow", "fast")


@pytest.mark.parametrize(
    ("volume", "event"),
    [
        pytest.param({"configMap": {"name": "gone"}}, 'configmap "gone" not found', id="no ConfigMap"),
        pytest.param({"secret": {"secretName": "gone"}}, 'secret "gone" not found', id="no Secret"),
        pytest.param(
            {"configMap": {"name": "some", "items": [{"key": "k", "path": "p"}]}},
            "configmap references non-existent config key: k",
            id="no such key",
        ),
        pytest.param(
            {"projected": {"sources": [{"secret": {"name": "a"}}, {"configMap": {"name": "b"}}]}},
            '[secret "a" not found, configmap "b" not found]',
            id="projected: all that is missing",
        ),
    ],
)
async def test_a_volume_that_cannot_be_mounted_says_why(world: World, volume: Object, event: str) -> None:
    async with running(world) as node:
        await put(node, "ConfigMap", "some", {"other": "value"})
        await node.run(volumes=[{"name": "v", **volume}])

        assert await node.said("FailedMount") == f'FailedMount: MountVolume.SetUp failed for volume "v" : {event}'
        assert (await node.container())["state"] == {"waiting": {"reason": "ContainerCreating"}}


async def test_a_mount_is_tried_ever_more_rarely_until_it_succeeds(world: World) -> None:
    async with running(world) as node:
        await node.run(volumes=[{"name": "v", "configMap": {"name": "late"}}])
        await node.sleep(20)
        [failed] = [event for event in await node.events() if event.startswith("FailedMount")]
        assert failed.endswith('configmap "late" not found')

        await put(node, "ConfigMap", "late", {})
        began = node.now
        await node.ready()
        assert node.now - began < 32


async def test_a_variable_of_a_missing_object_is_a_configuration_error(world: World) -> None:
    async with running(world) as node:
        reference = {"configMapKeyRef": {"name": "some", "key": "gone"}}
        env = [{"name": "A", "valueFrom": reference}]
        await put(node, "ConfigMap", "some", {})
        await node.run(containers=[{"name": "web", "image": "nginx:1.27", "env": env}])

        waiting = await node.waiting("CreateContainerConfigError")
        assert waiting["message"] == "couldn't find key gone in ConfigMap default/some"
        assert await node.said("Error:") == f"Failed: Error: {waiting['message']}"
        await node.admin.patch(CONFIGMAPS, "some", {"data": {"gone": "here"}}, namespace="default")
        await node.ready()


@pytest.mark.parametrize(
    ("context", "message"),
    [
        pytest.param({"runAsNonRoot": True}, "container has runAsNonRoot and image will run as root", id="the image's"),
        pytest.param(
            {"runAsNonRoot": True, "runAsUser": 0}, "container's runAsUser breaks non-root policy", id="its own"
        ),
    ],
)
async def test_root_is_refused_where_it_may_not_run(world: World, context: Object, message: str) -> None:
    async with running(world) as node:
        uid = (await node.run(securityContext=context))["metadata"]["uid"]

        waiting = await node.waiting("CreateContainerConfigError")
        assert waiting["message"] == f'{message} (pod: "web_default({uid})", container: web)'
