"""Kubeconfig files: read, merge, choose a context, write (hop 01).

Source of the behaviour: client-go tools/clientcmd. The files that KUBECONFIG names are merged, the first to set a value
or to name an entry wins; without KUBECONFIG it is `~/.kube/config`. A file that does not exist counts as empty, unless
it was asked for by name (`--kubeconfig`).
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

DEFAULT_SERVER = "http://localhost:8080"
SECTIONS = ("clusters", "contexts", "users")
# What an entry of a section holds its value under.
KEYS = {"clusters": "cluster", "contexts": "context", "users": "user"}


class KubeConfigError(ValueError):
    """A kubeconfig that cannot be used, in kubectl's words."""


class OverridesError(KubeConfigError):
    """What the command line asks for cannot be had: an entry that is not there, groups without a user."""


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """An exec credential plugin (client.authentication.k8s.io): a command that prints an ExecCredential."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    api_version: str = "client.authentication.k8s.io/v1"
    folder: Path = field(default_factory=Path)


@dataclass(frozen=True, slots=True)
class Connection:
    """All that a transport needs to reach a server as somebody. Data is PEM bytes."""

    server: str = DEFAULT_SERVER
    namespace: str = "default"
    ca: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    token: str = ""
    username: str = ""
    password: str = ""
    tls_server_name: str = ""
    insecure: bool = False
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    impersonate_extra: tuple[tuple[str, str], ...] = ()
    timeout: float = 0.0  # seconds for one request, 0 for no limit
    plugin: ExecPlugin | None = None


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line sets in place of the file's values ("" for not set)."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    token: str = ""
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


def _check_impersonation(overrides: Overrides, user: str) -> None:
    """Groups and more go with a user only. Raises OverridesError."""
    more = overrides.impersonate_groups or overrides.impersonate_uid or overrides.impersonate_extra
    if more and not overrides.impersonate:
        raise OverridesError(f"requesting uid, groups or user-extra for {user} without impersonating a user")


@dataclass(slots=True)
class KubeConfig:
    """The merged configuration. Every named entry remembers its file, for relative paths and edits."""

    current_context: str = ""
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    contexts: dict[str, dict[str, Any]] = field(default_factory=dict)
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    origins: dict[tuple[str, str], Path] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @classmethod
    def load(cls, path: str | Path = "", *, environment: Mapping[str, str] | None = None) -> KubeConfig:
        """Read the named file, or those of KUBECONFIG, or `~/.kube/config`. Raises KubeConfigError."""
        environment = os.environ if environment is None else environment
        if path:
            file = Path(path)
            if not file.exists():
                raise KubeConfigError(f"stat {path}: no such file or directory")
            return cls.merge([file])
        return cls.merge(default_files(environment))

    @classmethod
    def merge(cls, files: Sequence[Path]) -> KubeConfig:
        """Merge files in order: the first to set a value wins."""
        config = cls(files=tuple(files))
        for file in files:
            if (value := read_document(file)) is not None:
                config._add(value, file)
        return config

    def _add(self, value: Mapping[str, Any], file: Path) -> None:
        self.current_context = self.current_context or str(value.get("current-context") or "")
        for section in SECTIONS:
            known: dict[str, dict[str, Any]] = getattr(self, section)
            for entry in value.get(section) or ():
                name = str(entry.get("name", ""))
                if name not in known:
                    known[name] = entry.get(KEYS[section]) or {}
                    self.origins[section, name] = file

    # -- choosing

    def connection(self, overrides: Overrides | None = None) -> Connection:
        """How to reach the server of the chosen context. Raises KubeConfigError."""
        overrides = overrides or Overrides()
        context_name = overrides.context or self.current_context
        if overrides.context and context_name not in self.contexts:
            raise KubeConfigError(f"context was not found for specified context: {context_name}")
        context = self.contexts.get(context_name, {})
        cluster_name = overrides.cluster or str(context.get("cluster") or "")
        user_name = overrides.user or str(context.get("user") or "")
        _check_impersonation(overrides, user_name)
        cluster = self._entry("clusters", cluster_name, "cluster", explicit=bool(overrides.cluster))
        user = self._entry("users", user_name, "auth info", explicit=bool(overrides.user))
        return Connection(
            server=(overrides.server or str(cluster.get("server") or DEFAULT_SERVER)).rstrip("/"),
            namespace=overrides.namespace or str(context.get("namespace") or "default"),
            ca=_override(overrides.certificate_authority)
            or self._data("clusters", cluster_name, cluster, "certificate-authority"),
            certificate=_override(overrides.client_certificate)
            or self._data("users", user_name, user, "client-certificate"),
            key=_override(overrides.client_key) or self._data("users", user_name, user, "client-key"),
            token=overrides.token or self._token(user_name, user),
            username=str(user.get("username") or ""),
            password=str(user.get("password") or ""),
            tls_server_name=overrides.tls_server_name or str(cluster.get("tls-server-name") or ""),
            insecure=overrides.insecure or bool(cluster.get("insecure-skip-tls-verify")),
            impersonate=overrides.impersonate or str(user.get("as") or ""),
            impersonate_groups=overrides.impersonate_groups or tuple(user.get("as-groups") or ()),
            impersonate_uid=overrides.impersonate_uid or str(user.get("as-uid") or ""),
            impersonate_extra=overrides.impersonate_extra
            or tuple((key, value) for key, values in (user.get("as-user-extra") or {}).items() for value in values),
            timeout=overrides.timeout,
            plugin=self._plugin(user_name, user),
        )

    def _entry(self, section: str, name: str, noun: str, *, explicit: bool) -> Mapping[str, Any]:
        entries: dict[str, dict[str, Any]] = getattr(self, section)
        if name in entries:
            return entries[name]
        if explicit:
            missing = (
                f'no server found for cluster "{name}"' if section == "clusters" else f'{noun} "{name}" does not exist'
            )
            raise OverridesError(missing)
        return {}

    def _folder(self, section: str, name: str) -> Path:
        origin = self.origins.get((section, name))
        return origin.parent if origin is not None else Path()

    def _data(self, section: str, name: str, entry: Mapping[str, Any], key: str) -> bytes | None:
        """PEM bytes of `KEY-data` or of the file `KEY`, which is relative to the kubeconfig that names it."""
        if data := entry.get(f"{key}-data"):
            try:
                return base64.b64decode(str(data), validate=True)
            except (binascii.Error, ValueError) as error:
                raise KubeConfigError(f'{key}-data of "{name}" is not base64: {error}') from error
        file = entry.get(key)
        if not file:
            return None
        path = self._folder(section, name) / str(file)
        try:
            return path.read_bytes()
        except OSError as error:
            raise KubeConfigError(f'unable to read {key} {path} for "{name}": {_why(error)}') from error

    def _token(self, name: str, user: Mapping[str, Any]) -> str:
        if file := user.get("tokenFile"):
            path = self._folder("users", name) / str(file)
            try:
                return path.read_text().strip()
            except OSError as error:
                raise KubeConfigError(f"open {path}: {_why(error)}") from error
        return str(user.get("token") or "")

    def _plugin(self, name: str, user: Mapping[str, Any]) -> ExecPlugin | None:
        given = user.get("exec")
        if not given:
            return None
        return ExecPlugin(
            command=str(given.get("command") or ""),
            args=tuple(str(arg) for arg in given.get("args") or ()),
            env=tuple((str(e["name"]), str(e["value"])) for e in given.get("env") or ()),
            api_version=str(given.get("apiVersion") or ""),
            folder=self._folder("users", name),
        )

    # -- writing

    def document(self) -> dict[str, Any]:
        """The configuration as one kubeconfig document, entries by name."""
        document: dict[str, Any] = {"apiVersion": "v1"}
        for section in SECTIONS:
            entries: dict[str, dict[str, Any]] = getattr(self, section)
            document[section] = [{KEYS[section]: entries[n], "name": n} for n in sorted(entries)] or None
        document["current-context"] = self.current_context
        document["kind"] = "Config"
        document["users"] = document.pop("users")
        return document

    def use_context(self, name: str) -> Path:
        """Make `name` the current context, in the file that says which is current; returns that file."""
        if name not in self.contexts:
            raise KubeConfigError(f'no context exists with the name: "{name}"')
        values = {file: read_document(file) for file in self.files}
        file = next((f for f, value in values.items() if value and value.get("current-context")), None)
        file = file or next((f for f, value in values.items() if value is not None), None) or self.files[0]
        document = dict(values.get(file) or {"apiVersion": "v1", "kind": "Config"})
        document["current-context"] = name
        write(file, document)
        self.current_context = name
        return file


def default_files(environment: Mapping[str, str]) -> list[Path]:
    """The files of KUBECONFIG in order, or `~/.kube/config`."""
    if listed := environment.get("KUBECONFIG", ""):
        return [Path(item) for item in dict.fromkeys(listed.split(os.pathsep)) if item]
    home = environment.get("HOME", "")
    return [(Path(home) if home else Path.home()) / ".kube" / "config"]


def document_for(
    *, name: str, server: str, ca: bytes, certificate: bytes, key: bytes, user: str = "kubernetes-admin"
) -> dict[str, Any]:
    """The kubeconfig of one cluster and one user with a client certificate, the way kubeadm lays it out."""
    context = f"{user}@{name}"
    return {
        "apiVersion": "v1",
        "clusters": [{"cluster": {"certificate-authority-data": _base64(ca), "server": server}, "name": name}],
        "contexts": [{"context": {"cluster": name, "user": user}, "name": context}],
        "current-context": context,
        "kind": "Config",
        "users": [
            {"name": user, "user": {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}}
        ],
    }


def write(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write a kubeconfig with mode 0600, whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            yaml.safe_dump(dict(document), file, default_flow_style=False, sort_keys=False)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_document(file: Path) -> dict[str, Any] | None:
    """The document of a file; None if there is no such file. Raises KubeConfigError."""
    try:
        text = file.read_text()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KubeConfigError(f'error loading config file "{file}": open {file}: {_why(error)}') from error
    try:
        value = yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise KubeConfigError(f'error loading config file "{file}": {" ".join(str(error).split())}') from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise KubeConfigError(f'error loading config file "{file}": it holds no mapping')
    return value


def _override(file: str) -> bytes | None:
    """The content of a file that the command line names."""
    if not file:
        return None
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise KubeConfigError(f"unable to read {file}: {_why(error)}") from error


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
