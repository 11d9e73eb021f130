"""Who may do what by a file of policies, one a line (--authorization-mode=ABAC, --authorization-policy-file).

Sources: pkg/auth/authorizer/abac, pkg/apis/abac. A line that says no version is of the oldest form, in which what is
left out means all.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import orjson

from engine.api.golang.forms import BOOL, STRING, Struct, UnmarshalError, check
from engine.api.golang.json import syntax_error
from engine.api.types import Object
from engine.apiserver.authentication.user import AUTHENTICATED, UserInfo
from engine.apiserver.authorization.attributes import Attributes, Decision, Verdict

log = logging.getLogger(__name__)

_VERSION = "abac.authorization.kubernetes.io/v1beta1"
_READING = ("get", "list", "watch")
_TEXTS = ("user", "group", "apiGroup", "resource", "namespace", "nonResourcePath")
_OLD = Struct(
    "Policy",
    {**dict.fromkeys(("user", "group", "resource", "namespace"), STRING), "readonly": BOOL},
    "v0",
)
_POLICY = Struct(
    "Policy",
    {
        "kind": STRING,
        "apiVersion": STRING,
        "spec": Struct("PolicySpec", {**dict.fromkeys(_TEXTS, STRING), "readonly": BOOL}, "v1beta1"),
    },
    "v1beta1",
)


class PolicyFileError(Exception):
    """The file is none that a server would start with."""


class Policy(NamedTuple):
    user: str = ""
    group: str = ""
    readonly: bool = False
    api_group: str = ""
    resource: str = ""
    namespace: str = ""
    path: str = ""

    def is_for(self, user: UserInfo) -> bool:
        """Whether it names a user, or a group, and not only one of the two that it names."""
        of_user = self.user in ("*", user.name) if self.user else None
        of_group = self.group == "*" or self.group in user.groups if self.group else None
        return False not in (of_user, of_group) and (of_user is not None or of_group is not None)

    def allows(self, asked: Attributes) -> bool:
        if not self.is_for(asked.user) or (self.readonly and asked.verb not in _READING):
            return False
        if not asked.is_resource:
            return self._names(asked.path)
        pairs = ((self.namespace, asked.namespace), (self.resource, asked.resource), (self.api_group, asked.group))
        return all(said in ("*", wanted) for said, wanted in pairs)

    def _names(self, path: str) -> bool:
        return self.path in ("*", path) or (self.path.endswith("*") and path.startswith(self.path.rstrip("*")))

    @property
    def verbs(self) -> list[str]:
        return list(_READING) if self.readonly else ["*"]


def read_policies(file: Path) -> list[Policy]:
    """Raises PolicyFileError."""
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise PolicyFileError(f"open {file}: {(error.strerror or str(error)).lower()}") from error
    policies, old = list[Policy](), 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        try:
            said = _decoded(text)
            if said.get("apiVersion") == _VERSION and said.get("kind") == "Policy":
                check(said, _POLICY)
                policies.append(_new(said.get("spec") or {}))
            else:
                check({name: value for name, value in said.items() if name in _OLD.fields}, _OLD)
                policies.append(_old(said))
                old += 1
        except UnmarshalError as error:
            shown = line.removesuffix(b"\r").decode(errors="replace")
            raise PolicyFileError(f"error reading policy file {file}, line {number}: {shown}: {error}") from error
    if old:
        log.warning("Policy file %s contained unversioned rules", file)
    return policies


def _decoded(text: bytes) -> Object:
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnmarshalError(f"couldn't get version/kind; json parse error: {syntax_error(text) or error}") from error
    check(said, Struct("Policy", {}))
    found: Object = said
    return found


def _new(spec: Object) -> Policy:
    user, group, *rest = (spec.get(name) or "" for name in _TEXTS)
    if "*" in (user, group):
        user, group = "", AUTHENTICATED
    return Policy(user, group, bool(spec.get("readonly")), *rest)


def _old(said: Object) -> Policy:
    user, group, resource, namespace = (said.get(name) or "" for name in ("user", "group", "resource", "namespace"))
    if "*" in (user, group):
        user, group = "", AUTHENTICATED
    elif not user and not group:
        group = AUTHENTICATED
    path = "*" if not namespace and not resource else ""
    return Policy(user, group, bool(said.get("readonly")), "*", resource or "*", namespace or "*", path)


class AbacAuthorizer:
    name = "ABAC"

    def __init__(self, policies: Iterable[Policy]) -> None:
        self._policies = tuple(policies)

    async def authorize(self, attributes: Attributes) -> Decision:
        if any(policy.allows(attributes) for policy in self._policies):
            return Decision(Verdict.ALLOW, authorizer=self.name)
        return Decision(Verdict.NO_OPINION, "No policy matched.")

    def rules(self, user: UserInfo, namespace: str) -> tuple[list[Object], list[Object]]:
        """What it grants in a namespace: resources, and paths."""
        resources, paths = list[Object](), list[Object]()
        for policy in self._policies:
            if not policy.is_for(user) or policy.namespace not in ("*", namespace):
                continue
            if policy.resource:
                groups = {"apiGroups": [policy.api_group], "resources": [policy.resource]}
                resources.append({"verbs": policy.verbs, **groups})
            if policy.path:
                paths.append({"verbs": policy.verbs, "nonResourceURLs": [policy.path]})
        return resources, paths
