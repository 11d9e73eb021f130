"""Services on the nodes: proxy rules and cluster DNS (hop 12)."""

from engine.network.pod_network import PodNetwork
from engine.network.proxy import ServiceProxy

__all__ = ["PodNetwork", "ServiceProxy"]
