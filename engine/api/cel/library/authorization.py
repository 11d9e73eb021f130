"""Asking the authorizer within an expression (pkg/cel/library/authz.go).

An authorizer answers in its own time, an expression cannot wait. So a check whose answer is not known yet breaks the
expression off with a Question; whoever runs it finds the answer, keeps it in `answers`, and runs it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from engine.api.cel.functions import Library
from engine.api.cel.types import BOOL, STRING, Type, opaque
from engine.api.cel.values import EvaluationError, Opaque
from engine.api.validation.text import dns_label, dns_subdomain

_PACKAGE = "kubernetes.authorization"
AUTHORIZER, RESOURCE_CHECK = opaque(f"{_PACKAGE}.Authorizer"), opaque(f"{_PACKAGE}.ResourceCheck")
_PATH_CHECK, _GROUP_CHECK = opaque(f"{_PACKAGE}.PathCheck"), opaque(f"{_PACKAGE}.GroupCheck")
_DECISION = opaque(f"{_PACKAGE}.Decision")
TYPES = (AUTHORIZER, _PATH_CHECK, _GROUP_CHECK, RESOURCE_CHECK, _DECISION)


class Answer(NamedTuple):
    allowed: bool
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: of a path, or of a resource. `user` is a service account's name, "" for who made the request."""

    user: str = ""
    verb: str = ""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""


class Question(Exception):
    """An answer is needed before the expression can go on."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(str(asked))
        self.asked = asked


@dataclass(frozen=True, slots=True)
class Check(Opaque):
    """An authorizer or a check that is being put together: `type` tells which."""

    cel_type = AUTHORIZER
    type: Type = AUTHORIZER
    asked: Asked = Asked()
    answers: dict[Asked, Answer] = field(default_factory=dict, compare=False)

    def of(self, type_: Type, **changes: str) -> Check:
        return replace(self, type=type_, asked=replace(self.asked, **changes))

    def check(self, verb: str) -> Decision:
        asked = replace(self.asked, verb=verb)
        if asked not in self.answers:
            raise Question(asked)
        return Decision(self.answers[asked])


@dataclass(frozen=True, slots=True)
class Decision(Opaque):
    cel_type = _DECISION
    answer: Answer


def authorization() -> Library:
    made = Library()
    made.member("path", (AUTHORIZER, STRING), _PATH_CHECK, _path)
    made.member("group", (AUTHORIZER, STRING), _GROUP_CHECK, lambda check, group: check.of(_GROUP_CHECK, group=group))
    made.member("serviceAccount", (AUTHORIZER, STRING, STRING), AUTHORIZER, _service_account)
    made.member("resource", (_GROUP_CHECK, STRING), RESOURCE_CHECK, _resource)
    for part in ("subresource", "namespace", "name"):
        _part(made, part, part)
    for type_ in (_PATH_CHECK, RESOURCE_CHECK):
        made.member("check", (type_, STRING), _DECISION, lambda check, verb: check.check(verb))
    made.member("allowed", (_DECISION,), BOOL, lambda decision: decision.answer.allowed)
    made.member("reason", (_DECISION,), STRING, lambda decision: decision.answer.reason)
    made.member("errored", (_DECISION,), BOOL, lambda decision: bool(decision.answer.error))
    made.member("error", (_DECISION,), STRING, lambda decision: decision.answer.error)
    return made


def selectors() -> Library:
    """What a check of a resource can be narrowed to (AuthzSelectors)."""
    made = Library()
    _part(made, "fieldSelector", "field_selector")
    _part(made, "labelSelector", "label_selector")
    return made


def _part(made: Library, name: str, part: str) -> None:
    made.member(
        name, (RESOURCE_CHECK, STRING), RESOURCE_CHECK, lambda check, value: check.of(RESOURCE_CHECK, **{part: value})
    )


def _path(check: Check, path: str) -> Check:
    if not path.strip():
        raise EvaluationError("path must not be empty")
    return check.of(_PATH_CHECK, path=path)


def _resource(check: Check, resource: str) -> Check:
    if not resource.strip():
        raise EvaluationError("resource must not be empty")
    return check.of(RESOURCE_CHECK, resource=resource)


def _service_account(check: Check, namespace: str, name: str) -> Check:
    if dns_subdomain(name):
        raise EvaluationError("Invalid service account name")
    if dns_label(namespace):
        raise EvaluationError("Invalid service account namespace")
    return check.of(AUTHORIZER, user=f"system:serviceaccount:{namespace}:{name}")
