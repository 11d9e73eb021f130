"""Looks at one object of the API server's own whenever it changes: the informer that such a controller has upstream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.clock import Clock
from engine.store.types import Event, Store, StoreError

AGAIN = 1.0  # seconds after which a store that failed is asked again


async def follow_key(
    store: Store, clock: Clock, key: str, look: Callable[[], Awaitable[None]], *, wakes: Callable[[Event], bool]
) -> None:
    """Call `look` now and after each event of a key that `wakes` it, until the store is closed."""
    while True:
        try:
            source = await store.watch(key.encode())
            try:
                await look()
                async for response in source:
                    if any(map(wakes, response.events)):
                        await look()
                return
            finally:
                await source.aclose()
        except StoreError:
            await clock.sleep(AGAIN)
