"""What the entrypoints of well-known images do before their server runs: databases refuse to start without a word about
the superuser's password, and servers tell of their start in the log (docker-library's docker-entrypoint.sh files).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from engine.kubelet import kernel
from engine.kubelet.runtime.shell.process import Machine
from engine.kubelet.runtime.versions import version_of

# One of these variables must be set (with _FILE behind it, if the value stands in a file).
_POSTGRES = ("POSTGRES_PASSWORD", "POSTGRES_PASSWORD_FILE")
_MYSQL = ("ROOT_PASSWORD", "ROOT_PASSWORD_FILE", "ALLOW_EMPTY_PASSWORD", "RANDOM_ROOT_PASSWORD")
_MARIADB = ("ROOT_PASSWORD", "ROOT_PASSWORD_FILE", "ROOT_PASSWORD_HASH", "ROOT_PASSWORD_HASH_FILE",
            "ALLOW_EMPTY_ROOT_PASSWORD", "ALLOW_EMPTY_PASSWORD", "RANDOM_ROOT_PASSWORD")  # fmt: skip

_NO_POSTGRES = """Error: Database is uninitialized and superuser password is not specified.
       You must specify POSTGRES_PASSWORD to a non-empty value for the
       superuser. For example, "-e POSTGRES_PASSWORD=password" on "docker run".

       You may also use "POSTGRES_HOST_AUTH_METHOD=trust" to allow all
       connections without a password. This is *not* recommended.

       See PostgreSQL documentation about "trust":
       https://www.postgresql.org/docs/current/auth-trust.html
"""
_NO_MYSQL = """[ERROR] [Entrypoint]: Database is uninitialized and password option is not specified
    You need to specify one of the following as an environment variable:
    - MYSQL_ROOT_PASSWORD
    - MYSQL_ALLOW_EMPTY_PASSWORD
    - MYSQL_RANDOM_ROOT_PASSWORD
"""
_NO_MARIADB = (
    "[ERROR] [Entrypoint]: Database is uninitialized and password option is not specified\n"
    "\tYou need to specify one of MARIADB_ROOT_PASSWORD, MARIADB_ROOT_PASSWORD_HASH, "
    "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD and MARIADB_RANDOM_ROOT_PASSWORD\n"
)


def refusal(program: str, machine: Machine) -> str:
    """What the entrypoint of a database says when it refuses to make one; empty where it goes on."""
    check = _CHECKS.get(program)
    return check(machine) if check is not None else ""


def _postgres(machine: Machine) -> str:
    env = machine.env
    trusted = env.get("POSTGRES_HOST_AUTH_METHOD") == "trust"
    folder = env.get("PGDATA", "/var/lib/postgresql/data")
    if trusted or _any(env, _POSTGRES) or f"{folder}/PG_VERSION" in machine.files:
        return ""
    return _NO_POSTGRES


def _mysql(machine: Machine) -> str:
    return "" if _any(machine.env, [f"MYSQL_{name}" for name in _MYSQL]) else _entrypoint(machine, "MySQL", _NO_MYSQL)


def _mariadb(machine: Machine) -> str:
    names = [f"{prefix}_{name}" for prefix in ("MARIADB", "MYSQL") for name in _MARIADB]
    return "" if _any(machine.env, names) else _entrypoint(machine, "MariaDB", _NO_MARIADB)


def _entrypoint(machine: Machine, product: str, words: str) -> str:
    """Both tell of themselves first."""
    stamp = f"{machine.now():%Y-%m-%d %H:%M:%S}+00:00"
    version = version_of(product.lower(), machine.image)
    user = "mysql"
    return (
        f"{stamp} [Note] [Entrypoint]: Entrypoint script for {product} Server {version} started.\n"
        f"{stamp} [Note] [Entrypoint]: Switching to dedicated user '{user}'\n"
        f"{stamp} [Note] [Entrypoint]: Entrypoint script for {product} Server {version} started.\n"
        f"{stamp} {words}"
    )


def _any(env: Mapping[str, str], names: tuple[str, ...] | list[str]) -> bool:
    return any(env.get(name) for name in names)


_CHECKS: Mapping[str, Callable[[Machine], str]] = {"postgres": _postgres, "mysqld": _mysql, "mariadbd": _mariadb}


# -- the first lines of logs

Told = Callable[[], list[tuple[str, str]]]  # stream and line


def startup(program: str, machine: Machine, *, by_entrypoint: bool) -> Told | None:
    """What a server writes to its log when it starts, to be called when somebody reads it; None for one that is not
    known. `by_entrypoint` says that the image's entrypoint ran it."""
    lines = _STARTS.get(program)
    return None if lines is None else partial(lines, machine.image, machine.now(), by_entrypoint)


