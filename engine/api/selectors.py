"""Label and field selectors, as texts and as metav1.LabelSelector objects.

Source of the behaviour: apimachinery pkg/labels (Parse, Requirement), pkg/fields (ParseSelector) and
pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from engine.api.errors import ApiError, bad_request, field_invalid
from engine.api.label_syntax import label_key_errors, label_value_errors
from engine.api.types import Object

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "FieldRequirement",
    "FieldSelector",
    "LabelSelector",
    "Requirement",
    "format_label_selector",
    "format_labels",
    "label_key_errors",
    "label_value_errors",
]


def _int64(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 and text.strip() == text and "_" not in text else None


class Requirement(NamedTuple):
    """One term. `operator` is `=`, `==`, `!=`, `in`, `notin`, `exists`, `!`, `gt` or `lt`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        operator = self.operator
        if operator in ("=", "==", "in"):
            return value is not None and value in self.values
        if operator in ("!=", "notin"):
            return value is None or value not in self.values
        if operator == "exists":
            return value is not None
        if operator == "!":
            return value is None
        number, bound = _int64(value or ""), _int64(self.values[0])
        if number is None or bound is None:
            return False
        return number > bound if operator == "gt" else number < bound

    def __str__(self) -> str:
        if self.operator == "exists":
            return self.key
        if self.operator == "!":
            return f"!{self.key}"
        if self.operator in ("in", "notin"):
            return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
        sign = {"gt": ">", "lt": "<"}.get(self.operator, self.operator)
        return f"{self.key}{sign}{','.join(self.values)}"


class LabelSelector:
    """All requirements must hold; none at all selects everything, `NOTHING` nothing."""

    __slots__ = ("_nothing", "requirements")

    def __init__(self, requirements: Iterable[Requirement] = (), *, nothing: bool = False) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda requirement: requirement.key))
        self._nothing = nothing

    @classmethod
    def parse(cls, text: str) -> LabelSelector:
        """The selector of a `labelSelector` parameter. Raises ApiError 400."""
        return cls(_Parser(text).parse())

    @classmethod
    def from_object(cls, selector: Object | None) -> LabelSelector:
        """The selector of a metav1.LabelSelector: None selects nothing, empty everything. Raises ApiError 400."""
        if selector is None:
            return NOTHING
        requirements = [_requirement(k, "=", [v]) for k, v in (selector.get("matchLabels") or {}).items()]
        for expression in selector.get("matchExpressions") or ():
            operator = _EXPRESSION_OPERATORS.get(expression.get("operator", ""))
            if operator is None:
                raise bad_request(f'"{expression.get("operator", "")}" is not a valid label selector operator')
            requirements.append(_requirement(expression.get("key", ""), operator, expression.get("values") or []))
        return cls(requirements)

    @classmethod
    def from_labels(cls, labels: Mapping[str, str] | None) -> LabelSelector:
        """The selector of a map, as Services and ReplicationControllers have: every label must be there."""
        return cls(Requirement(key, "=", (value,)) for key, value in (labels or {}).items())

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.requirements and not self._nothing

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        if self._nothing:
            return False
        labels = labels or {}
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"<LabelSelector {'nothing' if self._nothing else str(self) or 'everything'}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LabelSelector)
            and self.requirements == other.requirements
            and self._nothing == other._nothing
        )

    def __hash__(self) -> int:
        return hash((self.requirements, self._nothing))


