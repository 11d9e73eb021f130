"""/etc/hosts and /etc/resolv.conf of a Pod's containers (kubelet_pods.go ensureHostsFile; pkg/kubelet/network/dns)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object
from engine.kubelet import pods

CLUSTER_DOMAIN = "cluster.local"
CLUSTER_DNS = "10.96.0.10"
# What the simulated machine itself asks.
NODE_NAMESERVER = "172.18.0.1"
MAX_NAMESERVERS = 3
_MANAGED = "# Kubernetes-managed hosts file.\n"
_MANAGED_OF_HOST = "# Kubernetes-managed hosts file (host network).\n"
_LOCAL = (
    "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n"
)


def hosts_file(pod: Object, hostname: str, ips: Sequence[str]) -> str:
    if pods.host_network(pod):
        text = _MANAGED_OF_HOST + "127.0.0.1\tlocalhost\n"
    else:
        subdomain = pod["spec"].get("subdomain")
        domain = f"{subdomain}.{pods.namespace_of(pod)}.svc.{CLUSTER_DOMAIN}" if subdomain else ""
        names = f"{hostname}.{domain}\t{hostname}" if domain else hostname
        text = _MANAGED + _LOCAL + "".join(f"{ip}\t{names}\n" for ip in ips)
    aliases = pod["spec"].get("hostAliases") or ()
    if not aliases:
        return text
    lines = (f"{alias['ip']}\t" + "\t".join(alias.get("hostnames") or ()) + "\n" for alias in aliases)
    return f"{text}\n# Entries added by HostAliases.\n{''.join(lines)}"


def resolv_conf(pod: Object) -> str:
    """What the policy gives, and what the Pod's own dnsConfig adds to it."""
    servers, searches, options = _by_policy(pod)
    own = pod["spec"].get("dnsConfig") or {}
    servers = list(dict.fromkeys([*servers, *(own.get("nameservers") or ())]))[:MAX_NAMESERVERS]
    searches = list(dict.fromkeys([*searches, *(own.get("searches") or ())]))
    for option in own.get("options") or ():
        options[option["name"]] = option.get("value") or ""
    text = "".join(f"nameserver {server}\n" for server in servers)
    if searches:
        text = f"search {' '.join(searches)}\n{text}"
    if options:
        text += "options " + " ".join(f"{name}:{value}" if value else name for name, value in options.items()) + "\n"
    return text


def _by_policy(pod: Object) -> tuple[list[str], list[str], dict[str, str]]:
    policy = pod["spec"].get("dnsPolicy") or "ClusterFirst"
    if policy == "None":
        return [], [], {}
    if policy == "Default" or (policy == "ClusterFirst" and pods.host_network(pod)):
        return [NODE_NAMESERVER], [], {}
    service = f"svc.{CLUSTER_DOMAIN}"
    return [CLUSTER_DNS], [f"{pods.namespace_of(pod)}.{service}", service, CLUSTER_DOMAIN], {"ndots": "5"}
