"""How well what is typed into the palette fits what it could mean, in time that grows with the text alone.

Textual's own matcher tries every way in which the letters could stand: a sentence takes it tens of milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

EQUAL, BEGINS, PART, WORDS, ABOUT, LETTERS = 6.0, 5.0, 4.0, 3.0, 2.0, 1.0


def fit(query: str, title: str, about: str = "") -> float:
    """0 for what is not meant; `about` is found by its words, and counts less than the title."""
    query, title = query.lower().strip(), title.lower()
    if query == title:
        return EQUAL
    if title.startswith(query):
        return BEGINS
    if query in title:
        return PART
    words = query.split()
    if all(word in title for word in words):
        return WORDS
    if about:
        whole = f"{title} {about.lower()}"
        if all(word in whole for word in words):
            return ABOUT
    return LETTERS if has_in_order(title, query) else 0.0


def has_in_order(text: str, letters: str) -> bool:
    """Whether the letters stand in the text in their order, whatever is between them."""
    rest = iter(text)
    return all(letter in rest for letter in letters)


def marks(query: str, title: str) -> Iterator[tuple[int, int]]:
    """Where in the title stands what was typed: the whole of it, else each of its words."""
    whole, text = query.lower().strip(), title.lower()
    for word in (whole,) if whole in text else whole.split():
        at = text.find(word)
        if at >= 0:
            yield at, at + len(word)
