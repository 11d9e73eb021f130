"""A container's environment: values, references and the downward API (kubelet_pods.go makeEnvironmentVariables)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from engine.api.types import Object
from engine.disks import Volume
from engine.kubelet import pods
from engine.kubelet.kuberuntime.downward import field_value, resource_value
from engine.kubelet.kuberuntime.env_file import env_file_value
from engine.kubelet.kuberuntime.errors import ConfigError
from engine.kubelet.kuberuntime.service_env import service_environment

_REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")


class References(Protocol):
    """What of the cluster the Pods of a node refer to."""

    async def data(self, kind: str, namespace: str, name: str, *, binary: bool = False) -> dict[str, str] | None:
        """The data of a `configmap` or `secret`, decoded, on demand with its binaryData; None if there is none."""
        ...

    async def disk(self, namespace: str, claim: str) -> Volume | None:
        """What is on the volume that a claim is bound to; None if it is bound to none."""
        ...

    def host_root(self) -> Volume:
        """The node's own file system."""
        ...

    async def is_attached(self, namespace: str, claim: str) -> bool:
        """Whether the volume of a claim can be mounted here: it is attached to the node, or need not be."""
        ...

    async def token(self, pod: Object, projection: Object) -> str:
        """A token of the Pod's service account, bound to the Pod."""
        ...

    async def pod_certificate(self, pod: Object, volume: str, number: int, source: Object) -> tuple[str, str]:
        """Key and certificates that were issued for a source of a projected volume, as PEM. Raises ConfigError before
        there are any."""
        ...

    async def trust_bundle(self, name: str) -> Object | None:
        """The ClusterTrustBundle of a name; None if there is none."""
        ...

    async def trust_bundles(self, signer: str, selector: Object | None) -> Sequence[Object]:
        """Those of a signer that a metav1.LabelSelector finds; none where there is no selector."""
        ...

    async def services(self) -> Sequence[Object]:
        """All Services, once they are known."""
        ...

    def allocatable(self) -> Mapping[str, str]:
        """What Pods may use of the node."""
        ...

    def forget(self, uid: str) -> None:
        """The Pod is gone."""
        ...


class PodAddresses(NamedTuple):
    pod_ips: tuple[str, ...]
    host_ip: str


def names_in(text: str) -> list[str]:
    """The names that `expand` would look up."""
    return [match[2] for match in _REFERENCE.finditer(text) if match[1] != "$"]


def expand(text: str, *environments: Mapping[str, str]) -> str:
    """`$(NAME)` to its value, `$$` to `$`; a name that is not set stays as it stands (third_party expansion)."""

    def one(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        return next((env[match[2]] for env in environments if match[2] in env), match[0])

    return _REFERENCE.sub(one, text)


async def environment(
    pod: Object,
    container: Object,
    references: References,
    addresses: PodAddresses,
    volumes: Mapping[str, Mapping[str, str]],
) -> dict[str, str]:
    """`volumes` are the files of the Pod's volumes. Raises ConfigError for a reference that is neither there nor
    optional."""
    return await _Making(pod, container, references, addresses, volumes).all()


class _Making:
    def __init__(
        self,
        pod: Object,
        container: Object,
        references: References,
        addresses: PodAddresses,
        volumes: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._pod = pod
        self._container = container
        self._references = references
        self._addresses = addresses
        self._volumes = volumes

    async def all(self) -> dict[str, str]:
        links = self._pod["spec"].get("enableServiceLinks", True)
        namespace = pods.namespace_of(self._pod)
        services = service_environment(await self._references.services(), namespace, links=links)
        env: dict[str, str] = {}
        for source in self._container.get("envFrom") or ():
            env.update(await self._from(source))
        for item in self._container.get("env") or ():
            if item.get("value"):
                env[item["name"]] = expand(item["value"], env, services)
                continue
            value = await self._value_from(item["valueFrom"]) if item.get("valueFrom") else ""
            if value is not None:
                env[item["name"]] = value
        return {**env, **{name: value for name, value in services.items() if name not in env}}

    async def _data(self, kind: str, name: str, *, optional: bool) -> dict[str, str] | None:
        data = await self._references.data(kind, pods.namespace_of(self._pod), name)
        if data is None and not optional:
            raise ConfigError(f'{kind} "{name}" not found')
        return data

    async def _from(self, source: Object) -> dict[str, str]:
        for kind, field in (("configmap", "configMapRef"), ("secret", "secretRef")):
            if reference := source.get(field):
                data = await self._data(kind, reference.get("name", ""), optional=bool(reference.get("optional")))
                prefix = source.get("prefix", "")
                return {f"{prefix}{key}": value for key, value in (data or {}).items()}
        return {}

    async def _value_from(self, source: Object) -> str | None:
        if field := source.get("fieldRef"):
            pod_ips, host_ip = self._addresses
            return field_value(self._pod, field["fieldPath"], pod_ips=pod_ips, host_ip=host_ip)
        if resource := source.get("resourceFieldRef"):
            return resource_value(self._pod, resource, self._references.allocatable(), self._container)
        if file := source.get("fileKeyRef"):
            return self._in_file(file)
        for kind, key in (("configmap", "configMapKeyRef"), ("secret", "secretKeyRef")):
            if reference := source.get(key):
                return await self._key(kind, reference)
        return ""

    async def _key(self, kind: str, reference: Object) -> str | None:
        name, key, optional = reference.get("name", ""), reference["key"], bool(reference.get("optional"))
        data = await self._data(kind, name, optional=optional)
        if data is not None and key in data:
            return data[key]
        if optional:
            return None
        titled = "ConfigMap" if kind == "configmap" else "Secret"
        raise ConfigError(f"couldn't find key {key} in {titled} {pods.namespace_of(self._pod)}/{name}")

    def _in_file(self, reference: Object) -> str | None:
        volume, path, key = reference["volumeName"], reference["path"], reference["key"]
        if volume not in self._volumes:
            raise ConfigError(f'cannot find the volume "{volume}" referenced by FileKeyRef')
        text = self._volumes[volume].get(path)
        value = env_file_value(text, key) if text is not None else None
        if text is None and not reference.get("optional"):
            raise ConfigError("couldn't parse env file")
        if value or reference.get("optional"):
            return value or None
        where = f"/var/lib/kubelet/pods/{pods.uid_of(self._pod)}/volumes/kubernetes.io~empty-dir/{volume}/{path}"
        raise ConfigError(f'environment variable key "{key}" not found in file "{where}"')


def decoded(data: Object, *, secret: bool, binary: bool = False) -> dict[str, str]:
    """The values of a ConfigMap's or Secret's data as text; bytes that are no text survive (PEP 383)."""
    plain = {str(key): str(value) for key, value in (data.get("data") or {}).items()}
    if secret:
        return {key: _text(value) for key, value in plain.items()}
    more = (data.get("binaryData") or {}) if binary else {}
    return {**plain, **{str(key): _text(value) for key, value in more.items()}}


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode(errors="surrogateescape")
