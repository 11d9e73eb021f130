"""Which queues the requests of one flow may be put into (apiserver pkg/util/shufflesharding, flowcontrol hashFlowID).

Two flows share some of their queues and hardly ever all, so that one with many requests leaves room for the others.
"""

from __future__ import annotations

import hashlib


def flow_hash(schema: str, distinguisher: str) -> int:
    digest = hashlib.sha256(f"{schema}\0{distinguisher}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def deal(hash_value: int, queues: int, hand: int) -> list[int]:
    """A hand of different queues, of a deck of all of them."""
    drawn: list[int] = []
    cards: list[int] = []
    for dealt in range(hand):
        hash_value, place = divmod(hash_value, queues - dealt)
        card = place  # among those that are left
        for earlier in reversed(drawn):
            card += card >= earlier
        drawn.append(place)
        cards.append(card)
    return cards
