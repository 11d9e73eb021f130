"""A container's environment: values, references and the downward API (kubelet_pods.go makeEnvironmentVariables)."""

from __future__ import annotations

import base64
import re
from typing import Protocol

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.kuberuntime.errors import ConfigError

_REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")


class References(Protocol):
    """ConfigMaps, Secrets and claims that the Pod names."""

    async def data(self, kind: str, namespace: str, name: str) -> dict[str, str] | None:
        """The data of a `configmap` or `secret`, decoded; None if there is none."""
        ...

    async def disk(self, namespace: str, claim: str) -> dict[str, str] | None:
        """What is on the volume that a claim is bound to; None if it is bound to none."""
        ...


def expand(text: str, env: dict[str, str]) -> str:
    """`$(NAME)` to its value, `$$` to `$`; a name that is not set stays as it stands (third_party expansion)."""

    def one(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        return env.get(match[2], match[0])

    return _REFERENCE.sub(one, text)


async def environment(
    pod: Object, container: Object, references: References, *, pod_ip: str, host_ip: str
) -> dict[str, str]:
    """Raises ConfigError for a reference that is neither there nor optional."""
    env: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        env.update(await _from(pod, source, references))
    for item in container.get("env") or ():
        if item.get("valueFrom"):
            value = await _value_from(pod, container, item["valueFrom"], references, pod_ip=pod_ip, host_ip=host_ip)
        else:
            value = expand(item.get("value", ""), env)
        if value is not None:
            env[item["name"]] = value
    return env


async def _from(pod: Object, source: Object, references: References) -> dict[str, str]:
    kind, reference = ("configmap", source.get("configMapRef")) if source.get("configMapRef") else (
        "secret", source.get("secretRef"))  # fmt: skip
    if not reference:
        return {}
    data = await references.data(kind, pods.namespace_of(pod), reference["name"])
    if data is None:
        if reference.get("optional"):
            return {}
        raise ConfigError(f'{kind} "{reference["name"]}" not found')
    prefix = source.get("prefix", "")
    return {f"{prefix}{key}": value for key, value in data.items()}


async def _value_from(
    pod: Object, container: Object, source: Object, references: References, *, pod_ip: str, host_ip: str
) -> str | None:
    if field := source.get("fieldRef"):
        return field_value(pod, field["fieldPath"], pod_ip=pod_ip, host_ip=host_ip)
    if resource := source.get("resourceFieldRef"):
        return _resource(pod, container, resource)
    for kind, key in (("configmap", "configMapKeyRef"), ("secret", "secretKeyRef")):
        if reference := source.get(key):
            return await _key(pod, kind, reference, references)
    return None


async def _key(pod: Object, kind: str, reference: Object, references: References) -> str | None:
    data = await references.data(kind, pods.namespace_of(pod), reference["name"])
    if data is not None and reference["key"] in data:
        return data[reference["key"]]
    if reference.get("optional"):
        return None
    if data is None:
        raise ConfigError(f'{kind} "{reference["name"]}" not found')
    titled = "ConfigMap" if kind == "configmap" else "Secret"
    raise ConfigError(f"couldn't find key {reference['key']} in {titled} {pods.namespace_of(pod)}/{reference['name']}")


def field_value(pod: Object, path: str, *, pod_ip: str = "", host_ip: str = "") -> str:
    """The downward API's fields (fieldpath.ExtractFieldPathAsString)."""
    metadata, spec = pod["metadata"], pod["spec"]
    if match := re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path):
        return str((metadata.get(match[1]) or {}).get(match[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        values = metadata.get(path.partition(".")[2]) or {}
        return "\n".join(f'{key}="{value}"' for key, value in sorted(values.items()))
    fields = {
        "metadata.name": metadata.get("name", ""),
        "metadata.namespace": metadata.get("namespace", ""),
        "metadata.uid": metadata.get("uid", ""),
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.podIP": pod_ip,
        "status.podIPs": pod_ip,
        "status.hostIP": host_ip,
        "status.hostIPs": host_ip,
    }
    if path not in fields:
        raise ConfigError(f"unsupported fieldPath: {path}")
    return str(fields[path])


def _resource(pod: Object, container: Object, reference: Object) -> str:
    """resourceFieldRef in units of its divisor, rounded up."""
    name = reference.get("containerName") or container["name"]
    target = pods.find_container(pod, name) or container
    kind, _, resource = str(reference["resource"]).partition(".")
    value = ((target.get("resources") or {}).get(kind) or {}).get(resource, "0")
    divisor = Quantity.parse(reference.get("divisor") or "1")
    amount = Quantity.parse(value)
    unit = divisor.milli or 1000
    return str(-(-amount.milli // unit))


def decoded(data: Object, *, secret: bool) -> dict[str, str]:
    """The values of a ConfigMap's or Secret's data as text."""
    if not secret:
        return {str(key): str(value) for key, value in (data.get("data") or {}).items()}
    return {
        str(key): base64.b64decode(value).decode(errors="replace") for key, value in (data.get("data") or {}).items()
    }
