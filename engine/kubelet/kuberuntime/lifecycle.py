"""postStart and preStop handlers (pkg/kubelet/lifecycle handlers.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.clock import Clock
from engine.kubelet.cri import CriError, Runtime
from engine.kubelet.prober.targets import resolve_port


class HookError(Exception):
    """A handler failed; the message is the one of its event's cause."""


async def run_handler(
    runtime: Runtime, clock: Clock, container: Object, container_id: str, handler: Object, *, pod_ip: str
) -> None:
    """Run a handler to its end. Raises HookError."""
    if command := (handler.get("exec") or {}).get("command"):
        await _exec(runtime, container_id, command)
    elif handler.get("sleep"):
        await clock.sleep(float(handler["sleep"]["seconds"]))
    elif request := handler.get("httpGet"):
        port = resolve_port(request["port"], container)
        outcome, detail = runtime.network_probe(container_id, port, request.get("path") or "/")
        if outcome == "refused":
            path = (request.get("path") or "/").lstrip("/")
            raise HookError(f'Get "http://{pod_ip}:{port}/{path}": dial tcp {pod_ip}:{port}: {detail}')


async def _exec(runtime: Runtime, container_id: str, command: list[str]) -> None:
    try:
        result = await runtime.exec_sync(container_id, command)
    except CriError as error:
        raise HookError(str(error)) from None
    if result.exit_code:
        text = (result.stdout + result.stderr).strip()
        raise HookError(f"command '{' '.join(command)}' exited with {result.exit_code}: {text}")
