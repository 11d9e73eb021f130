"""The graph of owners and dependents, kept from watch events: pure (garbagecollector/graph_builder.go).

Nodes are known by uid. An owner that is referred to but was not seen is a *virtual* node: it may come yet, or it may
not exist, which the collector has to ask the API server. Each change returns the uids that the collector should look
at: those to delete, and owners whose dependents are to be orphaned.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.api.types import Object
from engine.controllers.ownership import owner_references

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
ABSENT_OWNERS = 500


class Identity(NamedTuple):
    """What is needed to find an object at the API server. The namespace of a virtual node is a guess."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


@dataclass(slots=True, eq=False)
class Node:
    identity: Identity
    owners: list[Object] = field(default_factory=list)
    dependents: dict[str, Node] = field(default_factory=dict)  # by uid
    being_deleted: bool = False
    deleting_dependents: bool = False  # waits in the foreground until its dependents are gone
    virtual: bool = False

    @property
    def blocking_dependents(self) -> list[Node]:
        uid = self.identity.uid
        return [
            node
            for node in self.dependents.values()
            if any(owner["uid"] == uid and owner.get("blockOwnerDeletion") for owner in node.owners)
        ]


class Work(NamedTuple):
    """What to look at after a change, and the references across namespaces that it brought to light: (dependent, its
    reference), which name an owner that was seen elsewhere and so can never hold."""

    delete: list[str]
    orphan: list[str]
    astray: tuple[tuple[Node, Object], ...] = ()


class Graph:
    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._absent: OrderedDict[Identity, None] = OrderedDict()

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes.values())

    def __len__(self) -> int:
        return len(self._nodes)

    # -- owners that do not exist

    def is_absent(self, owner: Identity) -> bool:
        return owner in self._absent

    def note_absent(self, owner: Identity) -> None:
        self._absent[owner] = None
        if len(self._absent) > ABSENT_OWNERS:
            self._absent.popitem(last=False)

    # -- changes

    def seen(self, old: Object | None, new: Object, *, api_version: str, kind: str) -> Work:
        """An object was added or changed."""
        identity = identity_of(new, api_version=api_version, kind=kind)
        node = self._nodes.get(identity.uid)
        delete: dict[str, None] = {}
        astray: list[tuple[Node, Object]] = []
        if node is None:
            node = Node(identity)
            self._nodes[identity.uid] = node
        elif node.virtual:
            node.virtual = False
            # Whoever referred to it by other coordinates is to be looked at again.
            for dependent in node.dependents.values():
                if not _refers_to(dependent, identity):
                    delete[dependent.identity.uid] = None
                if _is_astray(dependent, identity):
                    astray.append((dependent, _reference_to(dependent, identity.uid)))
            node.identity = identity
        for owner, reference in self._set_owners(node, owner_references(new), delete):
            if not owner.virtual and _is_astray(node, owner.identity):
                astray.append((node, reference))
        deleting = bool(new["metadata"].get("deletionTimestamp"))
        node.being_deleted = node.being_deleted or deleting
        if deleting and _starts(old, new, ORPHAN):
            return Work(list(delete), [identity.uid], tuple(astray))
        if deleting and _starts(old, new, FOREGROUND):
            node.deleting_dependents = True
            delete.update(dict.fromkeys([*node.dependents, identity.uid]))
        return Work(list(delete), [], tuple(astray))

    def gone(self, uid: str) -> Work:
        """An object was deleted, or found not to exist."""
        node = self._nodes.pop(uid, None)
        if node is None:
            return Work([], [])
        if node.dependents:
            self.note_absent(node.identity)
        delete = dict.fromkeys(node.dependents)
        for reference in node.owners:
            owner = self._nodes.get(reference["uid"])
            if owner is None:
                continue
            owner.dependents.pop(uid, None)
            if owner.deleting_dependents:
                delete[owner.identity.uid] = None
        return Work(list(delete), [])

    def _set_owners(self, node: Node, owners: list[Object], delete: dict[str, None]) -> list[tuple[Node, Object]]:
        """Returns the owners that are new, with the references to them."""
        before = {owner["uid"]: owner for owner in node.owners}
        after = {owner["uid"]: owner for owner in owners}
        node.owners = owners
        for uid, reference in before.items():
            owner = self._nodes.get(uid)
            if owner is None:
                continue
            if uid not in after:
                owner.dependents.pop(node.identity.uid, None)
            unblocked = reference.get("blockOwnerDeletion") and not (after.get(uid) or {}).get("blockOwnerDeletion")
            if unblocked:
                delete[uid] = None
        return [
            (self._add_dependent(node, reference, delete), reference)
            for uid, reference in after.items()
            if uid not in before
        ]

    def _add_dependent(self, node: Node, reference: Object, delete: dict[str, None]) -> Node:
        owner = self._nodes.get(reference["uid"])
        if owner is None:
            owner = Node(owner_identity(reference, node.identity.namespace), virtual=True)
            self._nodes[reference["uid"]] = owner
            delete[reference["uid"]] = None  # ask whether it exists
        elif not owner.virtual and not _matches(owner.identity, reference, node.identity.namespace):
            delete[node.identity.uid] = None
        owner.dependents[node.identity.uid] = node
        return owner


def identity_of(obj: Object, *, api_version: str, kind: str) -> Identity:
    metadata = obj["metadata"]
    return Identity(api_version, kind, metadata.get("namespace", ""), metadata["name"], metadata["uid"])


def owner_identity(reference: Object, namespace: str) -> Identity:
    """An owner as a dependent in `namespace` names it."""
    return Identity(
        reference.get("apiVersion", ""),
        reference.get("kind", ""),
        namespace,
        reference.get("name", ""),
        reference["uid"],
    )


def _matches(owner: Identity, reference: Object, namespace: str) -> bool:
    """Whether a reference names the owner rightly; the version may differ, the group may not."""
    group = reference.get("apiVersion", "").rpartition("/")[0]
    return (
        owner.kind == reference.get("kind")
        and owner.name == reference.get("name")
        and owner.api_version.rpartition("/")[0] == group
        and owner.namespace in ("", namespace)
    )


def _refers_to(node: Node, owner: Identity) -> bool:
    return any(
        _matches(owner, reference, node.identity.namespace)
        for reference in node.owners
        if reference["uid"] == owner.uid
    )


def _is_astray(dependent: Node, owner: Identity) -> bool:
    """Whether the owner lives in a namespace that is not the dependent's."""
    return owner.namespace not in ("", dependent.identity.namespace)


def _reference_to(node: Node, uid: str) -> Object:
    return next(reference for reference in node.owners if reference["uid"] == uid)


def _starts(old: Object | None, new: Object, finalizer: str) -> bool:
    """Whether the object now waits for this finalizer and did not before."""

    def waits(obj: Object) -> bool:
        metadata = obj["metadata"]
        return bool(metadata.get("deletionTimestamp")) and finalizer in (metadata.get("finalizers") or ())

    return waits(new) and (old is None or not waits(old))
