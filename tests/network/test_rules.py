"""Rules out of Services, EndpointSlices and the node."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.network.rules import NodeView, RuleTable, service_rules

HERE = NodeView("node-1", "zone-a")


def service(*ports: Object, **spec: Any) -> Object:
    spec = {"clusterIP": "10.96.0.7", "type": "ClusterIP", "ports": list(ports or (port(),)), **spec}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}


def port(number: int = 80, name: str = "", **fields: Any) -> Object:
    return {"port": number, "protocol": "TCP", **({"name": name} if name else {}), **fields}


def endpoints(*items: Object, number: int = 8080, name: str = "", family: str = "IPv4") -> Object:
    return {"addressType": family, "ports": [{"name": name, "port": number}], "endpoints": list(items)}


def endpoint(
    ip: str, node: str = "node-1", *, hints: tuple[str, ...] = (), nodes: tuple[str, ...] = (), **conditions: bool
) -> Object:
    made: Object = {"addresses": [ip], "nodeName": node, "conditions": {"ready": True, **conditions}}
    if hints:
        made["hints"] = {"forZones": [{"name": zone} for zone in hints]}
    if nodes:
        made.setdefault("hints", {})["forNodes"] = [{"name": name} for name in nodes]
    return made


ONE, TWO = endpoint("10.244.0.2"), endpoint("10.244.1.2", "node-2")


def told(of: Object, *slices: Object, node: NodeView = HERE) -> list[str]:
    lines = []
    for rule in service_rules(of, slices, node):
        made = rule.to_json()
        lines.append(f"{made['kind']} {made['address']} {made['action']} {' '.join(made['endpoints'])}".strip())
    return lines


@pytest.mark.parametrize(
    ("of", "slices", "expected"),
    [
        pytest.param(
            service(),
            [endpoints(TWO, ONE)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080 10.244.1.2:8080"],
            id="cluster ip",
        ),
        pytest.param(service(), [], ["ClusterIP 10.96.0.7:80 reject"], id="no endpoints"),
        pytest.param(service(clusterIP="None"), [endpoints(ONE)], [], id="headless"),
        pytest.param(service(type="ExternalName", clusterIP=""), [], [], id="external name"),
        pytest.param(
            service(port(80, "http"), port(443, "https")),
            [endpoints(ONE, name="http"), endpoints(ONE, name="https", number=8443)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080", "ClusterIP 10.96.0.7:443 dnat 10.244.0.2:8443"],
            id="two ports",
        ),
        pytest.param(
            service(),
            [endpoints(ONE, endpoint("10.244.0.3", ready=False))],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080"],
            id="not ready",
        ),
        pytest.param(
            service(),
            [endpoints(endpoint("10.244.0.3", ready=False, serving=True, terminating=True))],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.3:8080"],
            id="none but a terminating one that serves",
        ),
        pytest.param(
            service(port(nodePort=30080), type="NodePort"),
            [endpoints(ONE)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080", "NodePort *:30080 dnat 10.244.0.2:8080"],
            id="node port",
        ),
        pytest.param(
            service(internalTrafficPolicy="Local"),
            [endpoints(ONE, TWO)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080"],
            id="internal, local",
        ),
        pytest.param(
            service(port(nodePort=30080), type="NodePort", externalTrafficPolicy="Local"),
            [endpoints(TWO)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.1.2:8080", "NodePort *:30080 drop"],
            id="external, local, none here",
        ),
        pytest.param(
            service(internalTrafficPolicy="Local"), [], ["ClusterIP 10.96.0.7:80 reject"], id="local, and none at all"
        ),
        pytest.param(
            service(externalIPs=["192.0.2.1"]),
            [endpoints(ONE)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080", "ExternalIP 192.0.2.1:80 dnat 10.244.0.2:8080"],
            id="external ip",
        ),
        pytest.param(
            service(),
            [endpoints(endpoint("10.244.0.2", hints=("zone-a",)), endpoint("10.244.1.2", hints=("zone-b",)))],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080"],
            id="of the zone",
        ),
        pytest.param(
            service(),
            [endpoints(endpoint("10.244.0.2", hints=("zone-b",)), TWO)],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080 10.244.1.2:8080"],
            id="hints count only if all have them",
        ),
        pytest.param(
            service(),
            [endpoints(endpoint("10.244.0.2", hints=("zone-b",), nodes=("node-1",)),
                       endpoint("10.244.1.2", hints=("zone-a",), nodes=("node-2",)))],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080"],
            id="of the node before those of the zone",
        ),
        pytest.param(
            service(),
            [endpoints(endpoint("10.244.2.2", hints=("zone-b",), nodes=("node-3",)),
                       endpoint("10.244.1.2", hints=("zone-a",), nodes=("node-2",)))],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.1.2:8080"],
            id="of the zone where the node has none",
        ),
        pytest.param(
            service(),
            [endpoints(endpoint("10.244.2.2", hints=("zone-b",)), endpoint("10.244.1.2", hints=("zone-a",), ready=False,
                       serving=True, terminating=True))],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.2.2:8080"],
            id="of any zone rather than one that is not ready",
        ),
        pytest.param(
            service(clusterIPs=["10.96.0.7", "fd00::7"]),
            [endpoints(ONE), endpoints(endpoint("fd01::2"), family="IPv6")],
            ["ClusterIP 10.96.0.7:80 dnat 10.244.0.2:8080", "ClusterIP [fd00::7]:80 dnat [fd01::2]:8080"],
            id="two families",
        ),
    ],
)  # fmt: skip
def test_rules(of: Object, slices: list[Object], expected: list[str]) -> None:
    assert told(of, *slices) == expected


def test_a_load_balancers_address_counts_unless_it_is_a_proxys() -> None:
    of = service(type="LoadBalancer")
    of["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.9"}, {"ip": "192.0.2.8", "ipMode": "Proxy"}]}}

    assert told(of, endpoints(ONE))[1:] == ["LoadBalancer 192.0.2.9:80 dnat 10.244.0.2:8080"]


def test_affinity_is_kept_for_three_hours_by_default() -> None:
    [rule] = service_rules(service(sessionAffinity="ClientIP"), [], HERE)

    assert rule.affinity_seconds == 10800


def test_a_service_of_another_proxy_is_left_alone() -> None:
    of = service()
    of["metadata"]["labels"] = {"service.kubernetes.io/service-proxy-name": "other"}

    assert service_rules(of, [endpoints(ONE)], HERE) == ()


def test_the_table_tells_what_changed() -> None:
    table = RuleTable()
    rules = service_rules(service(), [endpoints(ONE)], HERE)

    assert table.set("default/web", rules)
    assert not table.set("default/web", rules)
    found = table.find("10.96.0.7", 80)
    assert found is not None
    assert [item.ip for item in found.endpoints] == ["10.244.0.2"]
    assert table.set("default/web", ())
    assert table.find("10.96.0.7", 80) is None
    assert not table.set("default/web", ())
