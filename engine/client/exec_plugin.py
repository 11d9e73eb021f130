"""Exec credential plugins: a command of the kubeconfig that prints an ExecCredential (hop 01).

What a plugin gives is kept until it expires, or until the server does not take it. Source of the behaviour: client-go
plugin/pkg/client/auth/exec, client.authentication.k8s.io/v1.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from engine.api.golang import time as go_time
from engine.api.golang.forms import STRING, Leaf, Struct, UnmarshalError, check, type_meta
from engine.api.golang.text import quoted
from engine.api.golang.yaml import YamlError, load
from engine.client.connection import ExecPlugin, KubeConfigError
from engine.client.key_pair import pair_problem
from engine.client.plugin_policy import refuse
from engine.clock import Clock

GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
_SCHEME = "pkg/client/auth/exec/exec.go:64"
_NOT_INSTALLED = """

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"""


def _refuse_time(value: Any) -> None:
    if value:
        go_time.seconds(value)


_TIME = Leaf("string", STRING.fits, _refuse_time)
_CREDENTIAL = Struct(
    "ExecCredential",
    {
        "kind": STRING,
        "apiVersion": STRING,
        "status": Struct(
            "ExecCredentialStatus",
            {
                "expirationTimestamp": _TIME,
                "token": STRING,
                "clientCertificateData": STRING,
                "clientKeyData": STRING,
            },
        ),
    },
)


@dataclass(frozen=True, slots=True)
class Credential:
    """What a plugin gives: a token, a client certificate, or both, and how long it is good."""

    token: str = ""
    certificate: bytes | None = None
    key: bytes | None = None
    expires: datetime | None = None


class Authenticator:
    """One plugin and what it gave last. It runs once at a time, whoever asks."""

    def __init__(self, plugin: ExecPlugin, clock: Clock) -> None:
        """Raises KubeConfigError for a version that is not spoken."""
        if plugin.api_version not in VERSIONS:
            raise KubeConfigError(f"exec plugin: invalid apiVersion {quoted(plugin.api_version)}")
        self._plugin = plugin
        self._clock = clock
        self._running = asyncio.Lock()
        self._kept: Credential | None = None

    async def credential(self) -> Credential:
        """What is kept, or what the plugin says now. Raises KubeConfigError in client-go's words."""
        async with self._running:
            kept = self._kept
            if kept is None or (kept.expires is not None and self._clock.now() > kept.expires):
                kept = self._kept = await credential(self._plugin)
            return kept

    async def rotate(self, refused: Credential) -> None:
        """Ask anew after the server has refused what was kept, unless somebody has already. Raises KubeConfigError."""
        async with self._running:
            if self._kept is refused:
                self._kept = await credential(self._plugin)


async def credential(plugin: ExecPlugin) -> Credential:
    """Run the plugin. Raises KubeConfigError in client-go's words."""
    interactive = _is_interactive(plugin.interactive_mode)
    command = _command(plugin)
    code, output = await _run(command, plugin, interactive=interactive)
    if code:
        raise KubeConfigError(f"exec: executable {command} failed with exit code {max(code, -1)}")
    return _parse(output, plugin)


def _command(plugin: ExecPlugin) -> str:
    """What is run. Raises KubeConfigError where it may not be, or is not there."""
    command = os.path.normpath(plugin.command)
    refuse(command, plugin.policy, plugin.allowed)
    if os.sep not in command and shutil.which(command) is None:
        hint = f"\n\n{plugin.install_hint}" if plugin.install_hint else ""
        raise KubeConfigError(f"exec: executable {command} not found{_NOT_INSTALLED}{hint}")
    return command


def _is_interactive(mode: str) -> bool:
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not terminal:
        raise KubeConfigError("exec plugin cannot support interactive mode: standard input is not a terminal")
    if mode not in ("Never", "IfAvailable", "Always"):
        raise KubeConfigError(f"exec plugin cannot support interactive mode: unknown interactiveMode: {quoted(mode)}")
    return mode != "Never" and terminal


async def _run(command: str, plugin: ExecPlugin, *, interactive: bool) -> tuple[int, bytes]:
    environment = {**os.environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": _asked(plugin, interactive)}
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *plugin.args,
            env=environment,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise KubeConfigError(f"exec: fork/exec {command}: {(error.strerror or str(error)).lower()}") from error
    output, _ = await process.communicate()
    return process.returncode or 0, output


def _asked(plugin: ExecPlugin, interactive: bool) -> str:
    """What the plugin is told, in the order of Go's fields and with the line end that its encoder writes."""
    cluster = {"cluster": plugin.cluster} if plugin.cluster is not None else {}
    spec = {**cluster, "interactive": interactive}
    return orjson.dumps({"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}).decode() + "\n"


def _parse(output: bytes, plugin: ExecPlugin) -> Credential:
    try:
        value, version = _decode(output, plugin)
    except UnmarshalError as error:
        raise KubeConfigError(f"decoding stdout: {error}") from error
    if version != plugin.api_version:
        raise KubeConfigError(
            f"exec plugin is configured to use API version {plugin.api_version}, plugin returned version {version}"
        )
    status = value.get("status")
    if status is None:
        raise KubeConfigError("exec plugin didn't return a status field")
    token, certificate = status.get("token") or "", status.get("clientCertificateData") or ""
    key = status.get("clientKeyData") or ""
    if not token and not certificate and not key:
        raise KubeConfigError("exec plugin didn't return a token or cert/key pair")
    if bool(certificate) != bool(key):
        raise KubeConfigError("exec plugin returned only certificate or key, not both")
    if certificate and (problem := pair_problem(certificate, key)):
        raise KubeConfigError(f"failed parsing client key/certificate: {problem}")
    return Credential(
        token, certificate.encode() or None, key.encode() or None, _moment(status.get("expirationTimestamp"))
    )


def _decode(output: bytes, plugin: ExecPlugin) -> tuple[dict[str, Any], str]:
    """What the plugin printed, JSON or YAML, and its version. Raises UnmarshalError."""
    try:
        value = load(output)
    except YamlError as error:
        raise UnmarshalError(str(error)) from error
    kind, version = type_meta(value)
    if not version:
        return {}, f"{GROUP}/__internal"  # it is taken for the object that it is read into
    if kind not in ("", "ExecCredential") or version not in VERSIONS:
        raise UnmarshalError(f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"')
    check(value, _CREDENTIAL)
    return value, version


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None
