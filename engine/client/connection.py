"""All that a transport needs to reach a server as somebody, and what the command line sets of it (hop 01)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.api.golang import url as go_url
from engine.api.golang.text import quoted

DEFAULT_SERVER = "http://localhost:8080"


class KubeConfigError(ValueError):
    """A configuration that cannot be used, in kubectl's words; it may have several problems."""

    def __init__(self, *problems: str) -> None:
        super().__init__(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
        self.problems = problems


class LoadError(KubeConfigError):
    """Kubeconfig files that cannot be read, each with its own problem."""


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """An exec credential plugin (client.authentication.k8s.io): a command that prints an ExecCredential.

    `cluster` is what it is told of the cluster where it wants to know. `policy` and `allowed` are the preferences'
    (kuberc) word on which plugins may run.
    """

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    api_version: str = "client.authentication.k8s.io/v1"
    interactive_mode: str = "Never"
    install_hint: str = ""
    cluster: dict[str, Any] | None = None
    policy: str = ""
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuthProvider:
    """One of the ways to log in from before there were plugins."""

    name: str
    config: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a server, as whom. Data is PEM bytes; over plain HTTP nobody is told who one is."""

    server: str = DEFAULT_SERVER
    namespace: str = "default"
    ca: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    reloads: bool = False  # certificate and key are files, which are not looked into before they are needed
    token: str = ""
    token_file: Path | None = None
    username: str = ""
    password: str = ""
    tls_server_name: str = ""
    insecure: bool = False
    proxy: str = ""
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    impersonate_extra: tuple[tuple[str, str], ...] = ()
    timeout: float = 0.0  # seconds for one request, 0 for no limit
    plugin: ExecPlugin | None = None
    provider: AuthProvider | None = None

    @property
    def url(self) -> str:
        """What paths are added to. Raises KubeConfigError."""
        return base_url(self.server)

    @property
    def identifies(self) -> bool:
        """Whether it says who one is, other than to a server that does not ask."""
        return bool(
            self.username or self.certificate is not None or self.token or self.provider or self.plugin
        ) or not self.url.startswith("https:")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line sets in place of the file's values ("" for not set)."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    token: str = ""
    username: str = ""
    password: str = ""
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""
    tls_server_name: str = ""
    insecure: bool = False
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    impersonate_extra: tuple[tuple[str, str], ...] = ()
    timeout: float = 0.0  # seconds for one request, 0 for no limit
    default_server: str = DEFAULT_SERVER


def base_url(host: str) -> str:
    """The URL of a server that may be named by host and port alone (client-go rest/url_utils.go, DefaultServerURL),
    without the user that may be in it.

    Raises KubeConfigError.
    """
    found = _parsed(host)
    if found is None or not found.scheme or not found.host:
        found = _parsed(f"http://{host}")
        if found is None or found.path not in ("", "/"):
            raise KubeConfigError(f"host must be a URL or a host:port pair: {quoted(host)}")
    return f"{found.scheme}://{found.host}{found.path}".rstrip("/")


def _parsed(text: str) -> go_url.Url | None:
    try:
        return go_url.parse(text)
    except ValueError:
        return None
