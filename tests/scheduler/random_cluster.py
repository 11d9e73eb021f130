"""Random clusters: labels, taints, cordons, pods with affinity of all kinds, spreading, ports, gpus."""

from __future__ import annotations

import random
from typing import Any

from engine.api.types import Object
from tests.scheduler.objects import affinity, container, near, node, pod, spread, taint

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
APPS = ("web", "db", "cache")
GPU = "example.com/gpu"


class Cluster:
    """A random cluster and random pods for it."""

    def __init__(self, seed: int, nodes: int = 12, pods: int = 40) -> None:
        self.chance = random.Random(seed)
        self.nodes = [self.node(i) for i in range(nodes)]
        self.pods = [self.pod(f"there-{i}", where=self.chance.choice(self.nodes)) for i in range(pods)]

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def node(self, i: int) -> Object:
        labels = {"disk": self.chance.choice(("ssd", "hdd"))}
        if self.maybe(0.9):
            labels[ZONE] = self.chance.choice(("a", "b", "c"))
        taints = [taint("dedicated", self.chance.choice(("NoSchedule", "PreferNoSchedule")))] if self.maybe(0.3) else []
        extra = {GPU: "2"} if self.maybe(0.3) else {}
        return node(
            f"n{i:02}",
            cpu=self.chance.choice(("2", "4", "8")),
            memory=self.chance.choice(("4Gi", "8Gi")),
            pods=self.chance.choice((4, 110)),
            labels=labels,
            taints=taints,
            unschedulable=self.maybe(0.1),
            images=[{"names": ["nginx:1.27"], "sizeBytes": 300_000_000}] if self.maybe(0.5) else None,
            allocatable=extra,
        )

    def term(self) -> Object:
        return near(self.chance.choice((ZONE, HOST)), {"app": self.chance.choice(APPS)})

    def pod(self, name: str, where: Object | None = None) -> Object:
        requests = {
            "cpu": f"{self.chance.choice((0, 100, 500, 1000))}m",
            "memory": self.chance.choice(("0", "256Mi", "1Gi")),
        }
        if self.maybe(0.1):
            requests[GPU] = "1"
        port = self.chance.choice((80, 81))
        ports = [{"containerPort": port, "hostPort": port, "protocol": "TCP"}] if self.maybe(0.15) else []
        spec: dict[str, Any] = {}
        if self.maybe(0.3):
            spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        if self.maybe(0.2):
            spec["nodeSelector"] = {"disk": "ssd"}
        wishes = affinity(
            near=[self.term()] if self.maybe(0.1) else None,
            far=[self.term()] if self.maybe(0.15) else None,
            prefer_near=[(self.chance.randint(1, 100), self.term())] if self.maybe(0.2) else None,
            prefer_far=[(self.chance.randint(1, 100), self.term())] if self.maybe(0.2) else None,
        )
        if wishes:
            spec["affinity"] = wishes
        app = self.chance.choice(APPS)
        if self.maybe(0.3):
            key = self.chance.choice((ZONE, HOST))
            spec["topologySpreadConstraints"] = [spread(key, {"app": app}, max_skew=2, hard=self.maybe(0.5))]
        return pod(
            name,
            labels={"app": app},
            node_name=where["metadata"]["name"] if where is not None else "",
            containers=[_limited(container(requests=requests, ports=ports))],
            priority=self.chance.choice((0, 10)),
            **spec,
        )


def _limited(made: Object) -> Object:
    """Extended resources cannot be overcommitted: the API wants their limits too."""
    requests = made["resources"]["requests"]
    if GPU in requests:
        made["resources"]["limits"] = {GPU: requests[GPU]}
    return made
