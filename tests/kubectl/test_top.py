"""`top` against a cluster with simulated nodes: every flag, and what it says where nothing is measured."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig, default_nodes
from engine.kubectl.main import run

Top = Callable[[str], Awaitable[str]]
API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")


def pod(name: str, usage: dict[str, str], *containers: str, namespace: str = "default") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": usage, "labels": {"app": name}},
        "spec": {
            "nodeName": "node-1",
            "containers": [
                {"name": each, "image": "nginx", "resources": {"requests": {"cpu": f"{share}m"}}}
                for share, each in enumerate(containers, 1)
            ],
        },
    }


async def create(client: Client, clock: VirtualClock, obj: Object) -> None:
    """Once the ServiceAccount of its namespace is there."""
    for _ in range(100):
        try:
            await client.create(PODS, obj, namespace=obj["metadata"]["namespace"])
            return
        except ApiError as error:
            if error.code != 403:
                raise
        await clock.sleep(0.1)
    raise AssertionError("no ServiceAccount")


def top_of(client: Client, clock: VirtualClock) -> Top:
    async def top(words: str) -> str:
        """What is printed, both streams in one, lines ended by a bar: their last column is filled up."""
        out = io.StringIO()
        await run(words.split(), client=client, stdout=out, stderr=out, clock=clock)
        return out.getvalue().replace("\n", "|\n")

    return top


def lines(*rows: str) -> str:
    return "".join(f"{row}|\n" for row in rows)


SHOWN = {
    "nodes": ("top nodes", lines(
        "NAME     CPU(cores)   CPU(%)   MEMORY(bytes)   MEMORY(%)   ",
        "node-1   412m         10%      240Mi           2%          ",
        "node-2   1m           0%       16Mi            0%          ",
    )),
    "one node": ("top node node-2 --no-headers", lines("node-2   1m    0%    16Mi   0%    ")),
    "nodes by label": ("top no -l kubernetes.io/hostname=node-2 --no-headers", lines(
        "node-2   1m    0%    16Mi   0%    "
    )),
    "nodes by use, of the capacity, with swap": (
        "top nodes --sort-by=cpu --show-capacity --show-swap", lines(
        "NAME     CPU(cores)   CPU(%)   MEMORY(bytes)   MEMORY(%)   SWAP(bytes)   SWAP(%)     ",
        "node-1   412m         10%      240Mi           2%          <unknown>     <unknown>   ",
        "node-2   1m           0%       16Mi            0%          <unknown>     <unknown>   ",
    )),
    "Pods": ("top pods", lines(
        "NAME   CPU(cores)   MEMORY(bytes)   ",
        "idle   1m           16Mi            ",
        "web    300m         192Mi           ",
    )),
    "Pods by use": ("top pod --sort-by=memory --no-headers", lines("web    300m   192Mi   ", "idle   1m     16Mi    ")),
    "one Pod": ("top po web", lines(
        "NAME   CPU(cores)   MEMORY(bytes)   ", "web    300m         192Mi           "
    )),
    "Pods by label": ("top pods -l app=idle --no-headers", lines("idle   1m    16Mi   ")),
    "Pods by field": ("top pods --field-selector metadata.name=idle --no-headers", lines("idle   1m    16Mi   ")),
    "Pods of a node": ("top pods --field-selector spec.nodeName=node-1 --no-headers", lines(
        "idle   1m     16Mi    ",
        "web    300m   192Mi   ",
    )),
    "Pods of no node": ("top pods --field-selector spec.nodeName=other", lines(
        "No resources found in default namespace."
    )),
    "Pods of a node everywhere by label": (
        "top pods -A -l app=dns --field-selector spec.nodeName=node-1 --no-headers",
        lines("kube-system   dns   110m   16Mi   "),
    ),
    "a field that Pods have not": ("top pods --field-selector a=b", lines(
        "Error from server (BadRequest): field label not supported: a"
    )),
    "everywhere": ("top pods -A", lines(
        "NAMESPACE     NAME   CPU(cores)   MEMORY(bytes)   ",
        "default       idle   1m           16Mi            ",
        "default       web    300m         192Mi           ",
        "kube-system   dns    110m         16Mi            ",
    )),
    "everywhere by use": ("top pods -A --sort-by=cpu --no-headers", lines(
        "default       web    300m   192Mi   ",
        "kube-system   dns    110m   16Mi    ",
        "default       idle   1m     16Mi    ",
    )),
    "containers": ("top pods --containers", lines(
        "POD    NAME   CPU(cores)   MEMORY(bytes)   ",
        "idle   a      1m           16Mi            ",
        "web    a      100m         96Mi            ",
        "web    b      200m         96Mi            ",
    )),
    "containers by use": ("top pods web --containers --sort-by=cpu --no-headers", lines(
        "web   b     200m   96Mi   ", "web   a     100m   96Mi   "
    )),
    "the sum": ("top pods --sum", lines(
        "NAME   CPU(cores)   MEMORY(bytes)   ",
        "idle   1m           16Mi            ",
        "web    300m         192Mi           ",
        "       ________     ________        ",
        "       301m         208Mi           ",
    )),
    "the sum of containers everywhere, without heads": ("top pods -A --containers --sum --no-headers -l app=dns", lines(
        "kube-system   dns        a          110m   16Mi   ",
        "              ________   ________   ",
        "              110m       16Mi       ",
    )),
    "nothing": ("top pods -n kube-public", lines("No resources found in kube-public namespace.")),
    "nothing everywhere": ("top pods -A -l app=nope", lines("No resources found")),
    "no such Pod": ("top pod nope", lines('Error from server (NotFound): pods "nope" not found')),
    "no such node": ("top node nope", lines('Error from server (NotFound): nodes "nope" not found')),
    "no such label of nodes": ("top node -l a=b", lines("error: metrics not available yet")),
}  # fmt: skip


async def test_what_is_used(virtual_clock: VirtualClock) -> None:
    async with Cluster(ClusterConfig(seed=1, nodes=default_nodes(2)), clock=virtual_clock) as cluster:
        client = cluster.client(user_agent="kubectl/v1.37.1")
        top = top_of(client, virtual_clock)
        assert await top("top nodes") == lines("error: metrics not available yet")
        usage = {"ktui.io/cpu-usage": "300m", "ktui.io/memory-usage": "192Mi"}
        await create(client, virtual_clock, pod("web", usage, "a", "b"))
        assert await top("top pods") == lines("error: metrics not available yet")
        await create(client, virtual_clock, pod("idle", {}, "a"))
        await create(client, virtual_clock, pod("dns", {"ktui.io/cpu-usage": "110m"}, "a", namespace="kube-system"))
        await virtual_clock.sleep(60)
        found = {name: await top(words) for name, (words, _) in SHOWN.items()}
        assert found == {name: printed for name, (_, printed) in SHOWN.items()}
        await client.delete(API_SERVICES, "v1beta1.metrics.k8s.io")
        await virtual_clock.sleep(1)
        assert await top("top pods") == lines("error: Metrics API not available")
