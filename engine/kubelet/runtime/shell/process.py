"""What a simulated process is, and the machine that it sees.

A process is a generator: it yields the model seconds that it would sleep (FOREVER to block) and is resumed with None
when they have passed, or with the name of a signal that came first. It returns its exit code.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.kubelet.cri import Identity
from engine.kubelet.runtime.directories import Directories
from engine.kubelet.runtime.files import Files
from engine.kubelet.runtime.shell.processes import Processes

FOREVER = float("inf")

Process = Generator[float, str | None, int]
Sink = Callable[[str], None]


class OutOfMemoryError(Exception):
    """A process takes more memory than its container may have: the kernel kills all that runs in it."""


class Input:
    """A standard input that somebody writes to while the process runs.

    A process that waits for it yields FOREVER and looks again when it is resumed.
    """

    def __init__(self) -> None:
        self.closed = False
        self._text = ""
        self._ends = 0  # ends of file that a terminal has sent; each ends one read

    def feed(self, text: str) -> None:
        if not self.closed:
            self._text += text

    def end(self) -> None:
        """An end of file that does not close the input (Ctrl-D)."""
        self._ends += 1

    def close(self) -> None:
        self.closed = True

    def discard(self) -> None:
        self._text = ""

    def take(self) -> str:
        """All that has come."""
        text, self._text = self._text, ""
        return text

    def take_line(self) -> str | None:
        """A line with its newline, the rest at the end; None if there is none yet."""
        line, newline, rest = self._text.partition("\n")
        if not newline and not (line and (self.closed or self._ends)):
            return None
        self._text = rest
        return line + newline

    def ended(self) -> bool:
        """Whether a read that found nothing has come to the end."""
        if self._ends and not self._text:
            self._ends -= 1
            return True
        return self.closed


class Window(Protocol):
    """How large a terminal is; who has it may change that."""

    columns: int
    rows: int


@dataclass(slots=True)
class Io:
    """The three standard streams of one command; `stdin` is None where nothing is attached. An `input` that is still
    being written stands in place of `stdin`; `tty` says that it comes from a terminal; `watched` that a person reads
    what comes of it, as of an exec, and not only a kubelet. `window` is the terminal's that all three come from."""

    stdout: Sink
    stderr: Sink
    stdin: str | None = None
    input: Input | None = None
    tty: bool = False
    watched: bool = False
    window: Window | None = None


class DnsRecord(NamedTuple):
    name: str
    type: str
    data: str
    ttl: int


# NOERROR or another code, and the records: name, type, data and seconds to live of each.
DnsAnswer = tuple[str, Sequence[tuple[str, str, str, int]]]


class Network(Protocol):
    """What a process can ask of the pod's network."""

    def resolve(self, name: str) -> list[str]:
        """The addresses of a name; empty if it has none."""
        ...

    def query(self, name: str, type: str) -> DnsAnswer:
        """What the cluster's DNS answers to one question."""
        ...

    def full_name(self, name: str) -> str:
        """The name that was found by the search path; the name itself if none was."""
        ...

    def ask(self, address: str, port: int, data: bytes) -> bytes:
        """What is answered there; empty where data is, or where the server says nothing. Raises ConnectionRefusedError
        where nothing listens, TimeoutError where nothing comes back, OSError where no host has the address."""
        ...

    def pings(self, address: str) -> bool:
        """Whether an echo request is answered."""
        ...


class NoNetwork:
    """A pod that reaches nobody: no name resolves."""

    def resolve(self, name: str) -> list[str]:
        return []

    def query(self, name: str, type: str) -> DnsAnswer:
        return "NXDOMAIN", []

    def full_name(self, name: str) -> str:
        return name

    def ask(self, address: str, port: int, data: bytes) -> bytes:
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

    def pings(self, address: str) -> bool:
        return False


def _unlimited() -> int | None:
    return None


_DIRECTORIES = ("/", "/tmp", "/etc", "/var", "/var/log", "/dev", "/proc")


@dataclass(slots=True)
class Machine:
    """The container as its processes see it: name, time, files, network and which programs it has.

    `programs` is None where any program may be there (an image that the catalogue does not know).
    """

    hostname: str
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    env: dict[str, str] = field(default_factory=dict)
    files: Files = field(default_factory=lambda: Files(directories=_DIRECTORIES))  # text by absolute path
    network: Network = field(default_factory=NoNetwork)
    programs: frozenset[str] | None = None
    busybox: bool = False
    bare: bool = False  # no shell, no utilities: nothing but `programs`
    stdin_open: bool = False  # whether somebody holds the standard input open (stdin or tty of the container)
    listening: set[int] = field(default_factory=set)  # ports that its processes have opened
    serving: bool = False  # a server whose ports are not known has been started
    serves: str = ""  # which of agnhost's servers runs, and since when by `monotonic`
    serves_since: float = 0.0
    configuration: dict[str, str] = field(default_factory=dict)  # of its server, as that read it when it started
    address: str = "127.0.0.1"  # of the Pod
    image: str = ""  # its full reference
    memory_limit: Callable[[], int | None] = _unlimited
    cpus: int = 4  # of the node
    memory: int = 8 << 30  # bytes, of the node
    processes: Processes = field(default_factory=Processes)

    @property
    def directories(self) -> Directories:
        return self.files.directories

    @property
    def identity(self) -> Identity:
        """Whom its processes run as."""
        return self.files.identity

    def user_name(self, uid: int) -> str:
        """As /etc/passwd has it, the number where it does not."""
        return self._name_in("/etc/passwd", uid)

    def group_name(self, gid: int) -> str:
        return self._name_in("/etc/group", gid)

    def _name_in(self, database: str, number: int) -> str:
        if not number:
            return "root"
        rows = (line.split(":") for line in self.files.get(database, "").splitlines())
        return next((row[0] for row in rows if row[2:3] == [str(number)]), str(number))
