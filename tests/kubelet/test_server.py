"""What a kubelet serves of itself, asked for through the API server's node proxy."""

from __future__ import annotations

import json
import re

import pytest

from engine.api.types import GVR, Object
from engine.api.wire import ClientCertificate, Request, Response
from engine.world import World
from tests.kubelet.node import ADMIN, NODE, NODE_IP, Node, running

CLUSTER_ROLES = GVR("rbac.authorization.k8s.io", "v1", "clusterroles")
BINDINGS = GVR("rbac.authorization.k8s.io", "v1", "clusterrolebindings")
CLAIMS = GVR("", "v1", "persistentvolumeclaims")
SCRAPER = ClientCertificate("scraper")

WEB: Object = {
    "name": "web",
    "image": "nginx:1.27",
    "resources": {"limits": {"cpu": "500m", "memory": "128Mi"}},
    "readinessProbe": {"httpGet": {"port": 80}, "periodSeconds": 5},
}
BOX: Object = {"name": "box", "image": "busybox:1.37", "command": ["sh", "-c", "echo hello > /tmp/x; sleep 3600"]}


async def ask(
    node: Node,
    path: str,
    query: dict[str, str] | None = None,
    *,
    method: str = "GET",
    who: ClientCertificate = ADMIN,
    name: str = NODE,
) -> Response:
    parameters = {key: [value] for key, value in (query or {}).items()}
    request = Request(method, f"/api/v1/nodes/{name}/proxy/{path}", parameters, certificate=who)
    response = await node.api.handle(request)
    assert isinstance(response, Response)
    return response


async def told(node: Node, path: str, **query: str) -> str:
    response = await ask(node, path, query)
    assert response.status == 200, response.body
    assert isinstance(response.body, bytes)
    return response.body.decode()


def values(text: str, name: str) -> dict[str, float]:
    """Of one metric, by its labels."""
    found = re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


async def two_pods(node: Node) -> None:
    await node.run(containers=[WEB])
    await node.run("box", containers=[BOX], annotations={"ktui.io/cpu-usage": "300m", "ktui.io/memory-usage": "64Mi"})
    await node.ready()
    await node.ready("box")


async def test_statistics_tell_what_the_node_its_pods_and_their_containers_use(world: World) -> None:
    async with running(world) as node:
        await two_pods(node)
        await node.sleep(100)
        summary = json.loads(await told(node, "stats/summary"))

        assert summary["node"]["nodeName"] == NODE
        assert [each["name"] for each in summary["node"]["systemContainers"]] == ["kubelet", "pods"]
        assert summary["node"]["cpu"]["usageNanoCores"] == 302_000_000  # 1m, 300m, and 1m of the kubelet itself
        assert summary["node"]["memory"]["workingSetBytes"] == (16 + 64 + 16) * 2**20
        assert summary["node"]["memory"]["availableBytes"] == 8 * 2**30 - 96 * 2**20
        assert summary["node"]["fs"]["capacityBytes"] == 100 * 2**30
        assert summary["node"]["runtime"]["imageFs"]["usedBytes"] > 0
        by_name = {pod["podRef"]["name"]: pod for pod in summary["pods"]}
        assert sorted(by_name) == ["box", "web"]
        box = by_name["box"]
        assert box["podRef"]["namespace"] == "default"
        assert box["cpu"]["usageNanoCores"] == 300_000_000
        assert 100 * 300_000_000 <= box["cpu"]["usageCoreNanoSeconds"] <= 103 * 300_000_000
        assert box["containers"][0]["rootfs"]["usedBytes"] == len("hello\n")
        assert box["process_stats"] == {"process_count": 1}
        web = by_name["web"]["containers"][0]
        assert web["memory"]["availableBytes"] == (128 - 16) * 2**20
        assert "availableBytes" not in box["memory"], "without a limit there is nothing to be left of it"


async def test_statistics_of_cpu_and_memory_alone_leave_out_the_disks(world: World) -> None:
    async with running(world) as node:
        await two_pods(node)
        summary = json.loads(await told(node, "stats/summary", only_cpu_and_memory="true"))
        assert sorted(summary["node"]) == ["cpu", "memory", "nodeName", "startTime", "swap", "systemContainers"]
        assert sorted(summary["pods"][0]) == ["containers", "cpu", "memory", "podRef", "startTime", "swap"]
        assert sorted(summary["pods"][0]["containers"][0]) == ["cpu", "memory", "name", "startTime", "swap"]


