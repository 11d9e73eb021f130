"""Letters that make a name unique, as the API server draws them for generated names (apimachinery pkg/util/rand)."""

from __future__ import annotations

import os

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH = 5


def random_letters() -> str:
    """Five of them, of this machine's chance: a client is no part of what a seed repeats."""
    return "".join(LETTERS[byte % len(LETTERS)] for byte in os.urandom(_LENGTH))
