"""What is typed after `/` in Flow: words that a line says, fields of its spans, labels of what it is about.

web  !lease              the line, who asked or a failure says so, or does not
-l app=web,tier          kubectl's label selector, of the objects that there have been since it was typed
verb=patch  kind!=nodes  a field of the line's spans is that, or is not; `-F verb=patch,kind=pods` as well
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from ktui.models.exchange import Span
from ktui.models.row_filter import FIELDS, LABELS, split
from ktui.models.words import NAMESPACED, SHORT_NAMES, kind_of, plural

_LONG_NAMES = {short: long for long, short in SHORT_NAMES.items()}
_SELECTOR_PREFIX = "metadata."  # as kubectl's field selectors have it


def _resource(span: Span) -> str:
    return plural(kind_of(span["object"]))


def _name(span: Span) -> str:
    """Of `pod/default`, what is in a namespace, there is none yet."""
    parts = span["object"].split("/")
    return str(parts[-1]) if len(parts) == 3 or (len(parts) == 2 and parts[0] not in NAMESPACED) else ""


def _namespace(span: Span) -> str:
    parts = span["object"].split("/")
    return str(parts[1]) if len(parts) == 3 or (len(parts) == 2 and parts[0] in NAMESPACED) else ""


def _plural(word: str) -> str:
    """`pods`, `pod` and `po` are one resource."""
    long = _LONG_NAMES.get(word, word)
    return long if long in SHORT_NAMES or long.endswith("s") else plural(long)


_FIELDS: dict[str, Callable[[Span], str]] = {
    "verb": lambda span: span["verb"],
    "kind": _resource,
    "resource": _resource,
    "namespace": _namespace,
    "name": _name,
    "hop": lambda span: str(span["hop"]),
    "outcome": lambda span: span["outcome"],
    "component": lambda span: span["component"],
}


@dataclass(frozen=True, slots=True)
class FlowFilter:
    """`problem` is what is wrong with the text; then nothing is filtered."""

    text: str = ""
    words: tuple[str, ...] = ()
    labels: str = ""
    fields: tuple[tuple[str, bool, str], ...] = ()  # which, whether it must be equal, the value
    problem: str = ""

    @classmethod
    def parse(cls, text: str) -> FlowFilter:
        labels, words = "", []
        fields: list[tuple[str, bool, str]] = []
        pending = iter(split(text))
        for word in pending:
            flag, equals, value = word.partition("=")
            if flag in LABELS | FIELDS:
                value = value if equals else next(pending, "")
                if flag in LABELS:
                    labels = value
                    continue
                for part in filter(None, value.split(",")):
                    if (field := _field(part)) is None:
                        return cls(text, problem=f"{part}: -F takes {' '.join(_FIELDS)}, as in verb=patch")
                    fields.append(field)
            elif (field := _field(word)) is not None:
                fields.append(field)
            else:
                words.append(word.lower())
        try:
            LabelSelector.parse(labels)
        except ApiError as error:
            return cls(text, problem=error.message)
        return cls(text, tuple(words), labels, tuple(fields))

    @property
    def empty(self) -> bool:
        return not (self.words or self.labels or self.fields)

    def says(self, said: str) -> bool:
        """Whether a text in lower case has the words."""
        return all((word[1:] not in said) if word.startswith("!") else (word in said) for word in self.words)

    def fits(self, spans: Iterable[Span], labelled: Container[str]) -> bool:
        """Whether one of a line's spans has the fields, and its object is among those that have the labels."""
        if not (self.labels or self.fields):
            return True
        return any(
            (not self.labels or span["object"] in labelled) and all(_is(span, *field) for field in self.fields)
            for span in spans
        )


def _field(word: str) -> tuple[str, bool, str] | None:
    name, equals, value = word.partition("=")
    key = name.removesuffix("!").lower().removeprefix(_SELECTOR_PREFIX)
    if not equals or key not in _FIELDS:
        return None
    value = value.removeprefix("=").lower()
    return key, not name.endswith("!"), _plural(value) if _FIELDS[key] is _resource else value


def _is(span: Span, field: str, equal: bool, value: str) -> bool:
    return (_FIELDS[field](span).lower() == value) == equal
