"""Runs one probe against a simulated container (pkg/kubelet/prober prober.go, pkg/probe).

exec runs in the container's simulated shell. http, tcp and grpc succeed where something in the container listens. A
Pod's annotation can make any probe fail, to show what happens then:

    ktui.io/fail-probes: readiness              that probe of every container
    ktui.io/fail-probes: web/liveness, startup  of one container; several, with commas
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubelet.cri import CriError, Runtime
from engine.kubelet.prober.results import Outcome, ProbeType, Result
from engine.kubelet.prober.targets import resolve_port

FAIL_ANNOTATION = "ktui.io/fail-probes"
MAX_OUTPUT = 10 * 1024


def told_to_fail(pod: Object, container: Object, kind: ProbeType) -> bool:
    wanted = str((pod["metadata"].get("annotations") or {}).get(FAIL_ANNOTATION, ""))
    names = [name.strip() for name in wanted.split(",")]
    return kind.value in names or f"{container['name']}/{kind.value}" in names


async def run_exec(runtime: Runtime, container_id: str, spec: Object) -> Outcome:
    """An exit code of 0 is success; a command that cannot be run at all is an error."""
    timeout = float(spec.get("timeoutSeconds") or 1)
    try:
        result = await runtime.exec_sync(container_id, spec["exec"].get("command") or [], timeout)
    except CriError as error:
        if error.code == "DeadlineExceeded":
            command = " ".join(spec["exec"].get("command") or [])
            return Outcome(Result.FAILURE, f'command timed out: "{command}" timed out after {timeout:g}s')
        return Outcome(Result.UNKNOWN, str(error), errored=True)
    output = (result.stdout + result.stderr)[:MAX_OUTPUT]
    return Outcome(Result.FAILURE if result.exit_code else Result.SUCCESS, output)


def run_network(runtime: Runtime, container: Object, container_id: str, spec: Object, *, pod_ip: str) -> Outcome:
    """httpGet, tcpSocket and grpc."""
    if request := spec.get("httpGet"):
        return _http(runtime, container, container_id, request, pod_ip)
    if target := spec.get("tcpSocket"):
        port = resolve_port(target["port"], container)
        outcome, detail = runtime.network_probe(container_id, port)
        if outcome == "ok":
            return Outcome(Result.SUCCESS)
        return Outcome(Result.FAILURE, f"dial tcp {target.get('host') or pod_ip}:{port}: {detail}")
    if target := spec.get("grpc"):
        port = int(target["port"])
        if runtime.network_probe(container_id, port)[0] == "ok":
            return Outcome(Result.SUCCESS)
        timeout = spec.get("timeoutSeconds") or 1
        return Outcome(
            Result.FAILURE,
            f'timeout: failed to connect service "{pod_ip}:{port}" within {timeout}s: context deadline exceeded',
        )
    return Outcome(Result.UNKNOWN, "missing probe handler", errored=True)


def _http(runtime: Runtime, container: Object, container_id: str, request: Object, pod_ip: str) -> Outcome:
    port = resolve_port(request["port"], container)
    path = request.get("path") or "/"
    outcome, detail = runtime.network_probe(container_id, port, path)
    if outcome == "refused":
        host = request.get("host") or pod_ip
        scheme = str(request.get("scheme") or "HTTP").lower()
        slash = "" if path.startswith("/") else "/"
        url = f"{scheme}://{host}:{port}{slash}{path}"
        return Outcome(Result.FAILURE, f'Get "{url}": dial tcp {host}:{port}: {detail}')
    if 200 <= int(detail) < 400:
        return Outcome(Result.SUCCESS)
    return Outcome(Result.FAILURE, f"HTTP probe failed with statuscode: {detail}")


def forced_failure(spec: Object) -> Outcome:
    """The failure that the annotation asks for, in the words of the probe's kind."""
    if spec.get("httpGet"):
        return Outcome(Result.FAILURE, "HTTP probe failed with statuscode: 500")
    if spec.get("exec"):
        return Outcome(Result.FAILURE, "")
    if spec.get("grpc"):
        return Outcome(Result.FAILURE, 'service unhealthy (responded with "NOT_SERVING")')
    return Outcome(Result.FAILURE, "dial tcp: connect: connection refused")
