"""What a configuration works out by itself."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from engine.config import ClusterConfig, default_nodes


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [(0, "10.244.0.0/16"), (256, "10.244.0.0/16"), (257, "10.244.0.0/15"), (1_000, "10.244.0.0/14")],
)
def test_pod_addresses_suffice_for_all_nodes(nodes: int, expected: str) -> None:
    assert ClusterConfig(nodes=default_nodes(nodes)).pod_cidr == expected


@pytest.mark.parametrize("nodes", [1, 300, 5_000, 32_768])
def test_the_ranges_do_not_overlap(nodes: int) -> None:
    config = ClusterConfig(nodes=default_nodes(nodes))
    pods = IPv4Network(config.pod_cidr)
    assert pods.num_addresses >= 256 * nodes
    assert not pods.overlaps(IPv4Network(config.service_cidr))
    assert not pods.overlaps(IPv4Network("172.18.0.0/16"))


def test_a_range_that_is_given_stands() -> None:
    assert ClusterConfig(nodes=default_nodes(300), pod_cidr="10.1.0.0/16").pod_cidr == "10.1.0.0/16"
