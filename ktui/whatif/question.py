"""Asking the scheduler what if: gathers the cluster, the Pods and the configuration, and lets it decide."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.api.types import PODS, Object
from engine.client.indexer import object_key
from engine.kubectl import decoding, manifests
from engine.kubectl.errors import CommandError
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.configuration.fields import ConfigurationError
from engine.scheduler.configuration.loading import load_file
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif import ClusterObjects, DumpError, Outcome, Simulation, pods_of
from engine.scheduler.whatif.capacity import capacity
from engine.scheduler.whatif.comparison import compare
from engine.scheduler.whatif.targets import asked_kind, pods_under
from engine.scheduler.whatif.workloads import is_workload, key_of, made_for, more_of, require_name
from ktui.commands import UsageError

Json = dict[str, Any]

LOGS = re.compile(
    r"^==== START logs for (container \S+ of pod \S+) ====\n(?:.*\n)*?.*==== END logs for \1 ====\n?", re.MULTILINE
)


def read_objects(files: Sequence[str]) -> list[tuple[str, Object]]:
    """The objects of manifests, Lists taken apart, each with its file. Raises UsageError."""
    try:
        return list(_objects(manifests.sources(list(files), recursive=False, stdin=sys.stdin.read)))
    except CommandError as error:
        raise UsageError(str(error)) from error


def read_dump(files: Sequence[str]) -> list[Object]:
    """The objects of dumps: of what `kubectl get` printed, or of all that `kubectl cluster-info dump` wrote, logs and
    folders of folders among it. Raises UsageError."""
    try:
        sources = manifests.sources(list(files), recursive=True, stdin=sys.stdin.read)
        return [obj for _, obj in _objects(replace(each, read=partial(_without_logs, each)) for each in sources)]
    except CommandError as error:
        raise UsageError(str(error)) from error


def _objects(sources: Iterable[manifests.Source]) -> Iterator[tuple[str, Object]]:
    """Raises CommandError, UsageError."""
    for source in sources:
        for document in manifests.documents(source):
            for obj in _flattened(decoding.require_object(document), document.source):
                yield document.source, obj


def _without_logs(source: manifests.Source) -> str:
    return LOGS.sub("", source.read())


def _flattened(value: Object, source: str) -> Iterator[Object]:
    """The objects of a List; those of a list of one kind (NodeList) need not say of which they are. Raises
    UsageError."""
    kind, items = str(value["kind"]), value.get("items")
    if not kind.endswith("List") or (items is None and "items" not in value and kind != "List"):
        yield value
        return
    if not isinstance(items, list | None):
        raise UsageError(f'unable to decode "{source}": the items of a {kind} are no list')
    for i, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise UsageError(f'unable to decode "{source}": items[{i}] is no object')
        if not item.get("kind"):
            if kind == "List":
                raise UsageError(f'unable to decode "{source}": items[{i}] does not say of what kind it is')
            item = {"apiVersion": value.get("apiVersion", ""), "kind": kind.removesuffix("List"), **item}
        yield from _flattened(item, source)


def read_configuration(file: str) -> SchedulerConfiguration:
    """Raises UsageError."""
    try:
        return load_file(Path(file))
    except ConfigurationError as error:
        raise UsageError(str(error)) from error


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A cluster's objects, and which Pods to place: those of `wanted`, else those that `target` (KIND/NAME) means,
    else those that are pending. `target` Pods are taken off their nodes first. `files` says where each of `wanted`
    stands, for messages."""

    objects: list[Object]
    wanted: list[Object] = field(default_factory=list)
    target: str = ""
    namespace: str = "default"
    seed: str = "1"
    files: list[str] = field(default_factory=list)
    version: str = ""  # of Kubernetes; "" is the newest

    async def place(self, configuration: SchedulerConfiguration) -> list[Outcome]:
        """Raises UsageError for what cannot be read, or where nothing is asked for."""
        simulation = None
        try:
            cluster = ClusterObjects.of_dump(self.objects)
            simulation = Simulation(cluster, configuration, seed=self.seed, version=self.version)
            if self.wanted:
                return await self._place_wanted(cluster, simulation)
            again = list(self._old_pods(cluster, simulation))
            return [await simulation.place(pod, admitted=True) for pod in again]
        except DumpError as error:
            raise UsageError(str(error)) from error
        finally:
            if simulation is not None:
                await simulation.close()

    async def count(self, configuration: SchedulerConfiguration, limit: int) -> Json:
        """How many more Pods of the first workload that is wanted fit. Raises UsageError."""
        simulation = None
        try:
            cluster = ClusterObjects.of_dump(self.objects)
            simulation = Simulation(cluster, configuration, seed=self.seed, version=self.version, preemption=False)
            workloads, problems = self._workloads(cluster)
            if problems:
                raise _several(problems)
            first = workloads[0][1]
            require_name(first)
            like = key_of(first) if first["kind"] == "Pod" else ""
            found = await capacity(simulation, more_of(first, cluster, limit), like=like, made_for=made_for(first))
            if not found.pod:
                raise UsageError("there is no Pod to count")
            if found.failed:
                raise UsageError(f"the count ended at Pod {found.count + 1}, which could not be tried: {found.message}")
            return found.to_json()
        except DumpError as error:
            raise UsageError(str(error)) from error
        finally:
            if simulation is not None:
                await simulation.close()

    async def compare(self, before: SchedulerConfiguration, after: SchedulerConfiguration) -> list[Json]:
        pairs = compare(await self.place(before), await self.place(after))
        return [pair.to_json() for pair in pairs]

    async def _place_wanted(self, cluster: ClusterObjects, simulation: Simulation) -> list[Outcome]:
        """Raises UsageError, which tells of all that cannot be read or admitted."""
        announced: dict[str, tuple[int, str, Object]] = {}  # of a Pod that the files have twice the second counts
        workloads, problems = self._workloads(cluster)
        for at, obj in workloads:
            try:
                for pod in self._new_pods(obj, cluster, simulation):
                    announced[object_key(pod)] = at, made_for(obj), pod
            except DumpError as error:
                problems.append(self._told(at, error))
        outcomes: list[Outcome] = []
        for at, of, pod in announced.values() if not problems else ():
            try:
                outcome = await simulation.place(pod, admitted=True)
            except DumpError as error:
                problems.append(self._told(at, error))
                continue
            outcome.made_for = of
            outcomes.append(outcome)
        if problems:
            raise _several(problems)
        return outcomes

    def _new_pods(self, obj: Object, cluster: ClusterObjects, simulation: Simulation) -> Iterator[Object]:
        """The Pods of a workload, which are all there before the first is placed. One of the same name gives way."""
        for pod in pods_of(obj, cluster):
            metadata = pod["metadata"]
            present = cluster.lister(PODS).get(metadata["name"], metadata.get("namespace") or self.namespace)
            if present is not None:
                simulation.take_away(present)
            yield simulation.announce(pod)

    def _workloads(self, cluster: ClusterObjects) -> tuple[list[tuple[int, Object]], list[str]]:
        """The workloads that are wanted and their places, once what they stand on (claims, classes, ...) is added to
        the cluster; and what is wrong with that."""
        workloads: list[tuple[int, Object]] = []
        problems: list[str] = []
        for at, obj in enumerate(self.wanted):
            if is_workload(obj):
                workloads.append((at, _in_namespace(obj, self.namespace)))
                continue
            try:
                cluster.add(obj, self.namespace)
            except DumpError as error:
                problems.append(self._told(at, error))
        if not workloads and not problems:
            raise UsageError("there are no Pods and no workloads in the files")
        return workloads, problems

    def _told(self, at: int, error: DumpError) -> str:
        """The error with the object that is wanted there, and its file."""
        obj, message = self.wanted[at], str(error)
        metadata = obj.get("metadata")
        name = (metadata.get("name") or metadata.get("generateName")) if isinstance(metadata, dict) else ""
        whose = f"{obj['kind']} {name}: "
        if name and not message.startswith(whose):
            message = whose + message
        return f"{self.files[at]}: {message}" if self.files else message

    def _old_pods(self, cluster: ClusterObjects, simulation: Simulation) -> Iterable[Object]:
        if not self.target:
            pods = cluster.pending_pods()
            if not pods:
                raise UsageError("no Pods are pending there: name a KIND/NAME, or files of Pods with -f")
            return pods
        kind, name = parse_target(self.target)
        pods = [pod for pod in cluster.lister(PODS).list() if not _is_over(pod)]
        found = pods_under(kind, name, namespace=self.namespace, pods=pods, between=self.objects)
        if not found:
            raise UsageError(f"no Pods of {self.target} in namespace {self.namespace}")
        for pod in found:
            simulation.take_away(pod)
        return [_unbound(pod) for pod in found]


def _several(problems: list[str]) -> UsageError:
    """Each on a line of its own, as kubectl tells of several."""
    return UsageError(f"\n{UsageError.prefix}: ".join(problems))


def parse_target(target: str) -> tuple[str, str]:
    """The kind and the name of KIND/NAME. Raises UsageError."""
    word, slash, name = target.partition("/")
    if not (word and slash and name):
        raise UsageError(f'"{target}" is not KIND/NAME, as in deployment/web')
    try:
        return asked_kind(word), name
    except DumpError as error:
        raise UsageError(str(error)) from error


def _in_namespace(obj: Object, namespace: str) -> Object:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("namespace"):
        return obj
    return {**obj, "metadata": {**metadata, "namespace": namespace}}


def _is_over(pod: Object) -> bool:
    """Whether a Pod has run to its end or is on its way out: it will not be placed again."""
    return PodInfo(pod).terminal or bool(pod["metadata"].get("deletionTimestamp"))


def _unbound(pod: Object) -> Object:
    """The Pod as it was before it was bound."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {key: value for key, value in pod.items() if key != "status"} | {"spec": spec}
