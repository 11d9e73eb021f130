"""Apply sets: a parent object that remembers of which kinds and in which namespaces a set's members are.

Before anything is applied the parent is told of all kinds, old and new, so that nothing is lost when the command is
interrupted; after pruning it keeps those that are left.

Source of the behaviour: KEP-3659, kubectl pkg/cmd/apply/applyset.go and applyset_pruner.go (alpha: KUBECTL_APPLYSET).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from engine.api.errors import ApiError
from engine.api.schema import resolve_version
from engine.api.types import GVR, Object
from engine.api.wire import APPLY_PATCH
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.pruning import Report, remove
from engine.kubectl.selection import Info
from engine.kubectl.session import Session

TOOLING = "applyset.kubernetes.io/tooling"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
KINDS = "applyset.kubernetes.io/contains-group-kinds"
ID = "applyset.kubernetes.io/id"
PART_OF = "applyset.kubernetes.io/part-of"
PARENT_TYPE = "applyset.kubernetes.io/is-parent-type"
TOOL = "kubectl"
BUILT_IN_PARENTS = (GVR("", "v1", "secrets"), GVR("", "v1", "configmaps"))


def enabled(session: Session) -> bool:
    return session.environ("KUBECTL_APPLYSET").lower() == "true"


@dataclass(slots=True)
class ApplySet:
    """One set. `old` and `new` are the kinds of its members before and after, as resources by `Kind.group`."""

    session: Session
    parent: Resource
    name: str
    namespace: str
    old: dict[str, Resource] = field(default_factory=dict)
    old_namespaces: dict[str, None] = field(default_factory=dict)
    new: dict[str, Resource] = field(default_factory=dict)
    new_namespaces: dict[str, None] = field(default_factory=dict)

    @classmethod
    async def of_flag(cls, session: Session, reference: str) -> ApplySet:
        """The set of `--applyset [RESOURCE][.GROUP]/NAME`. Raises CommandError."""
        word, slash, name = reference.rpartition("/")
        try:
            if not name:
                raise CommandError("name cannot be blank")
            parent = await _parent(session, word if slash else "secrets")
        except CommandError as error:
            raise CommandError(f'invalid parent reference "{reference}": {error}') from error
        namespace = session.namespace if parent.namespaced and session.namespace_given else ""
        return cls(session, parent, name, namespace)

    @property
    def id(self) -> str:
        text = ".".join((self.name, self.namespace, self.parent.kind, self.parent.gvr.group))
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        return f"applyset-{digest}-v1"

    @property
    def _shown(self) -> str:
        return f'"{self.parent.plural}.{self.parent.gvr.group}/{self.name}"'

    async def check(self) -> None:
        """Whether the parent may be one. Raises CommandError."""
        errors: list[str] = []
        if self.parent.namespaced and not self.namespace:
            errors.append("namespace is required to use namespace-scoped ApplySet")
        if self.parent.gvr not in BUILT_IN_PARENTS and not await self._is_parent_type():
            gvr = self.parent.gvr
            shown = f"{gvr.group}/{gvr.version}, Resource={gvr.resource}"
            errors.append(f'resource "{shown}" is not permitted as an ApplySet parent')
        if errors:
            raise CommandError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")

    async def _is_parent_type(self) -> bool:
        definitions = await self.session.resolve("customresourcedefinitions")
        listed = await self.session.list(definitions, labelSelector=PARENT_TYPE)
        name = f"{self.parent.plural}.{self.parent.gvr.group}"
        return any(definition["metadata"]["name"] == name for definition in listed)

    def label(self, infos: Iterable[Info]) -> None:
        """Make the objects members. Raises CommandError for one that says itself of what it is a part."""
        for info in infos:
            metadata = info.object.get("metadata") or {}
            labels = metadata.get("labels") or {}
            if PART_OF in labels:
                raise CommandError(f'ApplySet label "{PART_OF}" already set in input data')
            info.object = {**info.object, "metadata": {**metadata, "labels": {**labels, PART_OF: self.id}}}

    # -- before and after

    async def begin(self, infos: Iterable[Info], *, dry_run: str, validation: str) -> None:
        await self._read_parent()
        for info in infos:
            self.new.setdefault(_group_kind(info.resource), info.resource)
            if info.resource.namespaced and info.namespace:
                self.new_namespaces[info.namespace] = None
        await self._write_parent(
            {**self.old, **self.new},
            {**self.old_namespaces, **self.new_namespaces},
            dry_run=dry_run,
            validation=validation,
        )

    async def prune(self, *, seen: Collection[str], dry_run: str, validation: str, report: Report) -> None:
        """Delete the members that were not applied this time, then let the parent forget their kinds."""
        members: list[tuple[Resource, Object]] = []
        for resource in self.old.values():
            for namespace in self.old_namespaces if resource.namespaced else ("",):
                listed = await self.session.list(resource, namespace, labelSelector=f"{PART_OF}={self.id}")
                members += [(resource, obj) for obj in listed if obj["metadata"].get("uid") not in seen]
        for resource, obj in members:
            await remove(self.session, resource, obj, dry_run=dry_run, report=report)
        try:
            await self._write_parent(self.new, self.new_namespaces, dry_run=dry_run, validation=validation)
        except CommandError as error:
            raise CommandError(f"apply and prune succeeded, but ApplySet update failed: {error}") from error

    async def _read_parent(self) -> None:
        try:
            obj = await self.session.get(self.parent, self.name, self.namespace)
        except ApiError as error:
            if error.reason != "NotFound":
                raise CommandError(f"failed to fetch ApplySet parent object {self._shown}: {error.message}") from error
            if self.parent.gvr not in BUILT_IN_PARENTS:
                raise CommandError("custom resource ApplySet parents cannot be created automatically") from error
            return
        metadata = obj["metadata"]
        annotations = metadata.get("annotations") or {}
        self._check_parent(metadata.get("labels") or {}, annotations)
        for text in filter(None, annotations[KINDS].split(",")):
            self.old[text] = await self._resource_of(text)
        self.old_namespaces = dict.fromkeys(filter(None, annotations.get(NAMESPACES, "").split(",")))
        if self.parent.namespaced:
            self.old_namespaces[self.namespace] = None

    def _check_parent(self, labels: dict[str, str], annotations: dict[str, str]) -> None:
        if TOOLING not in annotations:
            raise CommandError(
                f'ApplySet parent object {self._shown} already exists and is missing required annotation "{TOOLING}"'
            )
        if (tool := annotations[TOOLING].rpartition("/")[0] or annotations[TOOLING]) != TOOL:
            raise CommandError(
                f'ApplySet parent object {self._shown} already exists and is managed by tooling "{tool}" instead of '
                f'"{TOOL}"'
            )
        if ID not in labels:
            raise CommandError(f"ApplySet parent object {self._shown} exists and does not have required label {ID}")
        if labels[ID] != self.id:
            raise CommandError(
                f'ApplySet parent object {self._shown} exists and has incorrect value for label "{ID}" '
                f"(got: {labels[ID]}, want: {self.id})"
            )
        if KINDS not in annotations:
            raise CommandError(
                f'parsing ApplySet annotation on {self._shown}: kubectl requires the "{KINDS}" annotation to be set '
                "on all ApplySet parent objects"
            )

    async def _resource_of(self, group_kind: str) -> Resource:
        kind, _, group = group_kind.partition(".")
        for resource in await self.session.discovery.resources(self.session.client):
            if (resource.kind, resource.gvr.group) == (kind, group):
                return resource
        raise CommandError(
            f'parsing ApplySet annotation on {self._shown}: could not find mapping for kind in "{KINDS}" annotation: '
            f'no matches for kind "{kind}" in group "{group}"'
        )

    async def _write_parent(
        self, kinds: dict[str, Resource], namespaces: dict[str, None], *, dry_run: str, validation: str
    ) -> None:
        if dry_run == "client":
            return
        others = ",".join(sorted(name for name in namespaces if name != self.namespace))
        tooling = f"{TOOL}/v{resolve_version()}"
        metadata = {
            "name": self.name,
            "namespace": self.namespace,
            "annotations": {
                TOOLING: tooling,
                KINDS: ",".join(sorted(kinds)),
                NAMESPACES: others,
            },
            "labels": {ID: self.id},
        }
        if not self.namespace:
            del metadata["namespace"]
        body = {"apiVersion": self.parent.gvr.api_version, "kind": self.parent.kind, "metadata": metadata}
        try:
            await self._apply(body, dry_run=dry_run, validation=validation, force=False)
        except ApiError as error:
            if error.reason != "Conflict":
                raise CommandError(f"failed to update ApplySet: {error.message}") from error
            await self._apply(body, dry_run=dry_run, validation=validation, force=True)

    async def _apply(self, body: Object, *, dry_run: str, validation: str, force: bool) -> None:
        await self.session.patch(
            self.parent,
            self.name,
            self.namespace,
            body,
            APPLY_PATCH,
            fieldManager=f"{TOOL}-applyset",
            fieldValidation=validation,
            force=force,
            dryRun="All" if dry_run == "server" else None,
        )


async def _parent(session: Session, word: str) -> Resource:
    try:
        return await session.resolve(word)
    except CommandError as error:
        name, _, group = word.partition(".")
        raise CommandError(f"no matches for {group}/, Resource={name}") from error


def _group_kind(resource: Resource) -> str:
    """As schema.GroupKind prints itself: `Deployment.apps`, `ConfigMap`."""
    return f"{resource.kind}.{resource.gvr.group}" if resource.gvr.group else resource.kind