NOTHING = LabelSelector(nothing=True)
EVERYTHING = LabelSelector()
_EXPRESSION_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def _requirement(key: str, operator: str, values: list[str]) -> Requirement:
    """Checked as labels.NewRequirement does. Raises ApiError 400 with all that is wrong."""
    wrong: list[str] = []
    if errors := label_key_errors(key):
        wrong.append(str(field_invalid("key", key, "; ".join(errors))))
    if operator in ("in", "notin") and not values:
        wrong.append(str(field_invalid("values", None, "for 'in', 'notin' operators, values set can't be empty")))
    elif operator in ("exists", "!") and values:
        wrong.append(str(field_invalid("values", values, "values set must be empty for exists and does not exist")))
    elif operator in ("gt", "lt"):
        wrong += [
            str(field_invalid(f"values[{i}]", v, "for 'Gt', 'Lt' operators, the value must be an integer"))
            for i, v in enumerate(values)
            if _int64(v) is None
        ]
    for index, value in enumerate(values):
        if errors := label_value_errors(value):
            wrong.append(str(field_invalid(f"values[{index}][{key}]", value, "; ".join(errors))))
    if wrong:
        raise bad_request(wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")
    return Requirement(key, operator, tuple(values))


_SPACE = " \t\r\n"
# A zero ends a text where a token would begin; one that follows a token is taken for a part of that and dropped.
_TOKENS = re.compile(rf"[{_SPACE}]*(==|!=|[=!(),<>]|[^{_SPACE}=!(),<>\0]+)\0?|[{_SPACE}]*\0.*", re.DOTALL)
_SYMBOLS = frozenset(("==", "!=", "=", "!", "(", ")", ",", ">", "<"))
_BINARY_OPERATORS = {"in": "in", "=": "=", "==": "==", ">": "gt", "<": "lt", "notin": "notin", "!=": "!="}
_BINARY_OPERATORS_SHOWN = "in, notin, =, ==, !=, gt, lt"
_END = ""


def _is_word(token: str) -> bool:
    return token != _END and token not in _SYMBOLS


class _Parser:
    """A recursive descent over the tokens, as labels.Parser; an empty token is the end of the text."""

    def __init__(self, text: str) -> None:
        # At once: a client may ask for any of a hundred thousand values, and everybody waits meanwhile.
        self._tokens: list[str] = _TOKENS.findall(text)
        self._position = 0

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else _END

    def _take(self) -> str:
        token = self._peek()
        self._position += 1
        return token

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        while True:
            token = self._peek()
            if token == _END:
                return requirements
            if not _is_word(token) and token != "!":
                raise bad_request(f"found '{token}', expected: !, identifier, or 'end of string'")
            requirements.append(self._requirement())
            separator = self._take()
            if separator == _END:
                return requirements
            if separator != ",":
                raise bad_request(f"found '{separator}', expected: ',' or 'end of string'")
            following = self._peek()
            if not _is_word(following) and following != "!":
                raise bad_request(f"found '{following}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        negated = self._peek() == "!"
        if negated:
            self._take()
        key = self._take()
        if not _is_word(key):
            raise self._failed(f"found '{key}', expected: identifier")
        if errors := label_key_errors(key):
            raise self._failed(str(field_invalid("<nil>", key, "; ".join(errors))))
        if negated or self._peek() in (_END, ","):
            return Requirement(key, "!" if negated else "exists")
        token = self._take()
        operator = _BINARY_OPERATORS.get(token)
        if operator is None:
            raise self._failed(f"found '{token}', expected: {_BINARY_OPERATORS_SHOWN}")
        values = self._values() if operator in ("in", "notin") else [self._value()]
        try:
            return _requirement(key, operator, values)
        except ApiError as error:
            raise self._failed(error.message) from None

    def _value(self) -> str:
        if self._peek() in (_END, ","):
            return ""
        token = self._take()
        if not _is_word(token):
            raise self._failed(f"found '{token}', expected: identifier")
        return token

    def _values(self) -> list[str]:
        """The values in parentheses, where one left out is the empty one: `(a,)` holds `a` and ``."""
        token = self._take()
        if token != "(":
            raise self._failed(f"found '{token}' expected: '('")
        if not _is_word(first := self._peek()) and first not in (",", ")"):
            raise self._failed(f"found '{first}', expected: ',', ')' or identifier")
        values: dict[str, None] = {}
        wanted = True  # a value may stand here
        while (token := self._take()) != ")":
            if token == ",":
                if wanted:
                    values[""] = None
                wanted = True
            elif _is_word(token) and wanted:
                values[token] = None
                wanted = False
            else:
                expected = "',', or identifier" if wanted else "',' or ')'"
                raise self._failed(f"found '{token}', expected: {expected}")
        if wanted:
            values[""] = None
        return sorted(values)

    @staticmethod
    def _failed(why: str) -> ApiError:
        return bad_request(f"unable to parse requirement: {why}")


class FieldRequirement(NamedTuple):
    field: str
    operator: str  # `=` or `!=`
    value: str


class FieldSelector:
    """All terms must hold; a field that an object lacks counts as empty."""

    __slots__ = ("requirements",)

    def __init__(self, requirements: Iterable[FieldRequirement] = ()) -> None:
        self.requirements = tuple(requirements)

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        """The selector of a `fieldSelector` parameter. Raises ApiError 400."""
        terms = (_field_term(text, term) for term in sorted(_split_terms(text)) if term)
        return cls(term for term in terms if term.field or term.value)

    @property
    def empty(self) -> bool:
        return not self.requirements

    def matches(self, fields: Mapping[str, Any]) -> bool:
        return all(
            (fields.get(field, "") == value) is (operator != "!=") for field, operator, value in self.requirements
        )

    def exact(self, field: str) -> str | None:
        """The value that the selector demands of a field; None if it does not demand one."""
        for requirement in self.requirements:
            if requirement.field == field and requirement.operator != "!=":
                return requirement.value
        return None

    def __str__(self) -> str:
        return ",".join(f"{field}{operator}{_escape(value)}" for field, operator, value in self.requirements)


_FIELD_ESCAPES = re.compile(r"\\(.?)|([,=])", re.DOTALL)


def _escape(value: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", value)


def _unescape(value: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[2] is not None:
            raise bad_request(f"invalid field selector: unescaped character in value: {ord(match[2])}")  # as a number
        if match[1] not in ("\\", ",", "=") or not match[1]:
            raise bad_request(f"invalid field selector: invalid escape sequence: {match[0]}")
        return match[1]

    return _FIELD_ESCAPES.sub(replace, value)


def _split_terms(text: str) -> list[str]:
    """Split at commas that are not escaped."""
    return re.findall(r"(?:\\.|[^,\\]|\\$)+", text, re.DOTALL)


def _field_term(selector: str, term: str) -> FieldRequirement:
    match = re.search(r"!=|==|=", term)
    if match is None:
        raise bad_request(f"invalid selector: '{selector}'; can't understand '{term}'")
    operator = "=" if match[0] == "==" else match[0]
    return FieldRequirement(term[: match.start()], operator, _unescape(term[match.end() :]))


def format_label_selector(selector: Object | None) -> str:
    """A metav1.LabelSelector as tables print it (metav1.FormatLabelSelector)."""
    try:
        return str(LabelSelector.from_object(selector)) or "<none>"
    except ApiError:
        return "<error>"


def format_labels(labels: Mapping[str, str] | None) -> str:
    """A map of labels as tables print it (labels.FormatLabels)."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "<none>"
