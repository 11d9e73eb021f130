"""What a stream takes from standard input."""

from __future__ import annotations

import asyncio
import os
from typing import TextIO

from engine.kubectl.streaming import chunks


async def _all(stdin: TextIO) -> bytes:
    return b"".join([chunk async for chunk in chunks(stdin)])


def test_nothing_comes_from_where_there_is_nothing() -> None:
    with open(os.devnull) as nothing:
        assert asyncio.run(_all(nothing)) == b""
