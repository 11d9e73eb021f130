"""Which FlowSchema a request belongs to, as the headers of its answer say (API Priority and Fairness).

Source: apiserver pkg/util/flowcontrol/rule.go (what a FlowSchema matches), apf_controller.go (their order, those whose
priority level there is not left aside) and pkg/server/filters/priority-and-fairness.go (the headers, which requests
that stay open do not get, but watches do).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.api.types import Object
from engine.apiserver.authentication.user import SERVICE_ACCOUNT_PREFIX, UserInfo
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.request_info import RequestInfo

SCHEMA_HEADER = "x-kubernetes-pf-flowschema-uid"
LEVEL_HEADER = "x-kubernetes-pf-prioritylevel-uid"
_ALL = "*"
_MOST_KNOWN = 10_000  # who asks for what, of which it is known to which flow that belongs


class Flow(NamedTuple):
    """The uids of a FlowSchema and of its priority level, their names, and what tells its flows apart."""

    schema: str
    level: str
    schema_name: str
    level_name: str
    distinguisher: str  # ByUser, ByNamespace, or "" for one flow of all

    def headers(self) -> dict[str, str]:
        return {SCHEMA_HEADER: self.schema, LEVEL_HEADER: self.level}


class FlowClassifier:
    def __init__(self, schemas: WatchCache, levels: WatchCache) -> None:
        self._schemas = schemas
        self._levels = levels
        self._seen = (-1, -1)
        self._ordered: list[tuple[Object, Flow]] = []
        self._known: dict[tuple[UserInfo, str, str, str, str, str], Flow | None] = {}

    def classify(self, user: UserInfo, info: RequestInfo) -> Flow | None:
        """None where no FlowSchema with a priority level matches, which takes a person who has deleted some."""
        schemas = self._in_order()
        if not info.is_resource:
            return _first(schemas, user, info)
        key = (user, info.verb, info.group, info.resource, info.subresource, info.namespace)
        try:
            return self._known[key]
        except KeyError:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = _first(schemas, user, info)
            return found

    def _in_order(self) -> list[tuple[Object, Flow]]:
        seen = self._schemas.generation, self._levels.generation
        if seen != self._seen:
            self._seen = seen
            levels = {level["metadata"]["name"]: level["metadata"]["uid"] for level in self._levels.objects()}
            found = []
            for schema in self._schemas.objects():
                metadata, spec = schema["metadata"], schema["spec"]
                name = spec.get("priorityLevelConfiguration", {}).get("name", "")
                if (level := levels.get(name)) is not None:
                    distinguisher = (spec.get("distinguisherMethod") or {}).get("type", "")
                    found.append((schema, Flow(metadata["uid"], level, metadata["name"], name, distinguisher)))
            found.sort(key=lambda pair: (pair[0]["spec"]["matchingPrecedence"], pair[0]["metadata"]["name"]))
            self._ordered = found
            self._known.clear()
        return self._ordered


def _first(schemas: Sequence[tuple[Object, Flow]], user: UserInfo, info: RequestInfo) -> Flow | None:
    for schema, flow in schemas:
        if any(_rule_matches(rule, user, info) for rule in schema["spec"].get("rules", ())):
            return flow
    return None


def _rule_matches(rule: Object, user: UserInfo, info: RequestInfo) -> bool:
    if not any(_subject_matches(subject, user) for subject in rule.get("subjects", ())):
        return False
    if info.is_resource:
        return any(_resource_matches(each, info) for each in rule.get("resourceRules", ()))
    return any(
        _has(each.get("verbs", ()), info.verb) and _path_matches(each.get("nonResourceURLs", ()), info.path)
        for each in rule.get("nonResourceRules", ())
    )


def _subject_matches(subject: Object, user: UserInfo) -> bool:
    match subject.get("kind"):
        case "User":
            return subject.get("user", {}).get("name") in (_ALL, user.name)
        case "Group":
            name = subject.get("group", {}).get("name")
            return name == _ALL or name in user.groups
        case "ServiceAccount":
            account = subject.get("serviceAccount", {})
            prefix = f"{SERVICE_ACCOUNT_PREFIX}{account.get('namespace', '')}:"
            name = account.get("name", "")
            return user.name.startswith(prefix) if name == _ALL else user.name == f"{prefix}{name}"
    return False


def _resource_matches(rule: Object, info: RequestInfo) -> bool:
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    if not (_has(rule.get("verbs", ()), info.verb) and _has(rule.get("resources", ()), resource)):
        return False
    if not _has(rule.get("apiGroups", ()), info.group):
        return False
    if not info.namespace:
        return bool(rule.get("clusterScope"))
    return _has(rule.get("namespaces", ()), info.namespace)


def _has(listed: Sequence[str], wanted: str) -> bool:
    return wanted in listed or list(listed) == [_ALL]


def _path_matches(patterns: Sequence[str], path: str) -> bool:
    for pattern in patterns:
        if pattern in (_ALL, path):
            return True
        prefix = pattern.removesuffix(_ALL)
        if path.startswith(prefix if prefix.endswith("/") else f"{prefix}/"):
            return True
    return False