def _nginx(image: str, now: datetime, by_entrypoint: bool) -> list[tuple[str, str]]:
    script, folder = "/docker-entrypoint.sh:", "/docker-entrypoint.d"
    ipv6 = "10-listen-on-ipv6-by-default.sh"
    before = [
        f"{script} {folder}/ is not empty, will attempt to perform configuration",
        f"{script} Looking for shell scripts in {folder}/",
        f"{script} Launching {folder}/{ipv6}",
        f"{ipv6}: info: Getting the checksum of /etc/nginx/conf.d/default.conf",
        f"{ipv6}: info: Enabled listen on IPv6 in /etc/nginx/conf.d/default.conf",
        f"{script} Sourcing {folder}/15-local-resolvers.envsh",
        f"{script} Launching {folder}/20-envsubst-on-templates.sh",
        f"{script} Launching {folder}/30-tune-worker-processes.sh",
        f"{script} Configuration complete; ready for start up",
    ]
    notices = [
        'using the "epoll" event method',
        f"nginx/{version_of('nginx', image)}",
        f"OS: Linux {kernel.RELEASE}",
        "getrlimit(RLIMIT_NOFILE): 1048576:1048576",
        "start worker processes",
        "start worker process 29",
    ]
    stamp = f"{now:%Y/%m/%d %H:%M:%S} [notice] 1#1:"
    return [
        *(("stdout", line) for line in before if by_entrypoint),
        *(("stderr", f"{stamp} {notice}") for notice in notices),
    ]


def _redis(image: str, now: datetime, by_entrypoint: bool) -> list[tuple[str, str]]:
    stamp = f"{now:%d %b %Y %H:%M:%S}.{now.microsecond // 1000:03d}"
    starting = [
        "* oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
        f"* Redis version={version_of('redis', image)}, bits=64, commit=00000000, modified=0, pid=1, just started",
        "# Warning: no config file specified, using the default config. In order to specify a config file use "
        "redis-server /path/to/redis.conf",
    ]
    running = [
        "* monotonic clock: POSIX clock_gettime",
        "* Running mode=standalone, port=6379.",
        "* Server initialized",
        "* Ready to accept connections tcp",
    ]
    return [
        ("stdout", f"1:{role} {stamp} {line}") for role, lines in (("C", starting), ("M", running)) for line in lines
    ]


def _started_postgres(image: str, now: datetime, by_entrypoint: bool) -> list[tuple[str, str]]:
    stamp = f"{now:%Y-%m-%d %H:%M:%S}.{now.microsecond // 1000:03d} UTC"
    version = version_of("postgres", image)
    lines = [
        f"[1] LOG:  starting PostgreSQL {version} on x86_64-pc-linux-gnu, 64-bit",
        '[1] LOG:  listening on IPv4 address "0.0.0.0", port 5432',
        '[1] LOG:  listening on IPv6 address "::", port 5432',
        '[1] LOG:  listening on Unix socket "/var/run/postgresql/.s.PGSQL.5432"',
        f"[29] LOG:  database system was shut down at {now:%Y-%m-%d %H:%M:%S} UTC",
        "[1] LOG:  database system is ready to accept connections",
    ]
    made = ["", "PostgreSQL init process complete; ready for start up.", ""] if by_entrypoint else []
    return [*(("stdout", line) for line in made), *(("stderr", f"{stamp} {line}") for line in lines)]


_STARTS: Mapping[str, Callable[[str, datetime, bool], list[tuple[str, str]]]] = {
    "nginx": _nginx,
    "redis-server": _redis,
    "postgres": _started_postgres,
}
