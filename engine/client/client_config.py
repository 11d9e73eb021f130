"""From a merged kubeconfig and what the command line sets to a connection (hop 01).

Source of the behaviour: client-go tools/clientcmd/client_config.go (DirectClientConfig).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from engine.api.golang import url as go_url
from engine.api.golang.text import quoted
from engine.client.connection import AuthProvider, Connection, ExecPlugin, KubeConfigError, Overrides, base_url
from engine.client.kubeconfig_rules import cluster_problems, user_problems

# In the extensions of a cluster: what its users' plugins are told of it.
_PLUGIN_EXTENSION = "client.authentication.k8s.io/exec"

Entries = Mapping[str, dict[str, Any]]


class ClientConfig:
    """One context of a kubeconfig with what the command line sets. All paths are absolute."""

    def __init__(
        self, *, contexts: Entries, clusters: Entries, users: Entries, current_context: str, overrides: Overrides
    ) -> None:
        self._contexts, self._clusters, self._users = contexts, clusters, users
        self._overrides = overrides
        self._context_name = overrides.context or current_context
        self._context = contexts.get(self._context_name, {})
        self._cluster_name = overrides.cluster or str(self._context.get("cluster") or "")
        self._user_name = overrides.user or str(self._context.get("user") or "")

    def connection(self) -> Connection:
        """Raises KubeConfigError: first what was asked for and is not there, then all that is wrong at once."""
        self._check_asked_for()
        user, cluster = self._user(), self._cluster()
        self.confirm_usable()
        server = _host(str(cluster["server"]))
        shared = Connection(
            server=server,
            namespace=self._overrides.namespace or str(self._context.get("namespace") or "default"),
            proxy=str(cluster.get("proxy-url") or ""),
            timeout=self._overrides.timeout,
            **_impersonation(user),
        )
        return self._identified(shared, user, cluster) if _is_secure(server) else shared

    def confirm_usable(self) -> None:
        """As far as a namespace needs it: a user or a cluster that is not there counts as empty. Raises
        KubeConfigError."""
        problems = self._context_problems()
        if not self._overrides.user or self._user_name in self._users:
            problems += user_problems(self._user_name, self._user())
        if self._overrides.cluster and self._cluster_name not in self._clusters:
            problems.append(f"no server found for cluster {quoted(self._cluster_name)}")
        else:
            problems += cluster_problems(self._cluster_name, self._cluster())
        if problems:
            raise KubeConfigError(*problems)

    def _check_asked_for(self) -> None:
        asked, names = self._overrides, (self._user_name, self._context_name, self._cluster_name)
        for flag, name, known, text in (
            (asked.user, names[0], self._users, "auth info"),
            (asked.context, names[1], self._contexts, "context"),
            (asked.cluster, names[2], self._clusters, "cluster"),
        ):
            if flag and name not in known:
                raise KubeConfigError(f"{text} {quoted(name)} does not exist")

    def _context_problems(self) -> list[str]:
        if not self._context_name or self._context_name in self._contexts:
            return []
        return [f"context was not found for specified context: {self._context_name}"]

    def _user(self) -> dict[str, Any]:
        asked = self._overrides
        user = dict(self._users.get(self._user_name, {}))
        extra: dict[str, list[str]] = {}
        for key, value in asked.impersonate_extra:
            extra.setdefault(key, []).append(value)
        given = {
            "token": asked.token,
            "username": asked.username,
            "password": asked.password,
            "as": asked.impersonate,
            "as-uid": asked.impersonate_uid,
            "as-groups": list(asked.impersonate_groups),
        }
        user.update({key: value for key, value in given.items() if value})
        if extra:
            user["as-user-extra"] = {**(user.get("as-user-extra") or {}), **extra}
        for key, file in (("client-certificate", asked.client_certificate), ("client-key", asked.client_key)):
            if file:
                user[key] = file
                user.pop(f"{key}-data", None)
        return user

    def _cluster(self) -> dict[str, Any]:
        asked = self._overrides
        cluster = dict(self._clusters.get(self._cluster_name, {}))
        cluster["server"] = asked.server or cluster.get("server") or asked.default_server
        if asked.insecure or asked.certificate_authority:
            cluster["insecure-skip-tls-verify"] = asked.insecure
            cluster["certificate-authority"] = asked.certificate_authority
            cluster.pop("certificate-authority-data", None)
        if asked.tls_server_name or asked.server:
            cluster["tls-server-name"] = asked.tls_server_name
        return cluster

    def _identified(self, shared: Connection, user: Mapping[str, Any], cluster: Mapping[str, Any]) -> Connection:
        file, token = user.get("tokenFile"), str(user.get("token") or "")
        ca = _data(cluster, "certificate-authority")
        insecure = bool(cluster.get("insecure-skip-tls-verify"))
        certificate = _data(user, "client-certificate")
        return Connection(
            **{name: getattr(shared, name) for name in _SHARED},
            ca=ca,
            insecure=insecure,
            tls_server_name=str(cluster.get("tls-server-name") or ""),
            certificate=certificate,
            key=_data(user, "client-key") if certificate is not None else None,
            reloads=not user.get("client-certificate-data") and not user.get("client-key-data"),
            token=token or (_read(file).decode(errors="replace") if file else ""),
            token_file=Path(file) if file else None,
            username=str(user.get("username") or ""),
            password=str(user.get("password") or ""),
            plugin=_plugin(user.get("exec"), cluster, ca),
            provider=_provider(user.get("auth-provider")),
        )


_SHARED = (
    *("server", "namespace", "proxy", "timeout"),
    *("impersonate", "impersonate_groups", "impersonate_uid", "impersonate_extra"),
)


def _host(server: str) -> str:
    """Without a query, where there is a path."""
    try:
        url = go_url.parse(server, request=True)
    except ValueError:
        return server
    if len(url.path) < 2 or not url.host:
        return server
    user = f"{url.user}@" if url.user is not None else ""
    return f"{url.scheme}://{user}{url.host}{url.path}"


def _is_secure(server: str) -> bool:
    try:
        return base_url(server).startswith("https:")
    except KubeConfigError:
        return False  # which is said when it is asked


def _impersonation(user: Mapping[str, Any]) -> dict[str, Any]:
    if not user.get("as"):
        return {}
    extra = (user.get("as-user-extra") or {}).items()
    return {
        "impersonate": user["as"],
        "impersonate_uid": user.get("as-uid") or "",
        "impersonate_groups": tuple(user.get("as-groups") or ()),
        "impersonate_extra": tuple((key, value) for key, values in extra for value in values or ()),
    }


def _data(entry: Mapping[str, Any], key: str) -> bytes | None:
    """PEM bytes of `KEY-data` or of the file `KEY`. Raises KubeConfigError."""
    if data := entry.get(f"{key}-data"):
        return base64.b64decode(data)
    file = entry.get(key)
    return _read(file) if file else None


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except IsADirectoryError as error:
        raise KubeConfigError(f"read {file}: is a directory") from error
    except OSError as error:
        raise KubeConfigError(f"open {file}: {(error.strerror or str(error)).lower()}") from error


def _plugin(given: Mapping[str, Any] | None, cluster: Mapping[str, Any], ca: bytes | None) -> ExecPlugin | None:
    if given is None:
        return None
    return ExecPlugin(
        command=given.get("command") or "",
        args=tuple(given.get("args") or ()),
        env=tuple((one.get("name") or "", one.get("value") or "") for one in given.get("env") or ()),
        api_version=given.get("apiVersion") or "",
        interactive_mode=given.get("interactiveMode") or "",
        install_hint=_clean(given.get("installHint") or ""),
        cluster=_told(cluster, ca) if given.get("provideClusterInfo") else None,
    )


def _told(cluster: Mapping[str, Any], ca: bytes | None) -> dict[str, Any]:
    """A cluster as plugins are told of it (client-go rest/exec.go, ConfigToExecCluster)."""
    known = {
        "server": cluster["server"],
        "tls-server-name": cluster.get("tls-server-name"),
        "insecure-skip-tls-verify": cluster.get("insecure-skip-tls-verify"),
        "certificate-authority-data": base64.b64encode(ca).decode() if ca else None,
        "proxy-url": cluster.get("proxy-url"),
        "disable-compression": cluster.get("disable-compression"),
    }
    extensions = {one["name"]: one["extension"] for one in cluster.get("extensions") or ()}
    config = orjson.loads(orjson.dumps(extensions.get(_PLUGIN_EXTENSION), option=orjson.OPT_SORT_KEYS))
    return {**{key: value for key, value in known.items() if value}, "config": config}


def _clean(hint: str) -> str:
    """Without what could put a terminal into another state."""
    return "".join(letter if letter.isprintable() or letter in "\t\n\v\f\r" else _code(letter) for letter in hint)


def _code(letter: str) -> str:
    return f"U+{ord(letter):04X}"


def _provider(given: Mapping[str, Any] | None) -> AuthProvider | None:
    if given is None:
        return None
    return AuthProvider(given.get("name") or "", tuple((given.get("config") or {}).items()))
