"""One HTTP extender: the calls, in the words of kube-scheduler/extender/v1.

Source: upstream's pkg/scheduler/extender.go. The types of that API have no JSON tags: fields are written as Go has them
(`NodeNames`), and read whatever their case. Time here is this machine's, for the other end is no part of the model.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import aiohttp
import orjson

from engine.api.golang.json import first_value
from engine.api.types import Object
from engine.http_errors import post_error
from engine.scheduler.configuration import ExtenderConfiguration
from engine.scheduler.extenders.answers import (
    BINDING_RESULT,
    FILTER_RESULT,
    PREEMPTION_RESULT,
    PRIORITIES,
    GoType,
    type_error,
)
from engine.scheduler.framework.events import ALL_EVENTS, EventWithHint
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

# Pods that an extender rejected wait under this name, as if it were a plugin.
EXTENDER_NAME = "Extender"
EVENTS: list[EventWithHint] = ALL_EVENTS
MAX_EXTENDER_PRIORITY = 10


class ExtenderError(Exception):
    """The extender was not reached, or said that something is wrong."""


class Filtered(NamedTuple):
    """Names of the nodes that passed, and why others did not."""

    passed: list[str]
    failed: dict[str, str]
    unresolvable: dict[str, str]


class Victims(NamedTuple):
    """UIDs of Pods that would be preempted on one node."""

    uids: list[str]
    violations: int


class Extender:
    def __init__(self, configuration: ExtenderConfiguration) -> None:
        self._configuration = configuration
        self._session: aiohttp.ClientSession | None = None
        self._ssl = _context(configuration)

    @property
    def name(self) -> str:
        return self._configuration.url_prefix

    @property
    def weight(self) -> int:
        return self._configuration.weight

    @property
    def ignorable(self) -> bool:
        """Whether pods are scheduled without it where it cannot be reached."""
        return self._configuration.ignorable

    @property
    def filters(self) -> bool:
        return bool(self._configuration.filter_verb)

    @property
    def prioritizes(self) -> bool:
        return bool(self._configuration.prioritize_verb)

    @property
    def binds(self) -> bool:
        return bool(self._configuration.bind_verb)

    @property
    def preempts(self) -> bool:
        return bool(self._configuration.preempt_verb)

    def interested_in(self, pod: PodInfo) -> bool:
        """Whether the pod asks for one of the resources that it manages; without any, for all pods."""
        managed = self._configuration.managed_resources
        if not managed:
            return True
        containers = (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ()))
        return any(
            name in managed
            for container in containers
            for part in ("requests", "limits")
            for name in (container.get("resources") or {}).get(part) or ()
        )

    # -- the calls

    async def filter(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Filtered:
        result = await self._ask(self._configuration.filter_verb, self._arguments(pod, nodes), FILTER_RESULT)
        if problem := result.get("error"):
            raise ExtenderError(str(problem))
        failed, unresolvable = result.get("failednodes") or {}, result.get("failedandunresolvablenodes") or {}
        if self._configuration.node_cache_capable and result.get("nodenames") is not None:
            passed = [name or "" for name in result["nodenames"]]
        else:
            items = (result.get("nodes") or {}).get("items") or []
            passed = [((node or {}).get("metadata") or {}).get("name") or "" for node in items]
        known = {node.name for node in nodes}
        for name in passed:
            if name not in known:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input node list'
                )
        return Filtered(passed, _texts(failed), _texts(unresolvable))

    async def prioritize(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """Scores of 0 to 10 by node."""
        listed = await self._send(self._configuration.prioritize_verb, self._arguments(pod, nodes), PRIORITIES)
        items = [_folded(item or {}) for item in listed or ()]
        return {item.get("host") or "": item.get("score") or 0 for item in items}

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        arguments = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node_name}
        result = await self._ask(self._configuration.bind_verb, arguments, BINDING_RESULT)
        if problem := result.get("error"):
            raise ExtenderError(str(problem))

    async def preempt(
        self, pod: PodInfo, victims: Mapping[str, Sequence[PodInfo]], violations: Mapping[str, int]
    ) -> dict[str, Victims]:
        """The nodes and victims that are left of those proposed."""
        meta = self._configuration.node_cache_capable
        proposed = {
            node: {
                "Pods": [{"UID": victim.uid} if meta else victim.pod for victim in pods],
                "NumPDBViolations": violations.get(node, 0),
            }
            for node, pods in victims.items()
        }
        arguments: Object = {"Pod": pod.pod, "NodeNameToVictims": None, "NodeNameToMetaVictims": None}
        arguments["NodeNameToMetaVictims" if meta else "NodeNameToVictims"] = proposed
        result = await self._ask(self._configuration.preempt_verb, arguments, PREEMPTION_RESULT)
        left = result.get("nodenametometavictims") or {}
        return {node: _victims(_folded(value or {})) for node, value in left.items()}

    def _arguments(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Object:
        if self._configuration.node_cache_capable:
            return {"Pod": pod.pod, "Nodes": None, "NodeNames": [node.name for node in nodes]}
        listed = {"metadata": {}, "items": [node.node for node in nodes]}
        return {"Pod": pod.pod, "Nodes": listed, "NodeNames": None}

    async def _ask(self, verb: str, arguments: Object, wanted: GoType) -> Mapping[str, Any]:
        """Send what is to be answered by an object; it comes back with its keys in lower case."""
        return _folded(await self._send(verb, arguments, wanted) or {})

    async def _send(self, verb: str, arguments: Object, wanted: GoType) -> Any:
        """POST to the extender."""
        url = f"{self.name.rstrip('/')}/{verb}"
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=self._configuration.timeout)
            self._session = aiohttp.ClientSession(timeout=timeout)
        try:
            async with self._session.post(
                url,
                data=orjson.dumps(arguments),
                headers={"Content-Type": "application/json"},
                ssl=self._ssl if self._ssl is not None else True,
            ) as response:
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ExtenderError(post_error(url, error)) from error
        if response.status != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {response.status}")
        try:
            value = _read(body)
        except ValueError as error:
            raise ExtenderError(str(error)) from error
        if wrong := type_error(value, wanted):
            raise ExtenderError(wrong)
        return value

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def _read(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return first_value(body)  # what follows the answer does not matter; else this says what is wrong


def _folded(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key.lower(): item for key, item in value.items()}


def _texts(reasons: Mapping[str, str | None]) -> dict[str, str]:
    return {node: reason or "" for node, reason in reasons.items()}


def _victims(value: Mapping[str, Any]) -> Victims:
    pods = [_folded(pod or {}) for pod in value.get("pods") or ()]
    return Victims([pod.get("uid") or "" for pod in pods], value.get("numpdbviolations") or 0)


def _context(configuration: ExtenderConfiguration) -> ssl.SSLContext | bool | None:
    """How the other end is checked; an extender by HTTPS without a CA is not checked, as upstream has it."""
    authority = configuration.certificate_authority
    if not (configuration.enable_https or authority or configuration.insecure or configuration.client_certificate):
        return None
    pem = "-----BEGIN" in authority
    context = ssl.create_default_context(cafile=None if pem else authority or None, cadata=authority if pem else None)
    if configuration.insecure or (configuration.enable_https and not authority):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.client_certificate:
        context.load_cert_chain(configuration.client_certificate, configuration.client_key or None)
    return context
