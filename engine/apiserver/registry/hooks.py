"""What single kinds do besides the generic verbs: a Service's addresses, a Namespace's finalizers.

A hook is registered for a resource and called by the verbs at fixed points (apiserver pkg/registry/generic
store.go: BeginCreate, BeginUpdate, AfterDelete).
"""

from __future__ import annotations

from typing import Protocol

from engine.api.types import Object


class Hook(Protocol):
    """`begin_create` and `begin_update` complete an object before it is validated, or raise ApiError. Then one of the
    others is called, when it is known what became of it; of a dry run, that it came to nothing."""

    async def begin_create(self, obj: Object, *, dry_run: bool) -> None: ...

    async def begin_update(self, obj: Object, old: Object, *, dry_run: bool) -> None: ...

    async def after_success(self, obj: Object, old: Object | None) -> None:
        """The object is stored; `old`, if it is an update, is no longer."""
        ...

    async def after_failure(self, obj: Object, old: Object | None) -> None: ...

    async def after_delete(self, obj: Object) -> None: ...


class Hooks:
    def __init__(self) -> None:
        self._hooks: dict[str, Hook] = {}

    def register(self, group_resource: str, hook: Hook) -> None:
        self._hooks[group_resource] = hook

    def of(self, group_resource: str) -> Hook | None:
        return self._hooks.get(group_resource)

    async def deleted(self, group_resource: str, obj: Object) -> None:
        """The object is in the store no more."""
        if (hook := self.of(group_resource)) is not None:
            await hook.after_delete(obj)
