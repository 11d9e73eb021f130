"""What the kernel shows a container: its processes below /proc, its node's memory, and its limits below /sys/fs/cgroup.

Nothing of it is stored: it is made when somebody reads it. Source: proc(5), cgroup v2's documentation; `cpu.max` and
`memory.max` are what runc makes of the limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine.api.quantity import Quantity
from engine.disks import MEMORY
from engine.kubelet import kernel
from engine.kubelet.cri import USERS, ContainerConfig
from engine.kubelet.runtime import capabilities

if TYPE_CHECKING:
    from engine.kubelet.runtime.shell.process import Machine

_CGROUP = "/sys/fs/cgroup"
_PREFIXES = ("/proc/", f"{_CGROUP}/")
_OF_A_PROCESS = re.compile(r"/proc/(\d+|self)/(?:root(/.*)|(\w+))")
_PERIOD = 100_000  # microseconds, in which a quota of the CPU counts
_ALL_USERS = 2**32 - 1
_READER = "cat"  # who most often looks at itself


class KernelFiles:
    """Of one container. `config` gives what it was made with, limits as they are by now."""

    def __init__(self, machine: Machine, config: Callable[[], ContainerConfig]) -> None:
        self._machine = machine
        self._config = config

    def read(self, path: str) -> str | None:
        """None for what is no file of the kernel's."""
        if not path.startswith(_PREFIXES):
            return None
        if made := _FILES.get(path):
            return made(self)
        match = _OF_A_PROCESS.fullmatch(path)
        return None if match is None else self._of_process(match[1], match[2], match[3])

    def paths(self) -> Iterator[str]:
        yield from _FILES
        yield from (f"/proc/self/{name}" for name in _PROCESS_FILES)
        processes = self._machine.processes
        for pid, _ in processes:
            yield from (f"/proc/{pid}/{name}" for name in _PROCESS_FILES)
            root = processes.root(pid)
            if root is not None and root is not self._machine.files:  # of another container of the Pod
                yield from (f"/proc/{pid}/root{path}" for path in root.stored())

    def _of_process(self, pid: str, inside: str | None, name: str | None) -> str | None:
        processes = self._machine.processes
        number = processes.last + 1 if pid == "self" else int(pid)
        argv = [_READER] if pid == "self" else processes.argv(number)
        if argv is None:
            return None
        if inside is not None:
            root = processes.root(number) or self._machine.files
            return root.get(inside)
        made = _PROCESS_FILES.get(name or "")
        return None if made is None else made(self, number, argv)

    # -- of a process

    def _status(self, pid: int, argv: list[str]) -> str:
        config, who = self._config(), self._machine.identity
        bound = capabilities.bounding(config.capabilities, privileged=config.privileged)
        held = 0 if who.uid else bound  # who is not root is given none by an exec
        ids = "\t".join([str(who.uid)] * 4), "\t".join([str(who.gid)] * 4)
        rows = {
            "Name": _command(argv), "Umask": "0022", "State": "S (sleeping)", "Tgid": pid, "Ngid": 0, "Pid": pid,
            "PPid": 0, "TracerPid": 0, "Uid": ids[0], "Gid": ids[1], "FDSize": 64,
            "Groups": "".join(f"{group} " for group in who.all_groups), "NSpid": pid,
            "VmSize": "    4400 kB", "VmRSS": "    1600 kB", "Threads": 1,
            "CapInh": _mask(0), "CapPrm": _mask(held), "CapEff": _mask(held), "CapBnd": _mask(bound),
            "CapAmb": _mask(0), "NoNewPrivs": int(config.no_new_privileges),
            "Seccomp": 2 if config.seccomp else 0, "Seccomp_filters": int(config.seccomp),
        }  # fmt: skip
        return "".join(f"{name}:\t{value}\n" for name, value in rows.items())

    def _user_map(self, pid: int, argv: list[str]) -> str:
        first = self._config().first_user
        return f"{0:>10} {first:>10} {USERS if first else _ALL_USERS:>10}\n"

    def _cmdline(self, pid: int, argv: list[str]) -> str:
        return "".join(f"{word}\0" for word in argv)

    def _environ(self, pid: int, argv: list[str]) -> str:
        return "".join(f"{name}={value}\0" for name, value in self._machine.env.items())

    def _mounts(self, pid: int = 0, argv: list[str] | None = None) -> str:
        rows = (f"{device} {path} {kind} {'ro' if read_only else 'rw'},relatime 0 0\n"
                for device, path, kind, read_only in mounts_of(self._machine))  # fmt: skip
        return "".join(rows)

    # -- of the node

    def _meminfo(self) -> str:
        total = self._machine.memory >> 10
        taken, cached = total // 8, total // 16
        rows = {"MemTotal": total, "MemFree": total - taken, "MemAvailable": total - taken + cached,
                "Buffers": cached // 8, "Cached": cached, "SwapTotal": 0, "SwapFree": 0}  # fmt: skip
        return "".join(f"{f'{name}:':<16}{value:>8} kB\n" for name, value in rows.items())

    def _version(self) -> str:
        return f"Linux version {kernel.RELEASE} ({kernel.VERSION})\n"

    def _loadavg(self) -> str:
        processes = self._machine.processes
        return f"0.00 0.00 0.00 1/{len(processes)} {processes.last}\n"

    def _uptime(self) -> str:
        seconds = self._machine.monotonic()
        return f"{seconds:.2f} {seconds:.2f}\n"

    # -- of its control group

    def _limit(self, resource: str) -> Quantity | None:
        amount = (self._config().resources.get("limits") or {}).get(resource)
        return None if amount is None else Quantity.parse(str(amount))

    def _memory_max(self) -> str:
        limit = self._limit("memory")
        return f"{'max' if limit is None else limit.value}\n"

    def _cpu_max(self) -> str:
        limit = self._limit("cpu")
        quota = "max" if limit is None else max(limit.milli * _PERIOD // 1000, 1000)
        return f"{quota} {_PERIOD}\n"


def mounts_of(machine: Machine) -> list[tuple[str, str, str, bool]]:
    """Device, path, kind, and whether it is read-only."""
    rows = [("overlay", "/", "overlay", machine.files.read_only), *_STANDARD]
    for mounted in sorted(machine.files.mounts, key=lambda mounted: mounted.path):
        tmpfs = mounted.volume.medium == MEMORY
        rows.append(("tmpfs" if tmpfs else "/dev/vda1", mounted.path, "tmpfs" if tmpfs else "ext4", mounted.read_only))
    return rows


_STANDARD = [
    ("proc", "/proc", "proc", False),
    ("tmpfs", "/dev", "tmpfs", False),
    ("sysfs", "/sys", "sysfs", True),
    ("shm", "/dev/shm", "tmpfs", False),
]


def _command(argv: list[str]) -> str:
    return (argv[0] if argv else "").rpartition("/")[2][:15]


def _mask(held: int) -> str:
    return f"{held:016x}"


_PROCESS_FILES: dict[str, Callable[[KernelFiles, int, list[str]], str]] = {
    "cgroup": lambda files, pid, argv: "0::/\n",
    "cmdline": KernelFiles._cmdline,
    "comm": lambda files, pid, argv: f"{_command(argv)}\n",
    "environ": KernelFiles._environ,
    "gid_map": KernelFiles._user_map,
    "mounts": KernelFiles._mounts,
    "status": KernelFiles._status,
    "uid_map": KernelFiles._user_map,
}
_FILES: dict[str, Callable[[KernelFiles], str]] = {
    "/proc/loadavg": KernelFiles._loadavg,
    "/proc/meminfo": KernelFiles._meminfo,
    "/proc/mounts": KernelFiles._mounts,
    "/proc/uptime": KernelFiles._uptime,
    "/proc/version": KernelFiles._version,
    f"{_CGROUP}/cgroup.controllers": lambda files: "cpuset cpu io memory hugetlb pids rdma misc\n",
    f"{_CGROUP}/cpu.max": KernelFiles._cpu_max,
    f"{_CGROUP}/memory.max": KernelFiles._memory_max,
}
