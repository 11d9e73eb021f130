"""Programs that are more than a utility: servers, sleepers, and binaries that only their image knows.

What is inside such a program is not simulated; how it behaves towards the kubelet is: whether it goes on for ever,
whether it handles SIGTERM, and with which exit code it goes.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from engine.api import simulated_stress
from engine.kubelet.runtime.shell import answers
from engine.kubelet.runtime.shell.process import FOREVER, Io, Machine, OutOfMemoryError, Process
from engine.kubelet.runtime.shell.processes import SIGNALS

# How much memory a process without bounds takes in a second of the model.
DEVOURED = 1024**3
NOT_FOUND = 127  # what a shell says of a program that it does not have


class Server(NamedTuple):
    """A program that runs until it is told to end. `exit_code` is what SIGTERM makes of it; None for a program that
    has no handler, which as process 1 is not ended by SIGTERM at all."""

    exit_code: int | None = 0
    ports: tuple[int, ...] = ()


SERVERS: dict[str, Server] = {
    "nginx": Server(0, (80,)),
    "httpd": Server(0, (80,)),
    "httpd-foreground": Server(0, (80,)),
    "apache2-foreground": Server(0, (80,)),
    "caddy": Server(0, (80, 443)),
    "haproxy": Server(0),
    "traefik": Server(0, (80,)),
    "envoy": Server(0),
    "redis-server": Server(0, (6379,)),
    "valkey-server": Server(0, (6379,)),
    "memcached": Server(0, (11211,)),
    "postgres": Server(0, (5432,)),
    "mysqld": Server(0, (3306,)),
    "mariadbd": Server(0, (3306,)),
    "mongod": Server(0, (27017,)),
    "rabbitmq-server": Server(0, (5672,)),
    "etcd": Server(0, (2379,)),
    "prometheus": Server(0, (9090,)),
    "grafana": Server(0, (3000,)),
    "vault": Server(0, (8200,)),
    "consul": Server(0, (8500,)),
    "pause": Server(0),
    "java": Server(143),
    "node": Server(None),
    "npm": Server(None),
    "gunicorn": Server(0),
    "uvicorn": Server(0),
    "http-echo": Server(0, (5678,)),
}
_INTERPRETERS = frozenset({"python", "python3", "perl", "ruby", "php"})


def block(*, first: bool = False) -> Process:
    """Wait for ever, with no handler for any signal."""
    return sleep(None, FOREVER, first=first)


def sleep(machine: Machine | None, seconds: float, *, first: bool) -> Process:
    """A sleeping process: as process 1 it sleeps on through SIGTERM, otherwise the signal ends it."""
    due = machine.monotonic() + seconds if machine is not None else FOREVER
    while True:
        remaining = due - machine.monotonic() if machine is not None else FOREVER
        if remaining <= 0:
            return 0
        signal = yield remaining
        if signal is not None and not first:
            return 128 + SIGNALS.get(signal, 15)


def devour(machine: Machine, amount: float = FOREVER, *, first: bool) -> Process:
    """Take memory, and then hold it; a limit that is less ends all that runs in the container."""
    begun = machine.monotonic()
    while True:
        limit = machine.memory_limit()
        due = begun + limit / DEVOURED if limit is not None and limit < amount else FOREVER
        if due <= machine.monotonic():
            raise OutOfMemoryError
        signal = yield due - machine.monotonic()
        if signal is not None and not first:
            return 128 + SIGNALS.get(signal, 15)


def serve(server: Server, *, first: bool) -> Process:
    while True:
        signal = yield FOREVER
        if signal is None:
            continue
        if server.exit_code is not None:
            return server.exit_code
        if not first:
            return 128 + SIGNALS.get(signal, 15)


def limited(machine: Machine, process: Process, seconds: float) -> Process:
    """`timeout`: end the process with 143 after a while; the exit code is then 124 (143 for busybox)."""
    due = machine.monotonic() + seconds
    try:
        wait = next(process)
        while True:
            until = machine.monotonic() + wait
            signal = yield min(wait, max(0.0, due - machine.monotonic()))
            if machine.monotonic() >= due and until > due:
                process.close()
                return 143 if machine.busybox else 124
            wait = process.send(signal)
    except StopIteration as end:
        return int(end.value or 0)


def run(machine: Machine, argv: list[str], io: Io, *, first: bool) -> int | Process:
    """A program that no utility stands for. A known server serves; a client or tool does its work and ends with 0, but
    tells a person who would see what it prints that it prints nothing; as process 1 of an image that the catalogue does
    not know it is taken for the image's server."""
    name = argv[0]
    answered = answers.answer(machine, argv, io)
    if answered is not None:
        return answered
    if name in simulated_stress.PROGRAMS:
        return devour(machine, simulated_stress.memory_of(argv[1:]), first=first)
    server = SERVERS.get(name)
    if server is not None and not _only_informs(argv):
        machine.listening.update(server.ports)
        machine.serving = True
        return serve(server, first=first)
    if name in _INTERPRETERS:
        return _interpreted(machine, argv, io, first=first)
    if first and machine.programs is None:
        machine.serving = True
        return serve(Server(0), first=True)
    return _done(name, io)


def _done(name: str, io: Io) -> int:
    """It has run, for all that anybody can see; whoever waits for its output is not left to think so."""
    if not io.watched:
        return 0
    io.stderr(f"{name}: not found (ktui does not simulate what this program does)\n")
    return NOT_FOUND


def _only_informs(argv: list[str]) -> bool:
    return any(argument in ("--version", "-v", "-V", "--help", "-t", "version", "-version") for argument in argv[1:2])


def _is_one_liner(argv: list[str]) -> bool:
    """Whether an interpreter is given its script as an argument, behind other options maybe, or tells of itself."""
    options = itertools.takewhile(lambda word: word.startswith("-"), argv[1:])
    letters = "eE" if argv[0] in ("perl", "ruby") else "cr"
    return any(
        word in ("-V", "--version") or (word[1:].isalnum() and word[1] not in "MI" and word[-1] in letters)
        for word in options
    )


def _interpreted(machine: Machine, argv: list[str], io: Io, *, first: bool) -> int | Process:
    """python -m http.server and scripts serve, one-liners (`-c`, `-e`) end; without arguments it reads its input."""
    if argv[1:3] == ["-m", "http.server"]:
        machine.listening.add(int(argv[3]) if len(argv) > 3 and argv[3].isdigit() else 8000)
        return serve(Server(None), first=first)
    if len(argv) == 1:
        return block(first=first) if machine.stdin_open and not io.watched else _done(argv[0], io)
    if _is_one_liner(argv):
        return _done(argv[0], io)
    machine.serving = True
    return serve(Server(None), first=first)