async def test_time_of_the_cpu_only_grows_though_pods_go(world: World) -> None:
    async with running(world) as node:
        await two_pods(node)
        seen = []
        for step in range(3):
            await node.sleep(50)
            seen.append(values(await told(node, "metrics/resource"), "node_cpu_usage_seconds_total")[""])
            if step == 1:
                await node.delete("box", grace_period_seconds=0)
                await node.gone("box")
        assert seen[1] - seen[0] == pytest.approx(50 * 0.302)
        assert 0.1 - 0.001 <= seen[2] - seen[1] < 2, "what has gone uses no more, and what it has used stays used"


async def test_a_claim_has_statistics_of_its_own(world: World) -> None:
    async with running(world) as node:
        claim: Object = {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "volumeName": "disk-1",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }  # fmt: skip
        await node.admin.create(CLAIMS, claim, namespace="default")
        bound = {"status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}
        await node.admin.patch(CLAIMS, "data", bound, namespace="default", subresource="status")
        mounts = [{"name": "data", "mountPath": "/data"}, {"name": "scratch", "mountPath": "/scratch"}]
        await node.run(
            containers=[{**BOX, "command": ["sh", "-c", "echo abc > /data/x; sleep 3600"], "volumeMounts": mounts}],
            volumes=[
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "scratch", "emptyDir": {}},
            ],
        )
        await node.ready()
        [pod] = json.loads(await told(node, "stats/summary"))["pods"]
        volumes = {volume["name"]: volume for volume in pod["volume"]}
        assert volumes["data"]["pvcRef"] == {"name": "data", "namespace": "default"}
        assert (volumes["data"]["capacityBytes"], volumes["data"]["usedBytes"]) == (2 * 2**30, 4)
        assert volumes["scratch"]["capacityBytes"] == 100 * 2**30
        text = await told(node, "metrics")
        labels = 'namespace="default",persistentvolumeclaim="data"'
        assert values(text, "kubelet_volume_stats_used_bytes") == {labels: 4}
        assert values(text, "kubelet_volume_stats_capacity_bytes") == {labels: 2 * 2**30}


async def test_metrics_of_resources_of_containers_and_of_the_kubelet_itself(world: World) -> None:
    async with running(world) as node:
        await two_pods(node)
        await node.sleep(20)

        resource = await told(node, "metrics/resource")
        assert values(resource, "container_memory_working_set_bytes") == {
            'container="box",namespace="default",pod="box"': 64 * 2**20,
            'container="web",namespace="default",pod="web"': 16 * 2**20,
        }
        assert values(resource, "resource_scrape_error") == {"": 0}
        assert re.search(r"^pod_cpu_usage_seconds_total\{.*\} \S+ \d{13}$", resource, re.MULTILINE)

        cadvisor = await told(node, "metrics/cadvisor")
        limits = values(cadvisor, "container_spec_memory_limit_bytes")
        [web] = [value for labels, value in limits.items() if 'container="web"' in labels]
        assert web == 128 * 2**20
        quotas = values(cadvisor, "container_spec_cpu_quota")
        assert sorted(quotas.values()) == [50_000, 50_000], "of the container and of its Pod"
        uid = (await node.pod())["metadata"]["uid"].replace("-", "_")
        assert f'id="/kubepods.slice/kubepods-pod{uid}.slice"' in cadvisor, "the Pod is guaranteed what it asks for"
        assert list(values(cadvisor, "machine_memory_bytes").values()) == [8 * 2**30]

        own = await told(node, "metrics")
        assert values(own, "kubelet_node_name") == {f'node="{NODE}"': 1}
        (build,) = values(own, "kubernetes_build_info")
        labels = "build_date compiler git_commit git_tree_state git_version go_version major minor platform"
        assert [label.partition("=")[0] for label in build.split(",")] == labels.split()
        assert values(own, "kubelet_running_pods") == {"": 2}
        assert values(own, "kubelet_running_containers") == {'container_state="running"': 2}
        assert values(own, "kubelet_started_pods_total") == {"": 2}
        assert values(own, "kubelet_runtime_operations_total")['operation_type="start_container"'] == 2
        assert values(own, "kubelet_working_pods")['config="desired",lifecycle="sync",static=""'] == 2

        probes = values(await told(node, "metrics/probes"), "prober_probe_total")
        [(labels, count)] = probes.items()
        assert 'container="web"' in labels
        assert 'probe_type="Readiness",result="successful"' in labels
        assert count >= 4


