"""The network as the processes of one namespace's Pods see it: names resolve by the cluster's DNS, and an address
answers if a Service with ready endpoints, or a ready endpoint itself, is behind it."""

from __future__ import annotations

from ipaddress import ip_address

from engine.network import dns
from engine.network.proxy import ServiceProxy


class PodNetwork:
    """To be handed to the kubelets by the composition root."""

    def __init__(self, proxy: ServiceProxy, namespace: str) -> None:
        self._proxy = proxy
        self._namespace = namespace

    def resolve(self, name: str) -> list[str]:
        return dns.addresses(dns.resolve(self._proxy, name, self._namespace))

    def connect(self, host: str, port: int) -> bool:
        addresses = [host] if _is_address(host) else self.resolve(host)
        for address in addresses:
            rule = self._proxy.table.find(address, port)
            if (rule is not None and rule.endpoints) or self._proxy.endpoint_exists(address, port):
                return True
        return False


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
