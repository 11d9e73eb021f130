"""What is too large for the store is written again without its managedFields, which may be large.

Source of the behaviour: apiserver pkg/endpoints/handlers, create.go and update.go, and isTooLargeError of rest.go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from engine.api.types import Object
from engine.store.types import RequestTooLargeError

T = TypeVar("T")


async def made_to_fit(obj: Object, write: Callable[[], Awaitable[T]], *, tracked: bool) -> T:
    """What `write` gives, which writes `obj`. `tracked` says that it is an apply's, which lives by its managedFields
    and is not written without them."""
    try:
        return await write()
    except RequestTooLargeError:
        if tracked or not without_owners(obj):
            raise
    return await write()


def without_owners(obj: Object) -> bool:
    """Take the managedFields away; whether there were any."""
    return obj["metadata"].pop("managedFields", None) is not None
