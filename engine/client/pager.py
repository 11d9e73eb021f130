"""Lists in pages, as one list (client-go tools/pager).

A continue token that expires half-way through is no reason to fail: the whole is asked for again, at once and unpaged.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.client.client import ObjectList

PAGE_SIZE = 500


class PageOf(Protocol):
    """One request of a list."""

    def __call__(self, *, resource_version: str | None, limit: int, continue_: str) -> Awaitable[ObjectList]: ...


async def list_pages(page_of: PageOf, *, resource_version: str, page_size: int = PAGE_SIZE) -> tuple[ObjectList, bool]:
    """The list, at the resource version of its first page, and whether it came in pages.

    Raises what a page raises, but for an expired token.
    """
    first = page = await page_of(resource_version=resource_version or None, limit=page_size, continue_="")
    items: list[Object] = list(page.items) if page.continue_ else page.items
    causes = dict(page.causes)
    while page.continue_:
        try:
            # Without the version, which the token has in it: servers refuse both together.
            page = await page_of(resource_version=None, limit=page_size, continue_=page.continue_)
        except ApiError as error:
            if error.reason != "Expired":
                raise
            return await page_of(resource_version=resource_version or None, limit=0, continue_=""), True
        items += page.items
        causes |= page.causes
    whole = first._replace(items=items, continue_="", remaining=0, causes=causes)
    return whole, bool(first.continue_)
