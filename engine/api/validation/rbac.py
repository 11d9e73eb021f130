"""Roles and role bindings (pkg/apis/rbac/validation)."""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.resource_table import RBAC
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_selector
from engine.api.validation.problems import IMMUTABLE, Problems

_SUBJECTS = ("ServiceAccount", "User", "Group")


def role(obj: Object, problems: Problems) -> None:
    _rules(obj, problems, namespaced=True)


def cluster_role(obj: Object, problems: Problems) -> None:
    _rules(obj, problems, namespaced=False)
    if "aggregationRule" in obj:
        selectors, path = obj["aggregationRule"].get("clusterRoleSelectors", ()), "aggregationRule.clusterRoleSelectors"
        if not selectors:
            problems.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
        for index, selector in enumerate(selectors):
            label_selector(selector, f"{path}[{index}]", problems)
            if not _selects(selector):
                problems.invalid(f"{path}[{index}]", None, "invalid label selector.")


def _selects(selector: Object) -> bool:
    try:
        LabelSelector.from_object(selector)
    except ApiError:
        return False
    return True


def _rules(obj: Object, problems: Problems, *, namespaced: bool) -> None:
    for index, rule in enumerate(obj.get("rules", ())):
        _rule(rule, f"rules[{index}]", problems, namespaced=namespaced)


def _rule(rule: Object, path: str, problems: Problems, *, namespaced: bool) -> None:
    if not rule.get("verbs"):
        problems.required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            problems.invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            problems.invalid(f"{path}.nonResourceURLs", urls, detail)
        return
    if not rule.get("apiGroups"):
        problems.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        problems.required(f"{path}.resources", "resource rules must supply at least one resource")


def role_binding(obj: Object, problems: Problems) -> None:
    _binding(obj, problems, kinds=("Role", "ClusterRole"))


def cluster_role_binding(obj: Object, problems: Problems) -> None:
    _binding(obj, problems, kinds=("ClusterRole",))


def _binding(obj: Object, problems: Problems, *, kinds: tuple[str, ...]) -> None:
    reference = obj.get("roleRef", {})
    if reference.get("apiGroup") != RBAC:
        problems.not_supported("roleRef.apiGroup", reference.get("apiGroup", ""), (RBAC,))
    if reference.get("kind") not in kinds:
        problems.not_supported("roleRef.kind", reference.get("kind", ""), kinds)
    name = reference.get("name", "")
    if not name:
        problems.required("roleRef.name")
    else:
        problems.all_invalid("roleRef.name", name, text.path_segment(name))
    for index, subject in enumerate(obj.get("subjects", ())):
        _subject(subject, f"subjects[{index}]", problems, namespaced=len(kinds) > 1)


def _subject(subject: Object, path: str, problems: Problems, *, namespaced: bool) -> None:
    name, kind, group = subject.get("name", ""), subject.get("kind", ""), subject.get("apiGroup", "")
    if not name:
        problems.required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            problems.all_invalid(f"{path}.name", name, text.dns_subdomain(name))
        if group:
            problems.not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            problems.required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != RBAC:
            problems.not_supported(f"{path}.apiGroup", group, (RBAC,))
    else:
        problems.not_supported(f"{path}.kind", kind, _SUBJECTS)


def same_role(new: Object, old: Object, problems: Problems) -> None:
    if new.get("roleRef") != old.get("roleRef"):
        problems.invalid("roleRef", internal("RoleRef", new.get("roleRef", {})), IMMUTABLE)
