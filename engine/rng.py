"""Seeded randomness: the only source of chance in the engine (design, law 5).

Each component draws from a stream of its own, derived from the cluster's seed and the stream's name, so that one
component's draws never shift another's and the same seed gives the same names, uids and latencies again.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import MutableSequence, Sequence
from typing import TypeVar

T = TypeVar("T")

# The alphabet of generated names: no vowels and no look-alikes, so that no word is spelled by accident
# (apimachinery pkg/util/rand).
NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
# What RFC 9562 fixes of a random UUID: its version, 4, and its variant.
_FIXED = 0xF << 76 | 0b11 << 62
_VERSION_4 = 0x4 << 76 | 0b10 << 62


class Rng:
    """A named stream of random numbers.

    `seed` may be any string or integer; `None` takes one from the operating system.
    """

    def __init__(self, seed: int | str | None = None, name: str = "") -> None:
        self.seed: int | str = random.SystemRandom().getrandbits(63) if seed is None else seed
        self.name = name
        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:16], "big"))

    def stream(self, name: str) -> Rng:
        """An independent stream of the same seed; the same name gives the same numbers."""
        return Rng(self.seed, f"{self.name}/{name}" if self.name else name)

    def random(self) -> float:
        """A float in [0, 1)."""
        return self._random.random()

    def uniform(self, low: float, high: float) -> float:
        return self._random.uniform(low, high)

    def randrange(self, stop: int) -> int:
        """An integer in [0, stop)."""
        return self._random.randrange(stop)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)

    def choice(self, items: Sequence[T]) -> T:
        return self._random.choice(items)

    def shuffle(self, items: MutableSequence[T]) -> None:
        self._random.shuffle(items)

    def uid(self) -> str:
        """A version 4 UUID, as in `metadata.uid`."""
        bits = self._random.getrandbits(128) & ~_FIXED | _VERSION_4
        digits = bits.to_bytes(16, "big").hex()  # by hand: each request needs one, and uuid.UUID takes twice as long
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def name_suffix(self, length: int = 5) -> str:
        """The random end of a generated name, as in `web-7d8d2f4c-x2k9p`."""
        draw, letters = self._random.random, len(NAME_ALPHABET)  # as `choices` draws, which takes three times as long
        return "".join([NAME_ALPHABET[int(draw() * letters)] for _ in range(length)])
