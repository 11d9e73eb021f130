"""What the programs of well-known images print when they are asked something: their version, whether their
configuration is right, whether their server is alive. What their servers would keep is not simulated, and they say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from getopt import GetoptError, getopt

from engine.kubelet.runtime.shell import perl, redis
from engine.kubelet.runtime.shell.process import Io, Machine, Process
from engine.kubelet.runtime.shell.reach import listens
from engine.kubelet.runtime.versions import version_of

Answer = Callable[[Machine, list[str], Io], int | Process | None]
_NGINX_CONF = "/etc/nginx/nginx.conf"


def answer(machine: Machine, argv: list[str], io: Io) -> int | Process | None:
    """The exit code of a program that answered, or the process that will; None for one that does not, or was asked
    nothing that is known."""
    known = _ANSWERS.get(argv[0])
    return known(machine, argv[1:], io) if known is not None else None


def _nginx(machine: Machine, words: list[str], io: Io) -> int | None:
    version = f"nginx version: nginx/{version_of('nginx', machine.image)}\n"
    checked = (
        f"nginx: the configuration file {_NGINX_CONF} syntax is ok\n"
        f"nginx: configuration file {_NGINX_CONF} test is successful\n"
    )
    if words[:1] == ["-v"]:
        io.stderr(version)
    elif words[:1] == ["-V"]:
        built = "built with OpenSSL 3.5.1 1 Jul 2025\nTLS SNI support enabled\nconfigure arguments: "
        places = f"--prefix=/etc/nginx --sbin-path=/usr/sbin/nginx --conf-path={_NGINX_CONF}"
        io.stderr(f"{version}{built}{places} --user=nginx --group=nginx\n")
    elif words[:1] in (["-t"], ["-T"]):
        io.stderr(checked)
        if words[0] == "-T":
            names = [_NGINX_CONF, *sorted(name for name in machine.files if name.startswith("/etc/nginx/conf.d/"))]
            io.stdout("".join(f"# configuration file {name}:\n{machine.files.get(name, '')}\n" for name in names))
    elif words[:1] == ["-s"]:
        io.stderr(f"{machine.now():%Y/%m/%d %H:%M:%S} [notice] 37#37: signal process started\n")
        if words[1:2] in (["stop"], ["quit"]):
            machine.processes.signal(1, "TERM" if words[1] == "stop" else "QUIT")
    else:
        return None
    return 0


def _redis_server(machine: Machine, words: list[str], io: Io) -> int | None:
    if words[:1] not in (["--version"], ["-v"]):
        redis.configure(machine, words)
        return None
    version = version_of("redis", machine.image)
    io.stdout(f"Redis server v={version} sha=00000000:1 malloc=jemalloc-5.3.0 bits=64 build=0\n")
    return 0


def _pg_isready(machine: Machine, words: list[str], io: Io) -> int | None:
    try:
        options, _ = getopt(words, "h:p:U:d:t:q", ["host=", "port=", "username=", "dbname=", "timeout=", "quiet"])
    except GetoptError:
        return 3
    given = dict(options)
    host = given.get("-h", given.get("--host", ""))
    port = given.get("-p", given.get("--port", "5432"))
    answers = port.isdigit() and listens(machine, host or "127.0.0.1", int(port))
    if "-q" not in given and "--quiet" not in given:
        state = "accepting connections" if answers else "no response"
        io.stdout(f"{host or '/var/run/postgresql'}:{port} - {state}\n")
    return 0 if answers else 2


def _versions(form: str, software: str) -> Answer:
    """A program that tells its version, and is asked nothing else."""

    def told(machine: Machine, words: list[str], io: Io) -> int | None:
        if words[:1] not in (["--version"], ["-V"], ["-v"]):
            return None
        io.stdout(form.format(version_of(software, machine.image)) + "\n")
        return 0

    return told


_ANSWERS: Mapping[str, Answer] = {
    "nginx": _nginx,
    "redis-cli": redis.cli,
    "valkey-cli": redis.cli,
    "redis-server": _redis_server,
    "valkey-server": _redis_server,
    "perl": perl.answer,
    "pg_isready": _pg_isready,
    "postgres": _versions("postgres (PostgreSQL) {}", "postgres"),
    "psql": _versions("psql (PostgreSQL) {}", "postgres"),
}
