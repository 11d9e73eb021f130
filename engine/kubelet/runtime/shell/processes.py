"""The processes of one PID namespace, by their ids: a container's own, those of a whole Pod (`shareProcessNamespace`),
or of the container that an ephemeral one debugs (`targetContainerName`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.kubelet.runtime.files import Files

Taker = Callable[[str], None]  # takes a signal by its name, as in TERM
# What a signal that ends a process adds to 128.
SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "TERM": 15}
STEP = 6  # between two ids: what else is started now and then takes some

_NUMBERS = {str(number): name for name, number in SIGNALS.items()}


class Processes:
    def __init__(self) -> None:
        self.last = 1 - STEP
        self._found: dict[int, tuple[tuple[str, ...], Taker | None, Files | None]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Ids and command lines, in order."""
        return ((pid, " ".join(self._found[pid][0])) for pid in sorted(self._found))

    def argv(self, pid: int) -> list[str] | None:
        """The words of its command line; None if there is no such process."""
        found = self._found.get(pid)
        return None if found is None else list(found[0])

    def root(self, pid: int) -> Files | None:
        """The files that it sees; None if that was not told."""
        found = self._found.get(pid)
        return None if found is None else found[2]

    def enter(self, argv: Sequence[str], take: Taker | None = None, root: Files | None = None) -> int:
        """One begins; the first is 1. `take` delivers a signal to it, once its sender has had its turn."""
        self.last += STEP
        self._found[self.last] = (tuple(argv), take, root)
        return self.last

    def leave(self, pid: int) -> None:
        self._found.pop(pid, None)

    def signal(self, pid: int, name: str) -> bool:
        """Whether there is such a process. From inside its namespace nobody kills process 1 (pid_namespaces(7))."""
        found = self._found.get(pid)
        if found is None:
            return False
        take = found[1]
        if take is not None and name in SIGNALS and (pid, name) != (1, "KILL"):
            take(name)
        return True


def asked(argv: Sequence[str]) -> tuple[str, list[str]]:
    """The signal's name and the ids of `kill [-s NAME | -NAME | -NUMBER] PID...`."""
    name, pids, words = "TERM", list[str](), list(argv[1:])
    while words:
        word = words.pop(0)
        if word in ("-s", "-n") and words:
            name = words.pop(0)
        elif word.startswith("-") and word != "--":
            name = word[1:]
        elif word != "--":
            pids.append(word)
    name = name.upper().removeprefix("SIG")
    return _NUMBERS.get(name, name), pids
