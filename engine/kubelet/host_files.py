"""What is on a node's own file system, for who mounts a part of it (`hostPath`), as `kubectl debug node/NAME` does.

A simulated node has the tree of its distribution (the Node's `status.nodeInfo.osImage`), who it is, and where a kubelet
and a container runtime keep what is theirs. Their files are not there: the simulated ones keep nothing on a disk.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.disks import Volume
from engine.kubelet.runtime.image_files import tree_of

_DIRECTORIES = (
    "/etc/cni/net.d",
    "/etc/containerd",
    "/etc/kubernetes/manifests",
    "/etc/ssl/certs",
    "/lib/modules",
    "/opt/cni/bin",
    "/run/containerd",
    "/sys/fs/bpf",
    "/sys/fs/cgroup",
    "/var/lib/containerd",
    "/var/lib/kubelet/device-plugins",
    "/var/lib/kubelet/plugins",
    "/var/lib/kubelet/plugins_registry",
    "/var/lib/kubelet/pods",
    "/var/log/containers",
    "/var/log/pods",
)
_HOSTS = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
_MODES = {"tmp": 0o1777, "var/tmp": 0o1777, "root": 0o700}


def furnish(volume: Volume, node_name: str, node: Object | None) -> None:
    """Make an empty volume the root of a node."""
    tree = tree_of("debian", busybox=False)
    for path in sorted((*tree.directories, *_DIRECTORIES)):
        volume.make_directory(path.lstrip("/"))
    volume.update({path.lstrip("/"): text for path, text in tree.files.items()})
    volume["etc/hostname"] = f"{node_name}\n"
    volume["etc/hosts"] = _HOSTS + _own_lines(node_name, node)
    volume["etc/machine-id"] = f"{(_status(node).get('nodeInfo') or {}).get('machineID', '')}\n"
    volume.modes.update(_MODES)


def _status(node: Object | None) -> Object:
    status: Object = (node or {}).get("status") or {}
    return status


def _own_lines(node_name: str, node: Object | None) -> str:
    addresses = _status(node).get("addresses") or ()
    return "".join(f"{each['address']}\t{node_name}\n" for each in addresses if each["type"] == "InternalIP")
