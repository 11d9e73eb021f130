"""The Node object: registration, status, heartbeats, and the wait for the Pod network."""

from __future__ import annotations

from engine.api.types import GVR, LEASES, NODES, Object
from engine.api.wire import MERGE_PATCH
from engine.config import NodeConfig
from engine.kubelet.node.csi_node import CSI_NODES
from engine.kubelet.runtime import SimulatedRuntime
from engine.world import World
from tests.kubelet.node import ADMIN, NODE, NODE_IP, Node, api_server, client_of, condition, kubelet_on, running

NOT_READY = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)


async def node_of(node: Node) -> Object:
    return await node.admin.get(NODES, NODE)


async def test_a_node_registers_with_its_labels_capacity_and_conditions(world: World) -> None:
    config = NodeConfig(name=NODE, cpu="8", memory="16Gi", pods=50, zone="zone-b", labels={"disk": "ssd"})
    async with running(world, config=config) as node:
        made = await node_of(node)

        assert made["metadata"]["labels"] == {
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "disk": "ssd",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": NODE,
            "kubernetes.io/os": "linux",
            "topology.kubernetes.io/region": "region-1",
            "topology.kubernetes.io/zone": "zone-b",
        }
        status = made["status"]
        assert {key: status["capacity"][key] for key in ("cpu", "memory", "pods")} == {
            "cpu": "8",
            "memory": "16Gi",
            "pods": "50",
        }
        assert status["allocatable"] == status["capacity"]
        assert status["addresses"] == [
            {"type": "InternalIP", "address": "172.18.0.2"},
            {"type": "Hostname", "address": NODE},
        ]
        told = [(item["type"], item["status"], item["reason"], item["message"]) for item in status["conditions"]]
        assert told == [
            ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ]
        assert status["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://")
        assert status["nodeInfo"]["kubeletVersion"].startswith("v1.")


async def test_what_is_advertised_of_a_node_can_be_allocated(world: World) -> None:
    """kubernetes.io's page "Advertise Extended Resources for a Node": a capacity by hand, and its end."""
    async with running(world) as node:

        async def advertise(amount: str | None) -> tuple[Object, Object]:
            status = {"capacity": {"example.com/dongle": amount}}
            await node.admin.patch(NODES, NODE, {"status": status}, subresource="status", content_type=MERGE_PATCH)
            await node.sleep(15)
            now = (await node_of(node))["status"]
            return now["capacity"], now["allocatable"]

        capacity, allocatable = await advertise("4")
        assert (capacity, capacity["example.com/dongle"]) == (allocatable, "4")
        capacity, allocatable = await advertise(None)
        assert capacity == allocatable
        assert "example.com/dongle" not in capacity


