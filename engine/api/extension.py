"""What the object model asks of the version of a custom resource; `ResourceInfo.extension` holds it.

The rules of built-in kinds are in tables by kind. Those of a custom kind come with its definition, and are reached
through this protocol, so that the tables' modules need not know of them. `engine.api.crd.version` implements it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from engine.api.errors import Cause
from engine.api.schema import Schema
from engine.api.turns import Work
from engine.api.types import GVK, Object


class ScalePaths(NamedTuple):
    """Where the scale subresource finds its fields: the names of nested fields. `replicas` has those of `spec` for
    every API version of the resource, none for a version without scale."""

    spec: tuple[str, ...]
    status: tuple[str, ...]
    selector: tuple[str, ...]
    replicas: Mapping[str, tuple[str, ...]]


class Extension(Protocol):
    @property
    def gvk(self) -> GVK: ...

    @property
    def schema(self) -> Schema:
        """The schema as server-side apply and OpenAPI walk it."""
        ...

    def schema_of(self, version: str) -> Schema | None:
        """The schema of any version that the definition has, served or not; None for others."""
        ...

    @property
    def scale(self) -> ScalePaths | None: ...

    @property
    def warning(self) -> str:
        """What every request for the version is warned of; "" for nothing."""
        ...

    @property
    def digest(self) -> str:
        """Changes with the schema."""
        ...

    @property
    def terminating(self) -> bool:
        """Whether the definition is being deleted: nothing new may be created."""
        ...

    @property
    def table(self) -> Any:
        """The `KindTable` of its printer columns."""
        ...

    def decode(self, value: Any) -> tuple[Object, list[str]]:
        """The object that a JSON value stands for, and its unknown fields. Raises ApiError 400."""
        ...

    def complete(self, obj: Object) -> None:
        """Fill in defaults, in place."""
        ...

    def problems(
        self, new: Object, old: Object | None, warned: list[str], *, known: Sequence[Cause] = (), status: bool = False
    ) -> Work[list[Cause]]:
        """What is wrong with an object besides its metadata, of which `known` is; `warned` gets what is let be, as it
        was so before.

        `status`: of a write of the status alone the rest is not looked at, nor resources in it that are embedded.
        """
        ...

    def selectable(self, obj: Object) -> dict[str, str]:
        """The fields besides metadata that a field selector may name."""
        ...

    def read(self, stored: Object) -> Object:
        """A stored object, of whatever version, in this one."""
        ...

    def pruned(self, obj: Object) -> Object:
        """An object of this version without the fields that it does not know."""
        ...

    def stored(self, obj: Object) -> Object:
        """An object of this version in the one that is stored."""
        ...
