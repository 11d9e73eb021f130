"""The variables by which a container finds the Services of its namespace (pkg/kubelet/envvars envvars.go; Docker's
links, whose form they keep)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object

MASTER_NAMESPACE, MASTER_SERVICE = "default", "kubernetes"


def service_environment(services: Sequence[Object], namespace: str, *, links: bool) -> dict[str, str]:
    """The variables of the Services that a Pod of a namespace sees: its own ones' where it wants links, and always
    those of the API server."""
    env: dict[str, str] = {}
    for service in _visible(services, namespace, links=links):
        env.update(_of_service(service))
    return env


def _visible(services: Sequence[Object], namespace: str, *, links: bool) -> list[Object]:
    seen: dict[str, Object] = {}
    for service in sorted(services, key=lambda item: str(item["metadata"]["name"])):
        name, its_namespace = service["metadata"]["name"], service["metadata"]["namespace"]
        if service["spec"].get("clusterIP", "None") in ("", "None"):
            continue
        if its_namespace == MASTER_NAMESPACE and name == MASTER_SERVICE:
            seen.setdefault(name, service)
        elif its_namespace == namespace and links:
            seen[name] = service
    return list(seen.values())


def _of_service(service: Object) -> dict[str, str]:
    name, address = _variable(service["metadata"]["name"]), service["spec"]["clusterIP"]
    ports = service["spec"].get("ports") or []
    if not ports:
        return {}
    env = {f"{name}_SERVICE_HOST": address, f"{name}_SERVICE_PORT": str(ports[0]["port"])}
    for port in ports:
        if port.get("name"):
            env[f"{name}_SERVICE_PORT_{_variable(port['name'])}"] = str(port["port"])
    for number, port in enumerate(ports):
        protocol = port.get("protocol") or "TCP"
        prefix = f"{name}_PORT_{port['port']}_{protocol}"
        url = f"{protocol.lower()}://{_host(address)}:{port['port']}"
        if number == 0:
            env[f"{name}_PORT"] = url
        env[prefix] = url
        env[f"{prefix}_PROTO"] = protocol.lower()
        env[f"{prefix}_PORT"] = str(port["port"])
        env[f"{prefix}_ADDR"] = address
    return env


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _variable(name: str) -> str:
    return str(name).upper().replace("-", "_")
