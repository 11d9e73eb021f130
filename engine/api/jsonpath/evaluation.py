"""What a template finds in an object (client-go util/jsonpath/jsonpath.go).

Fields of an object are gone through by name, where Go's order is one of chance.
"""

from __future__ import annotations

from typing import Any

from engine.api.golang.floats import shown_float
from engine.api.jsonpath.comparing import OPERATORS, compares
from engine.api.jsonpath.nodes import (
    Actions,
    Filter,
    Identifier,
    JsonPathError,
    Literal,
    Member,
    Node,
    Recursive,
    Slice,
    Text,
    Union,
    Wildcard,
)
from engine.api.jsonpath.parsing import parse

Values = list[Any]


class JsonPath:
    """A parsed template. Raises JsonPathError, as `find` does."""

    def __init__(self, template: str, *, allow_missing: bool = True) -> None:
        self._nodes = parse(template)
        self._allow_missing = allow_missing

    def find(self, root: Any) -> list[Values]:
        """What each text and each action finds; those within a range once for each of its items."""
        return _Search(self._nodes, self._allow_missing).results(root, 0)


class _Search:
    """One run over the nodes. A range is an action like others: it is noted, and what follows runs once an item."""

    def __init__(self, nodes: list[Node], allow_missing: bool) -> None:
        self._nodes = nodes
        self._allow_missing = allow_missing
        self._begun = self._within = self._ended = 0
        self._last_end = -1  # the place of the `end` that was come to last

    def results(self, root: Any, start: int) -> list[Values]:
        found: list[Values] = []
        place = start
        while place < len(self._nodes):
            values = self._walk([root], self._nodes[place])
            if 0 < self._ended <= self._within:
                self._ended -= 1
                self._last_end = place
                break
            if self._begun:
                found += self._range(values, place)
                place = max(place, self._last_end)
            else:
                found.append(values)
            place += 1
        return found

    def _range(self, values: Values, place: int) -> list[Values]:
        self._begun -= 1
        self._within += 1
        found = [result for value in values for result in self.results(value, place + 1)]
        if not values:
            self.results(None, place + 1)  # only to come to its end
        self._within -= 1
        return found

    def _walk(self, values: Values, node: Node) -> Values:
        match node:
            case Actions():
                for each in node.nodes:
                    values = self._walk(values, each)
                return values
            case Text():
                return [node.text]
            case Literal():
                return [node.value for _ in values]
            case Identifier():
                return self._identifier(values, node.name)
            case Member():
                return self._field(values, node.name)
            case Wildcard():
                return [item for value in values for item in _items(value)]
            case Recursive():
                return _descend(values)
            case Slice():
                return _slice(values, node)
            case Union():
                return self._union(values, node)
            case Filter():
                return self._filter(values, node)

    def _identifier(self, values: Values, name: str) -> Values:
        if name == "range":
            self._begun += 1
            return values
        if name != "end":
            raise JsonPathError(f"unrecognized identifier {name}", values)
        if not self._within:
            raise JsonPathError("not in range, nothing to end")
        self._ended += 1
        return []

    def _field(self, values: Values, name: str) -> Values:
        found = [value[name] for value in values if isinstance(value, dict) and name in value]
        if values and not found and not self._allow_missing:
            raise JsonPathError(f"{name} is not found")
        return found

    def _union(self, values: Values, node: Union) -> Values:
        try:
            return [item for part in node.parts for item in self._walk(values, part)]
        except JsonPathError as error:
            raise JsonPathError(str(error), values) from error

    def _filter(self, values: Values, node: Filter) -> Values:
        found: Values = []
        for value in values:
            if not isinstance(value, list):
                raise JsonPathError(f"{go_value(value)} is not array or slice and cannot be filtered", values)
            found += [item for item in value if self._passes(item, node)]
        return found

    def _passes(self, item: Any, node: Filter) -> bool:
        if node.operator == "exists":
            try:
                return bool(self._walk([item], node.left))
            except JsonPathError as error:
                return bool(error.found)
        sides = []
        for side in (node.left, node.right):
            found = self._walk([item], side)
            if not found:
                return False
            if len(found) > 1:
                raise JsonPathError("can only compare one element at a time")
            sides.append(found[0])
        if node.operator not in OPERATORS:
            raise JsonPathError(f"unrecognized filter operator {node.operator}")
        return compares(sides[0], node.operator, sides[1])


def _items(value: Any) -> Values:
    """Of a text, its bytes."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, list):
        return value
    return list(value.encode()) if isinstance(value, str) else []


def _descend(values: Values) -> Values:
    """All that has something within, each followed by what it holds."""
    found: Values = []
    for value in values:
        if items := _items(value):
            found += [value, *_descend(items)]
    return found


def _slice(values: Values, node: Slice) -> Values:
    found: Values = []
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise JsonPathError(f"{_go_type(value)} is not array or slice", values)
        bounds = _bounds(node, values, len(value))
        if bounds is None:
            return found
        found += value[bounds[0] : bounds[1] : node.step or 1]
    return found


def _bounds(node: Slice, values: Values, length: int) -> tuple[int, int] | None:
    """Where the part begins and ends; None for a part of nothing."""
    start = node.start or 0
    start += length if start < 0 else 0
    end = length if node.end is None else node.end
    end += length if end < 0 or (end == 0 and node.single) else 0
    if start == end:
        return None
    if not 0 <= start < length:
        raise JsonPathError(f"array index out of bounds: index {start}, length {length}", values)
    if not 0 <= end <= length:
        raise JsonPathError(f"array index out of bounds: index {end - 1}, length {length}", values)
    if start > end:
        raise JsonPathError(f"starting index {start} is greater than ending index {end}", values)
    if node.step is not None and node.step <= 0:
        raise JsonPathError("step must be > 0", values)
    return start, end


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    return {str: "string", bool: "bool", float: "float64"}.get(type(value), "int64")


def go_value(value: Any) -> str:
    """A value as Go's `%v` prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_value(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shown_float(value)
    return "<nil>" if value is None else str(value)