async def test_a_node_tells_which_volumes_drivers_have_taken_over(world: World) -> None:
    async with running(world) as node:
        await node.sleep(1)
        found = await node.admin.get(CSI_NODES, NODE)
        owner = {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": (await node_of(node))["metadata"]["uid"]}
        assert found["metadata"]["ownerReferences"] == [owner]
        assert found["metadata"]["annotations"] == {
            "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,"
            "kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,"
            "kubernetes.io/vsphere-volume"
        }
        assert not found["spec"].get("drivers")


async def test_without_a_range_the_node_is_not_ready_and_pods_wait(world: World) -> None:
    async with running(world, pod_cidr="") as node:
        ready = next(item for item in (await node_of(node))["status"]["conditions"] if item["type"] == "Ready")
        assert (ready["status"], ready["reason"], ready["message"]) == ("False", "KubeletNotReady", NOT_READY)
        await node.run()
        assert await node.said("NetworkNotReady") == f"NetworkNotReady: network is not ready: {NOT_READY}"
        assert (await node.container())["state"] == {"waiting": {"reason": "ContainerCreating"}}

        began = node.now
        await node.admin.patch(NODES, NODE, {"spec": {"podCIDR": "10.9.0.0/24", "podCIDRs": ["10.9.0.0/24"]}})
        status = await node.ready()
        assert status["podIP"] == "10.9.0.2"
        assert node.now - began < 0.2
        assert condition((await node_of(node))["status"], "Ready") == "True"
        assert await node.said("NodeReady", NODE) == f"NodeReady: Node {NODE} status is now: NodeReady"


async def test_the_first_events_of_a_node(world: World) -> None:
    async with running(world) as node:
        await node.sleep(1)

        assert await node.events(NODE) == [
            "Starting: Starting kubelet.",
            f"NodeHasSufficientMemory: Node {NODE} status is now: NodeHasSufficientMemory",
            f"NodeHasNoDiskPressure: Node {NODE} status is now: NodeHasNoDiskPressure",
            f"NodeHasSufficientPID: Node {NODE} status is now: NodeHasSufficientPID",
            f"NodeReady: Node {NODE} status is now: NodeReady",
            "NodeAllocatableEnforced: Updated Node Allocatable limit across pods",
        ]


async def test_the_lease_is_renewed_every_ten_seconds_and_the_status_every_five_minutes(world: World) -> None:
    async with running(world) as node:
        await node.sleep(60)
        lease = await node.admin.get(LEASES, NODE, namespace="kube-node-lease")
        assert lease["spec"]["holderIdentity"] == NODE
        assert lease["spec"]["leaseDurationSeconds"] == 40
        assert lease["spec"]["renewTime"] > "2026-01-01T00:00:50"
        assert lease["metadata"]["ownerReferences"][0]["name"] == NODE
        before = (await node_of(node))["metadata"]["resourceVersion"]
        await node.sleep(200)
        assert (await node_of(node))["metadata"]["resourceVersion"] == before
        await node.sleep(100)
        after = await node_of(node)
        assert after["metadata"]["resourceVersion"] != before
        ready = next(item for item in after["status"]["conditions"] if item["type"] == "Ready")
        assert ready["lastHeartbeatTime"] > ready["lastTransitionTime"]


async def test_images_show_in_the_nodes_status(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        await node.sleep(11)

        [image] = (await node_of(node))["status"]["images"]
        assert image["sizeBytes"] == 72_000_000
        assert image["names"][1] == "docker.io/library/nginx:1.27"


async def names(node: Node, resource: GVR, *, namespace: str | None = None) -> list[str]:
    return [each["metadata"]["name"] for each in (await node.admin.list(resource, namespace=namespace)).items]


async def test_a_deleted_node_is_not_registered_again_before_the_kubelet_starts_again(world: World) -> None:
    async with api_server(world) as api:
        first = kubelet_on(api, world)
        await first.start()
        node = Node(world, api, first)
        await node.sleep(1)
        before = await node_of(node)
        await node.admin.delete(NODES, NODE)
        await node.admin.delete(LEASES, NODE, namespace="kube-node-lease")  # as the garbage collector does
        await node.sleep(700)
        assert await names(node, NODES) == []
        assert await names(node, LEASES, namespace="kube-node-lease") == []
        await first.stop()
        second = kubelet_on(api, world)
        await second.start()
        await node.sleep(1)
        assert (await node_of(node))["metadata"]["uid"] != before["metadata"]["uid"]
        assert await names(node, LEASES, namespace="kube-node-lease") == [NODE]
        await second.stop()


async def test_a_node_that_is_created_by_hand_is_taken_over(world: World) -> None:
    async with running(world) as node:
        await node.admin.delete(NODES, NODE)
        await node.sleep(60)
        made = await node.admin.create(NODES, {"metadata": {"name": NODE}})
        await node.sleep(11)
        found = await node_of(node)
        assert found["metadata"]["uid"] == made["metadata"]["uid"]
        [ready] = [item["status"] for item in found["status"]["conditions"] if item["type"] == "Ready"]
        assert ready == "True"
        assert found["status"]["nodeInfo"]["kubeletVersion"].startswith("v1.")
        lease = await node.admin.get(LEASES, NODE, namespace="kube-node-lease")
        assert [each["uid"] for each in lease["metadata"]["ownerReferences"]] == [made["metadata"]["uid"]]


async def test_a_kubelet_that_comes_back_takes_its_containers_over(world: World) -> None:
    async with api_server(world) as api:
        runtime = SimulatedRuntime(world, node_name=NODE, node_ip=NODE_IP)
        first = kubelet_on(api, world, runtime=runtime)
        await first.start()
        node = Node(world, api, first)
        await node.sleep(1)
        await node.run()
        before = await node.ready()
        await node.run("gone")
        await node.ready("gone")
        await first.stop()
        await node.delete("gone", grace_period_seconds=0)
        await node.sleep(60)

        second = kubelet_on(api, world, runtime=runtime)
        await second.start()
        await node.sleep(10)
        assert (await node.status())["containerStatuses"] == before["containerStatuses"]
        assert len(node.view("cri")["containers"]) == 1
        await second.stop()


async def test_a_node_that_comes_back_with_nothing_starts_its_pods_again(world: World) -> None:
    async with api_server(world) as api:
        first = kubelet_on(api, world)
        await first.start()
        node = Node(world, api, first)
        await node.sleep(1)
        init = {"name": "init", "image": "busybox:1.36", "command": ["sleep", "2"]}
        await node.run(initContainers=[init])
        before = await node.ready()
        job = {"name": "job", "image": "busybox:1.36", "command": ["true"]}
        await node.run("job", containers=[job], restartPolicy="Never")
        done = await node.in_phase("Succeeded", "job")
        await first.stop()
        await node.sleep(60)

        second = kubelet_on(api, world)
        await second.start()
        await node.sleep(1)
        lost = await node.container()
        assert lost["state"] == {"waiting": {"reason": "PodInitializing"}}
        assert lost["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
        status = await node.ready()
        container = status["containerStatuses"][0]
        await second.stop()
        assert (container["restartCount"], status["initContainerStatuses"][0]["restartCount"]) == (1, 1)
        assert container["containerID"] != before["containerStatuses"][0]["containerID"]
        assert status["startTime"] == before["startTime"]
        assert (await node.status("job"))["containerStatuses"] == done["containerStatuses"]


async def test_what_a_node_that_was_switched_off_has_lost_is_told(world: World) -> None:
    async with api_server(world) as api:
        first = kubelet_on(api, world)
        await first.start()
        node = Node(world, api, first)
        await node.sleep(1)
        sleeper = {"name": "m", "image": "busybox:1.36", "command": ["sleep", "3600"]}
        await node.run("always", containers=[sleeper])
        await node.run("never", containers=[sleeper], restartPolicy="Never")
        await node.ready("always")
        [before] = (await node.ready("never"))["containerStatuses"]
        await first.stop()
        await node.sleep(60)

        second = kubelet_on(api, world)
        await second.start()
        again = await node.restarted(1, "always")
        await node.sleep(60)
        assert "running" in again["state"]
        assert again["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
        status = await node.status("never")
        [lost] = status["containerStatuses"]
        assert (status["phase"], lost["restartCount"], lost["lastState"]) == ("Failed", 0, {})
        assert lost["state"]["terminated"]["reason"] == "ContainerStatusUnknown"
        assert lost["containerID"] == before["containerID"]
        await second.stop()


async def test_the_api_server_may_come_later(world: World) -> None:
    async with api_server(world) as api:
        admin = client_of(api, ADMIN, "kubectl")
        kubelet = kubelet_on(api, world)
        await api.stop()
        await kubelet.start()
        await world.clock.sleep(5)
        await api.start()
        await world.clock.sleep(30)

        assert condition((await admin.get(NODES, NODE))["status"], "Ready") == "True"
        await kubelet.stop()
