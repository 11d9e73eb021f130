"""Exec credential plugins: a command of the kubeconfig that prints an ExecCredential (hop 01).

Source of the behaviour: client-go plugin/pkg/client/auth/exec, client.authentication.k8s.io/v1.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

import orjson

from engine.client.kubeconfig import ExecPlugin, KubeConfigError


@dataclass(frozen=True, slots=True)
class Credential:
    """What a plugin gives: a token, a client certificate, or both."""

    token: str = ""
    certificate: bytes | None = None
    key: bytes | None = None


async def credential(plugin: ExecPlugin) -> Credential:
    """Run the plugin. Raises KubeConfigError in client-go's words."""
    asked = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
    environment = {**os.environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": orjson.dumps(asked).decode()}
    command = plugin.command
    if os.sep in command:  # a path is relative to the kubeconfig that names it
        command = str(plugin.folder / command)
    try:
        process = await asyncio.create_subprocess_exec(
            command, *plugin.args, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
    except OSError as error:
        raise KubeConfigError(f"getting credentials: exec: executable {plugin.command} not found") from error
    output, _ = await process.communicate()
    if process.returncode:
        raise KubeConfigError(
            f"getting credentials: exec: executable {plugin.command} failed with exit code {process.returncode}"
        )
    return _parse(output, plugin)


def _parse(output: bytes, plugin: ExecPlugin) -> Credential:
    try:
        value = orjson.loads(output)
    except orjson.JSONDecodeError as error:
        raise KubeConfigError(f"getting credentials: decoding stdout: {error}") from error
    if value.get("apiVersion") != plugin.api_version:
        raise KubeConfigError(
            f"getting credentials: exec plugin is configured to use API version {plugin.api_version}, "
            f"plugin returned version {value.get('apiVersion')}"
        )
    status = value.get("status")
    if not status:
        raise KubeConfigError("getting credentials: exec plugin didn't return a status field")
    certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
    if not status.get("token") and not (certificate and key):
        raise KubeConfigError("getting credentials: exec plugin didn't return a token or cert/key pair")
    return Credential(
        status.get("token", ""), certificate.encode() if certificate else None, key.encode() if key else None
    )
