"""What a hostPath's `type` asks of the node: that something of the kind is there, or is made (pkg/volume/hostpath
host_path.go checkType). Without a type nothing is asked, and the container runtime makes what it does not find.
"""

from __future__ import annotations

import posixpath

from engine.api.types import Object
from engine.disks import Volume
from engine.kubelet.kuberuntime.errors import ConfigError

DIRECTORY, FILE, SOCKET, CHAR_DEVICE, BLOCK_DEVICE = "Directory", "File", "Socket", "CharDevice", "BlockDevice"
_OR_CREATE = "OrCreate"
_KINDS = {
    DIRECTORY: "directory",
    FILE: "file",
    SOCKET: "socket file",
    CHAR_DEVICE: "character device",
    BLOCK_DEVICE: "block device",
}
# What a node has that is neither: the runtime's socket, the kernel's devices and the disk.
_OTHERS = {
    "run/containerd/containerd.sock": SOCKET,
    **{f"dev/{name}": CHAR_DEVICE for name in (
        "console", "full", "fuse", "kmsg", "net/tun", "null", "ptmx", "random", "tty", "urandom", "zero")},
    "dev/vda": BLOCK_DEVICE,
    "dev/vda1": BLOCK_DEVICE,
}  # fmt: skip


def within(path: str) -> str:
    """Where a path of the node is below its root; /var/run is /run by another name."""
    inside = posixpath.normpath(path).lstrip("/")
    return inside.removeprefix("var/") if f"{inside}/".startswith("var/run/") else inside


def check(root: Volume, source: Object) -> None:
    """Hold a hostPath source against the node's file system, and make what it may make. Raises ConfigError."""
    path, wanted = source["path"], source.get("type") or ""
    if not wanted:
        return
    inside, kind = within(path), wanted.removesuffix(_OR_CREATE)
    found = _kind_of(root, inside)
    if found is None and wanted.endswith(_OR_CREATE):
        _make(root, inside, kind)
    elif found is None:
        raise ConfigError(f"hostPath {path} doesn't exist")
    elif found != kind:
        raise ConfigError(f"hostPath type check failed: {path} is not a {_KINDS[kind]}, it's a {found}")


def _kind_of(root: Volume, inside: str) -> str | None:
    if inside in _OTHERS:
        return _OTHERS[inside]
    if inside in root:
        return FILE
    below = f"{inside}/"
    if not inside or inside in root.directories or any(name.startswith(below) for name in (*root, *_OTHERS)):
        return DIRECTORY
    return None


def _make(root: Volume, inside: str, kind: str) -> None:
    """Directories with those above them, a file alone."""
    above = posixpath.dirname(inside)
    blocking = _blocked(root, above)
    if kind == DIRECTORY:
        if blocking:
            raise ConfigError(f"mkdir /{blocking}: not a directory")
        root.make_directory(inside)
    elif blocking:
        raise ConfigError(f"open /{inside}: not a directory")
    elif _kind_of(root, above) is None:
        raise ConfigError(f"open /{inside}: no such file or directory")
    else:
        root[inside] = ""


def _blocked(root: Volume, inside: str) -> str:
    """What of the path is there, and no directory; empty if nothing is."""
    while inside and _kind_of(root, inside) is None:
        inside = posixpath.dirname(inside)
    return inside if _kind_of(root, inside) != DIRECTORY else ""
