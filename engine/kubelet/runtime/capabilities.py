"""What the processes of a container may do, as the kernel shows it in `/proc/PID/status` (capabilities(7))."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import Object

# In the kernel's order: the number of each is its bit.
_ORDER = """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN
SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"""
_BITS = {name: 1 << number for number, name in enumerate(_ORDER.split())}
# What containerd gives a container that says nothing (pkg/oci spec.go).
_DEFAULT = """CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT
KILL AUDIT_WRITE"""
_ALL = "ALL"


def bounding(capabilities: Object, *, privileged: bool) -> int:
    """The set that `securityContext.capabilities` makes: ALL counts first, then what is added, then what is dropped."""
    if privileged:
        return _set(_BITS)
    added, dropped = ([_name(each) for each in capabilities.get(field) or ()] for field in ("add", "drop"))
    found = _set(_BITS if _ALL in added else _DEFAULT.split())
    if _ALL in dropped:
        found = 0
    return (found | _set(added)) & ~_set(dropped)


def _name(name: str) -> str:
    return name.upper().removeprefix("CAP_")


def _set(names: Iterable[str]) -> int:
    return sum(_BITS.get(name, 0) for name in dict.fromkeys(names))
