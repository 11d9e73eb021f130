"""How the flags and the preferences of a command make a connection of a kubeconfig (hop 01).

Source of the behaviour: cli-runtime pkg/genericclioptions/config_flags.go, client-go tools/clientcmd (overrides.go,
auth_loaders.go).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from getpass import getpass
from typing import TextIO

from engine.api.golang.duration import parse_duration
from engine.client.connection import DEFAULT_SERVER, Connection, KubeConfigError, Overrides
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flags
from engine.kubectl.preferences import Applied

# As the real kubectl does, whose commands each have their own order.
_NAMESPACE_FIRST = (
    frozenset(
        (
            "apply edit-last-applied",
            "apply set-last-applied",
            "apply view-last-applied",
            "auth reconcile",
            "create token",
        )
    )
    | frozenset(
        (
            "annotate",
            "attach",
            "cp",
            "debug",
            "delete",
            "describe",
            "edit",
            "events",
            "exec",
            "get",
            "label",
            "logs",
            "patch",
        )
    )
    | frozenset(("port-forward", "rollout", "scale", "set", "taint", "top pod"))
)


def asks_namespace_first(path: str, flags: Flags) -> bool:
    """Whether a command finds its namespace before it makes a client, and so tells of other errors first."""
    words = path.split()[1:]
    if flags.text("namespace") or (words[:1] == ["get"] and flags.text("raw")):
        return False
    return words != ["set", "env"] and (" ".join(words[:2]) in _NAMESPACE_FIRST or words[0] in _NAMESPACE_FIRST)


def overrides_of(flags: Flags, hidden: set[str], environment: Mapping[str, str]) -> Overrides:
    """`hidden` are the flags that mean something else to the command. Raises CommandError."""
    return Overrides(
        context=flags.text("context"),
        cluster=flags.text("cluster"),
        user="" if "user" in hidden else flags.text("user"),
        server=flags.text("server"),
        token=flags.text("token"),
        username="" if "username" in hidden else flags.text("username"),
        password="" if "password" in hidden else flags.text("password"),
        certificate_authority=flags.text("certificate-authority"),
        client_certificate=flags.text("client-certificate"),
        client_key=flags.text("client-key"),
        tls_server_name=flags.text("tls-server-name"),
        insecure=flags.on("insecure-skip-tls-verify"),
        impersonate=flags.text("as"),
        impersonate_groups=tuple(flags.many("as-group")),
        impersonate_uid=flags.text("as-uid"),
        impersonate_extra=tuple(_extra(text) for text in flags.many("as-user-extra") if "=" in text),
        timeout=_timeout(flags.text("request-timeout")),
        default_server=environment.get("KUBERNETES_MASTER") or DEFAULT_SERVER,
    )


def allowed(connection: Connection, wanted: Applied) -> Connection:
    """With the preferences' word on which credential plugins may run."""
    if connection.plugin is None:
        return connection
    plugin = replace(connection.plugin, policy=wanted.plugin_policy, allowed=wanted.allowed_plugins)
    return replace(connection, plugin=plugin)


async def asked_for(connection: Connection, stdin: TextIO, stdout: TextIO) -> Connection:
    """With a name and a password that the person is asked for, where nothing says who it is. Raises KubeConfigError."""
    if connection.identifies:
        return connection
    stdout.write("Please enter Username: ")
    stdout.flush()
    words = (await asyncio.to_thread(stdin.readline)).split()
    if not words:
        raise KubeConfigError("EOF")
    stdout.write("Please enter Password: ")
    stdout.flush()
    if not stdin.isatty():
        raise KubeConfigError("error reading input for Password")
    return replace(connection, username=words[0], password=await asyncio.to_thread(getpass, ""))


def _extra(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def _timeout(text: str) -> float:
    """The seconds of --request-timeout; 0, or nothing at all, for no end. Raises CommandError (ParseTimeout)."""
    if not text:
        return 0.0
    if re.fullmatch(r"[+-]?[0-9]+", text) and 0 <= int(text) < 2**63:
        return float(int(text))
    try:
        return parse_duration(text)
    except ValueError:
        raise CommandError(
            "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a "
            "corresponding time unit (e.g. 1s | 2m | 3h)"
        ) from None
