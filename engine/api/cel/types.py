"""The types of CEL: what the checker infers and what `type(x)` gives.

Source: cel-go common/types/types.go and checker/types.go (how types are shown, which may stand for which).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """`name` is that of a struct, an opaque type or a type parameter."""

    kind: str
    name: str = ""
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "list" | "map" | "type" if self.params:
                return f"{self.kind}({', '.join(map(str, self.params))})"
            case "opaque" if self.params:
                return f"{self.name}({', '.join(map(str, self.params))})"
            case "opaque" | "struct" | "param":
                return self.name
            case "error":
                return "!error!"
        return self.kind

    @property
    def type_name(self) -> str:
        """As a value of type `type` names it."""
        return _RUNTIME_NAMES.get(self.kind) or self.name or self.kind

    @property
    def is_optional(self) -> bool:
        return self.kind == "opaque" and self.name == "optional_type"

    @property
    def is_dyn(self) -> bool:
        return self.kind in ("dyn", "any")

    @property
    def is_dyn_or_error(self) -> bool:
        return self.kind in ("dyn", "any", "error")


_RUNTIME_NAMES = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
}

BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null")
TIMESTAMP, DURATION = Type("timestamp"), Type("duration")
DYN, ANY, ERROR, TYPE = Type("dyn"), Type("any"), Type("error"), Type("type")
A, B = Type("param", "A"), Type("param", "B")


def list_of(item: Type) -> Type:
    return Type("list", params=(item,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", params=(key, value))


def optional_of(item: Type) -> Type:
    return Type("opaque", "optional_type", (item,))


def type_of_type(inner: Type) -> Type:
    return Type("type", params=(inner,))


def opaque(name: str) -> Type:
    return Type("opaque", name)


def struct(name: str) -> Type:
    return Type("struct", name)


STRINGS = list_of(STRING)
LIST, MAP, OPTIONAL = list_of(A), map_of(A, B), optional_of(A)


class Substitution:
    """What type parameters stand for, as far as it is known."""

    def __init__(self) -> None:
        self.bound: dict[Type, Type] = {}

    def copy(self) -> Substitution:
        other = Substitution()
        other.bound = dict(self.bound)
        return other

    def applied(self, type_: Type, *, to_dyn: bool = False) -> Type:
        """The type with its parameters replaced; free ones become dyn if `to_dyn`."""
        if type_ in self.bound:
            return self.applied(self.bound[type_], to_dyn=to_dyn)
        if type_.kind == "param":
            return DYN if to_dyn else type_
        if not type_.params:
            return type_
        return Type(type_.kind, type_.name, tuple(self.applied(each, to_dyn=to_dyn) for each in type_.params))

    def assignable(self, wanted: Type, found: Type) -> bool:
        """Whether a value of type `found` may stand where `wanted` does; if so, parameters are bound by it."""
        return self.all_assignable((wanted,), (found,))

    def all_assignable(self, wanted: tuple[Type, ...], found: tuple[Type, ...]) -> bool:
        trial = self.copy()
        if len(wanted) != len(found) or not all(map(trial._unify, wanted, found)):
            return False
        self.bound = trial.bound
        return True

    def _unify(self, one: Type, other: Type) -> bool:
        if one.kind == "param":
            known = self._bind(one, other, flipped=False)
            if known is not None:
                return known
        if other.kind == "param":
            known = self._bind(other, one, flipped=True)
            if known is not None:
                return known
        if one.is_dyn_or_error or other.is_dyn_or_error:
            return True
        if one.kind == "null":
            return is_nullable(other)
        if other.kind == "null":
            return is_nullable(one)
        if one.kind == "type" and other.kind == "type":
            return True
        if (one.kind, one.name, len(one.params)) != (other.kind, other.name, len(other.params)):
            return False
        return all(map(self._unify, one.params, other.params))

    def _bind(self, parameter: Type, type_: Type, *, flipped: bool) -> bool | None:
        """None where the parameter has no say and the types themselves decide."""
        if parameter == type_:
            return True
        if parameter in self.bound:
            known = self.bound[parameter]
            if not (self._unify(type_, known) if flipped else self._unify(known, type_)):
                return False
            general = most_general(known, type_)
            if not self._occurs(parameter, general):
                self.bound[parameter] = general
            return True
        if self._occurs(parameter, type_):
            return False if type_.kind != "param" else None
        self.bound[parameter] = type_
        return True

    def _occurs(self, parameter: Type, type_: Type) -> bool:
        if type_ == parameter:
            return True
        if type_ in self.bound:
            return self._occurs(parameter, self.bound[type_])
        return any(self._occurs(parameter, each) for each in type_.params)


def is_nullable(type_: Type) -> bool:
    """Whether null may stand where the type is asked for, which then shows as the expression runs."""
    return type_.kind in ("null", "opaque", "struct", "timestamp", "duration")


def most_general(one: Type, other: Type) -> Type:
    return one if _no_less_general(one, other) else other


def _no_less_general(one: Type, other: Type) -> bool:
    if one.is_dyn or one.kind == "param":
        return True
    if other.is_dyn or other.kind == "param":
        return False
    if one.kind == "null" or other.kind == "null":
        return one.kind != "null" or other.kind == "null"
    if one.kind != other.kind or len(one.params) != len(other.params):
        return one == other
    return all(map(_no_less_general, one.params, other.params))
