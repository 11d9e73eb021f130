"""The kernel that every simulated node runs: what its Node object says, and what `uname` says in its containers."""

from __future__ import annotations

RELEASE = "6.12.0-simulated"
VERSION = "#1 SMP PREEMPT_DYNAMIC"
# What containers find under /proc/sys where their Pod does not say otherwise.
SYSCTLS = {
    "fs.file-max": "9223372036854775807",
    "kernel.msgmax": "8192",
    "kernel.msgmnb": "16384",
    "kernel.sem": "32000\t1024000000\t500\t32000",
    "kernel.shm_rmid_forced": "0",
    "kernel.shmmax": "18446744073692774399",
    "net.core.somaxconn": "4096",
    "net.ipv4.ip_forward": "1",
    "net.ipv4.ip_local_port_range": "32768\t60999",
    "net.ipv4.ip_local_reserved_ports": "",
    "net.ipv4.ip_unprivileged_port_start": "0",
    "net.ipv4.ping_group_range": "0\t2147483647",
    "net.ipv4.tcp_fin_timeout": "60",
    "net.ipv4.tcp_keepalive_intvl": "75",
    "net.ipv4.tcp_keepalive_probes": "9",
    "net.ipv4.tcp_keepalive_time": "7200",
    "net.ipv4.tcp_syncookies": "1",
    "vm.max_map_count": "1048576",
    "vm.overcommit_memory": "1",
}


def sysctl_path(name: str) -> str:
    """Where a parameter is; names are written with dots or with slashes."""
    return "/proc/sys/" + (name if "/" in name.partition(".")[0] else name.replace(".", "/"))