async def test_pods_as_the_kubelet_and_as_its_runtime_know_them(world: World) -> None:
    async with running(world) as node:
        assert await told(node, "pods") == '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}'
        await node.run(containers=[WEB])
        await node.ready()
        [pod] = json.loads(await told(node, "pods"))["items"]
        assert pod["status"]["phase"] == "Running"
        assert "kind" not in pod
        [running_pod] = json.loads(await told(node, "runningpods/"))["items"]
        assert running_pod == {
            "metadata": {"name": "web", "namespace": "default", "uid": pod["metadata"]["uid"]},
            "spec": {"containers": [{"name": "web", "image": "docker.io/library/nginx:1.27", "resources": {}}]},
            "status": {},
        }


async def test_logs_of_containers_are_files_below_the_logs_of_the_node(world: World) -> None:
    async with running(world) as node:
        await node.run("box", containers=[{**BOX, "command": ["sh", "-c", "echo one; sleep 3600"]}])
        await node.ready("box")
        uid = (await node.pod("box"))["metadata"]["uid"]
        top = await told(node, "logs/")
        assert '<a href="containers/">containers/</a>\n<a href="pods/">pods/</a>\n' in top
        directory = f"default_box_{uid}"
        assert f'<a href="{directory}/">{directory}/</a>' in await told(node, "logs/pods/")
        line = await told(node, f"logs/pods/{directory}/box/0.log")
        assert re.fullmatch(r"\S+Z stdout F one\n", line)
        moved = await ask(node, "logs/pods")
        assert (moved.status, moved.headers["location"]) == (301, "pods/")
        assert (await ask(node, "logs/kern.log")).status == 404


async def test_the_configuration_is_what_the_kubelet_goes_by(world: World) -> None:
    async with running(world) as node:
        found = json.loads(await told(node, "configz"))["kubeletconfig"]
        assert (found["port"], found["maxPods"], found["clusterDNS"]) == (10250, 110, ["10.96.0.10"])
        assert found["evictionHard"] == {"memory.available": "100Mi"}
        assert (found["nodeStatusReportFrequency"], found["nodeLeaseDurationSeconds"]) == ("5m0s", 40)


HEALTH = {
    "all": ("healthz", {}, "ok"),
    "told one by one": ("healthz", {"verbose": ""}, "[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n"),
    "one check": ("healthz/syncloop", {}, "ok"),
}


@pytest.mark.parametrize(("path", "query", "text"), HEALTH.values(), ids=HEALTH)
async def test_health(world: World, path: str, query: dict[str, str], text: str) -> None:
    async with running(world) as node:
        assert await told(node, path, **query) == text


async def test_what_is_not_served_is_refused_as_a_kubelet_refuses_it(world: World) -> None:
    async with running(world) as node:
        for method, path, name, status, said in (
            ("GET", "nothing", NODE, 404, b"404 page not found\n"),
            ("GET", "stats/nothing", NODE, 404, b"404: Page Not Found\n"),
            ("POST", "pods", NODE, 405, b"405: Method Not Allowed"),
            ("GET", "healthz/nothing", NODE, 404, b"404 page not found\n"),
        ):
            response = await ask(node, path, method=method, name=name)
            assert (response.status, response.body) == (status, said), path
        elsewhere = await ask(node, "metrics", name=f"{NODE}:10249")
        assert elsewhere.status == 503
        assert f"dial tcp {NODE_IP}:10249: connect: connection refused" in str(elsewhere.body)


async def test_the_right_to_proxy_a_node_is_what_is_asked_for_and_no_finer_one(world: World) -> None:
    async with running(world) as node:
        rules = [{"apiGroups": [""], "resources": ["nodes/metrics", "nodes/stats"], "verbs": ["get"]}]
        await node.admin.create(CLUSTER_ROLES, {"metadata": {"name": "scraper"}, "rules": rules})
        binding = {
            "metadata": {"name": "scraper"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scraper"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scraper"}],
        }
        await node.admin.create(BINDINGS, binding)
        refused = await ask(node, "metrics", who=SCRAPER)
        assert refused.status == 403
        assert 'cannot get resource "nodes/proxy" in API group "" at the cluster scope' in str(refused.body)

        rules[0]["resources"].append("nodes/proxy")
        await node.admin.patch(CLUSTER_ROLES, "scraper", {"rules": rules})
        await node.sleep(1)
        assert (await ask(node, "metrics", who=SCRAPER)).status == 200
