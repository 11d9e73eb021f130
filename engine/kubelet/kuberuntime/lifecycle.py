"""postStart and preStop handlers (pkg/kubelet/lifecycle handlers.go)."""

from __future__ import annotations

import json

from engine.api.types import Object
from engine.clock import Clock
from engine.kubelet import pods
from engine.kubelet.cri import CriError, Runtime
from engine.kubelet.prober.targets import resolve_port


class HookError(Exception):
    """A handler failed; the message is what the container's waiting state then says."""


async def run_handler(
    runtime: Runtime, clock: Clock, pod: Object, container: Object, container_id: str, handler: Object, *, pod_ip: str
) -> None:
    """Run a handler to its end. Raises HookError."""
    of = f'for Container "{container["name"]}" in Pod "{pods.full_name(pod)}" failed'
    if command := (handler.get("exec") or {}).get("command"):
        await _exec(runtime, container_id, command, of)
    elif handler.get("sleep"):
        await clock.sleep(float(handler["sleep"]["seconds"]))
    elif request := handler.get("httpGet"):
        port = resolve_port(request["port"], container)
        outcome, detail = runtime.network_probe(container_id, port, request.get("path") or "/")
        if outcome == "refused":
            path = (request.get("path") or "/").lstrip("/")
            error = f'Get "http://{pod_ip}:{port}/{path}": dial tcp {pod_ip}:{port}: {detail}'
            raise HookError(f"HTTP lifecycle hook ({request.get('path', '')}) {of} - error: {error}")


async def _exec(runtime: Runtime, container_id: str, command: list[str], of: str) -> None:
    text = ""
    try:
        result = await runtime.exec_sync(container_id, command)
        if not result.exit_code:
            return
        text = result.stdout + result.stderr
        error = f"command '{' '.join(command)}' exited with {result.exit_code}: {result.stderr}"
    except CriError as failure:
        error = str(failure)
    shown = json.dumps(text)
    raise HookError(f"Exec lifecycle hook ([{' '.join(command)}]) {of} - error: {error}, message: {shown}")
