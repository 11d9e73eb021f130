"""The Service kube-dns, which a cluster has from the hand that sets it up (cmd/kubeadm app/phases/addons/dns
manifests.go), and which the nodes write into the resolv.conf of containers.

Nothing stands behind it: names are answered for on the nodes (`engine.network.dns`), and the Service says so. Whoever
runs a real CoreDNS under its labels has it behind the Service.
"""

from __future__ import annotations

import logging
from ipaddress import ip_network

from engine.api.errors import ApiError
from engine.api.types import SERVICES, Object
from engine.client import Client
from engine.tasks import Supervisor

log = logging.getLogger(__name__)

_NUMBER = 10  # its address's, in the range of Services (kubeadm constants.go GetDNSIP)
_NAMESPACE, _NAME = "kube-system", "kube-dns"
_LABELS = {"k8s-app": "kube-dns"}


class DnsAddon:
    """Makes the Service, at its own pace: nobody waits for it."""

    def __init__(self, client: Client, service_cidr: str) -> None:
        self._client = client
        self._range = ip_network(service_cidr, strict=False)
        self._tasks = Supervisor("kubeadm")

    async def start(self) -> None:
        if self._range.num_addresses > _NUMBER + 1:
            self._tasks.spawn(self._create(), "kube-dns")

    async def stop(self) -> None:
        await self._tasks.close()

    async def _create(self) -> None:
        try:
            if not await self._is_there():
                await self._client.create(SERVICES, dns_service(str(self._range[_NUMBER])), namespace=_NAMESPACE)
        except (ApiError, ConnectionError) as error:
            # Where another Service has its address, or the store is full, the cluster does without.
            log.warning("the Service kube-dns was not made: %s", error)

    async def _is_there(self) -> bool:
        """As after a restart. To create it again would be Invalid: its address is looked at before its name."""
        try:
            await self._client.get(SERVICES, _NAME, namespace=_NAMESPACE)
        except ApiError as error:
            if error.code != 404:
                raise
            return False
        return True


def dns_service(ip: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": _NAME,
            "namespace": _NAMESPACE,
            "labels": {**_LABELS, "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS"},
            "annotations": {
                "ktui.io/simulated": "Names are answered for on each node; no Pods of CoreDNS run.",
                "prometheus.io/port": "9153",
                "prometheus.io/scrape": "true",
            },
        },
        "spec": {
            "clusterIP": ip,
            "ports": [
                {"name": "dns", "protocol": "UDP", "port": 53, "targetPort": 53},
                {"name": "dns-tcp", "protocol": "TCP", "port": 53, "targetPort": 53},
                {"name": "metrics", "protocol": "TCP", "port": 9153, "targetPort": 9153},
            ],
            "selector": dict(_LABELS),
        },
    }
