"""What is known of images: their size, what they run by default, and how that behaves.

Sizes of well-known images are those that registries report for linux/amd64 (compressed), rounded to 100 kB. The size of
any other image is drawn from its name, always the same for the same name, and marked as simulated.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from engine.kubelet.runtime.reference import Reference

_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class ImageProfile:
    """`entrypoint` and `cmd` are the image's own; `programs` what it has beside the usual utilities (None: unknown).

    `paths` are the only ones that its web server answers without configuration of its own (empty: any). One that is
    `bare` has neither a shell nor utilities (FROM scratch, distroless).
    """

    size: int
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    programs: frozenset[str] | None = None
    busybox: bool = False
    uid: int = 0
    ports: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    output: str = ""
    simulated: bool = False
    bare: bool = False


def _server(
    size: float,
    program: str,
    *tools: str,
    cmd: tuple[str, ...] = (),
    ports: tuple[int, ...] = (),
    uid: int = 0,
    paths: tuple[str, ...] = (),
    bare: bool = False,
) -> ImageProfile:
    programs = frozenset({program, *tools})
    return ImageProfile(int(size * _MB), (), (program, *cmd), programs, uid=uid, ports=ports, paths=paths, bare=bare)


def _base(size: float, shell: str, *tools: str, busybox: bool = False) -> ImageProfile:
    return ImageProfile(int(size * _MB), (), (shell,), frozenset({shell, *tools}), busybox=busybox)


_NGINX_PATHS = ("/", "/index.html", "/50x.html")
_PYTHON = ("ps", "top", "python", "python3", "pip", "gunicorn", "uvicorn")

CATALOG: dict[str, ImageProfile] = {
    "nginx": _server(72.0, "nginx", "nginx-debug", cmd=("-g", "daemon off;"), ports=(80,), paths=_NGINX_PATHS),
    "httpd": _server(59.2, "httpd-foreground", "httpd", "apachectl", ports=(80,), paths=("/", "/index.html")),
    "caddy": _server(19.8, "caddy", cmd=("run",), ports=(80, 443)),
    "haproxy": _server(43.8, "haproxy"),
    "traefik": _server(56.0, "traefik", ports=(80,)),
    "redis": _server(45.9, "redis-server", "redis-cli", "redis-sentinel", ports=(6379,)),
    "valkey/valkey": _server(43.0, "valkey-server", "valkey-cli", ports=(6379,)),
    "memcached": _server(32.5, "memcached", ports=(11211,), uid=11211),
    "postgres": _server(158.6, "postgres", "psql", "pg_isready", "pg_dump", "initdb", "bash", ports=(5432,)),
    "mysql": _server(243.0, "mysqld", "mysql", "mysqladmin", ports=(3306,)),
    "mariadb": _server(125.0, "mariadbd", "mariadb", "mariadb-admin", "healthcheck.sh", ports=(3306,)),
    "mongo": _server(281.0, "mongod", "mongosh", ports=(27017,)),
    "rabbitmq": _server(114.0, "rabbitmq-server", "rabbitmq-diagnostics", "rabbitmqctl", "bash", ports=(5672,)),
    "busybox": _base(2.2, "sh", "httpd", busybox=True),
    "alpine": _base(3.6, "/bin/sh", "apk", busybox=True),
    "debian": _base(48.5, "bash", "apt-get"),
    "ubuntu": _base(29.7, "/bin/bash", "apt-get", "ps", "top"),
    "bash": _base(6.6, "bash"),
    "python": _base(365.0, "python3", *_PYTHON),
    "node": _base(394.0, "node", "ps", "top", "npm", "npx", "yarn"),
    "golang": _base(309.0, "bash", "go", "ps", "top"),
    "perl": _base(340.0, "perl", "ps", "top"),
    "curlimages/curl": ImageProfile(int(9.6 * _MB), ("curl",), (), frozenset({"curl", "sh"}), busybox=True, uid=100),
    "hello-world": ImageProfile(
        int(0.0102 * _MB), (), ("/hello",), frozenset({"hello"}), bare=True, output="\nHello from Docker!\n"
        "This message shows that your installation appears to be working correctly.\n\n",
    ),
    "registry.k8s.io/pause": _server(0.3, "pause", uid=65535, bare=True),
    "registry.k8s.io/e2e-test-images/agnhost": ImageProfile(
        54 * _MB,
        entrypoint=("/agnhost",),
        cmd=("pause",),
        programs=frozenset({"agnhost", "agnhost-2", "bash", "curl", "dig", "nc"}),
        busybox=True,
    ),
    "registry.k8s.io/echoserver": _server(46.0, "nginx", ports=(8080,)),
    "hashicorp/http-echo": _server(3.1, "http-echo", ports=(5678,), bare=True),
    "nginxinc/nginx-unprivileged": _server(72.0, "nginx", cmd=("-g", "daemon off;"), ports=(8080,), uid=101,
                                           paths=_NGINX_PATHS),
    "prom/prometheus": _server(118.0, "prometheus", "promtool", ports=(9090,), uid=65534),
    "grafana/grafana": _server(172.0, "grafana", ports=(3000,), uid=472),
}  # fmt: skip

# Variants of a tag that are built on a smaller base: how much of the full image's size is left.
_VARIANTS = (("alpine", 0.29), ("slim", 0.32), ("perl", 1.0))


# Where copies of well-known images are: the same thing under another name.
_COPIES = (
    "registry.k8s.io/e2e-test-images/",
    "registry.k8s.io/",
    "k8s.gcr.io/",
    "gcr.io/google_containers/",
    "public.ecr.aws/docker/library/",
    "mirror.gcr.io/library/",
)
_RENAMED = {"nginx-slim": "nginx"}  # upstream's copy for its tutorials


def known_as(reference: Reference) -> str:
    """The name under which the catalogue may have the image."""
    name = reference.familiar
    prefix = next((prefix for prefix in _COPIES if name.startswith(prefix)), None)
    if prefix is None or name in CATALOG:
        return name
    copied = name.removeprefix(prefix)
    known = (f"{_COPIES[1]}{copied}", _RENAMED.get(copied, copied))
    return next((each for each in known if each in CATALOG), name)


def profile_of(reference: Reference) -> ImageProfile:
    """What the catalogue knows of an image; a made-up size, and any program, for one that it does not know."""
    known = CATALOG.get(known_as(reference))
    if known is None:
        distroless = reference.familiar.startswith("gcr.io/distroless/") and "debug" not in reference.tag
        return ImageProfile(_made_up_size(reference), simulated=True, bare=distroless)
    for variant, share in _VARIANTS:
        if variant in reference.tag.split("-") or reference.tag.rstrip("0123456789.").endswith(variant):
            return _variant(known, share, busybox=variant == "alpine")
    return known


def _variant(profile: ImageProfile, share: float, *, busybox: bool) -> ImageProfile:
    return ImageProfile(
        int(profile.size * share),
        profile.entrypoint,
        profile.cmd,
        profile.programs,
        busybox or profile.busybox,
        profile.uid,
        profile.ports,
        profile.paths,
        profile.output,
        bare=profile.bare,
    )


def _made_up_size(reference: Reference) -> int:
    """Between 8 MB and 400 MB, most of them small, from the repository and a little from the tag."""
    draw = int.from_bytes(hashlib.sha256(reference.repository.encode()).digest()[:6], "big") / 2**48
    jitter = int.from_bytes(hashlib.sha256(reference.full.encode()).digest()[:2], "big")
    return int(8 * _MB * (50**draw)) + jitter


def digest_of(reference: Reference) -> str:
    """The digest that the registry would give, always the same for the same reference."""
    return reference.digest or f"sha256:{hashlib.sha256(reference.full.encode()).hexdigest()}"


def config_id_of(reference: Reference) -> str:
    """The image's id: the digest of its configuration."""
    return f"sha256:{hashlib.sha256(f'config {digest_of(reference)}'.encode()).hexdigest()}"
