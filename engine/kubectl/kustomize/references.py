"""Names of resources in other resources follow when those are renamed.

Source of the behaviour: kustomize api/filters/nameref and api/internal/accumulator (namereferencetransformer.go).
"""

from __future__ import annotations

from typing import Any

from engine.api.golang.json import written
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec, change
from engine.kubectl.kustomize.identity import Gvk
from engine.kubectl.kustomize.resource import Resource
from engine.kubectl.kustomize.resources import Resources

References = list[tuple[Gvk, list[FieldSpec]]]


def fix(resources: Resources, references: References) -> None:
    """Put the present name of each resource where others name it by an earlier one."""
    for referrer in resources:
        candidates: list[Resource] | None = None
        for target, specs in references:
            for spec in specs:
                if not referrer.original_id.gvk.selected_by(spec.gvk):
                    continue
                if candidates is None:
                    candidates = _within_reach(resources, referrer)
                fixer = _Fixer(referrer, target, spec, candidates)
                change(referrer, FieldSpec(spec.path), fixer.fixed)


def _within_reach(resources: Resources, referrer: Resource) -> list[Resource]:
    """What a resource could name: what is of the cluster or of its namespace, and the accounts of a role binding."""
    mine = referrer.id
    if mine.gvk.cluster_scoped:
        return list(resources)
    accounts = _account_namespaces(referrer)
    return [
        other
        for other in resources
        if other.id.gvk.cluster_scoped
        or other.id.effective_namespace == mine.effective_namespace
        or other.namespace in accounts
    ]


def _account_namespaces(referrer: Resource) -> set[str]:
    if referrer.kind != "RoleBinding":
        return set()
    subjects = referrer.obj.get("subjects")
    return {
        subject["namespace"]
        for subject in (subjects if isinstance(subjects, list) else ())
        if isinstance(subject, dict) and subject.get("kind") == "ServiceAccount" and "namespace" in subject
    }


class _Fixer:
    """One field of a referrer, which may name resources of the type `target`."""

    def __init__(self, referrer: Resource, target: Gvk, spec: FieldSpec, candidates: list[Resource]) -> None:
        self._referrer = referrer
        self._target = target
        self._spec = spec
        self._candidates = candidates

    def fixed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._map(value)
        if isinstance(value, list):
            return [self._map(item) if isinstance(item, dict) else self._text(item) for item in value]
        return self._text(value)

    def _text(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = self._choose(value, self._candidates, with_namespace=False)
        return found.name if found is not None else value

    def _map(self, value: dict[str, Any]) -> dict[str, Any]:
        """Of a map that has a name and maybe a namespace, such as a role binding's subject."""
        if "name" not in value:
            raise BuildError("path config error; no 'name' field in node")
        candidates = self._candidates
        if isinstance(value.get("namespace"), str):
            space = Resources()
            space.all = self._candidates
            wanted = value["namespace"]
            original = space.by_namespace(lambda resource: resource.original_id)
            candidates = original.get(wanted) or space.by_namespace(lambda resource: resource.id).get(wanted) or []
        found = self._choose(str(value["name"]), candidates, with_namespace=True)
        if found is None or (found.name == value["name"] and not found.namespace):
            return value
        value["name"] = found.name
        if found.namespace:
            value["namespace"] = found.namespace
        return value

    def _choose(self, name: str, candidates: list[Resource], *, with_namespace: bool) -> Resource | None:
        found = [
            other
            for other in candidates
            if any(known.name == name for known in other.earlier_ids)
            and any(known.gvk.selected_by(self._target) for known in other.earlier_ids)
            and self._fits_role(other)
            and self._same_namespace(other)
        ]
        if len(found) != 1:
            found = [other for other in found if other.same_context(self._referrer, or_empty=True)]
        if len(found) > 1:
            found = [other for other in found if other.same_context(self._referrer, or_empty=False)] or found
        if not found:
            return None
        if len({(other.name, other.namespace if with_namespace else "") for other in found}) > 1:
            raise BuildError(_too_many(self._referrer, found))
        return found[0]

    def _fits_role(self, other: Resource) -> bool:
        """The kind of a role is said beside its name."""
        role = self._referrer.obj.get("roleRef")
        if not self._spec.path.endswith("roleRef/name") or not isinstance(role, dict):
            return True
        if not role.get("apiGroup") or not role.get("kind"):
            return True
        wanted = Gvk(role["apiGroup"], "", role["kind"])
        return any(known.gvk.selected_by(wanted) for known in other.earlier_ids)

    def _same_namespace(self, other: Resource) -> bool:
        mine, theirs = self._referrer.id, other.id
        return (
            mine.gvk.cluster_scoped
            or theirs.gvk.cluster_scoped
            or other.kind == "ServiceAccount"
            or mine.effective_namespace == theirs.effective_namespace
        )


def _too_many(referrer: Resource, found: list[Resource]) -> str:
    ids = ", ".join(str(other.id) for other in found)
    lines = [f" found multiple possible referrals: {ids}", "", "**** Too many possible referral targets to referrer:"]
    lines.append(written(referrer.with_history))
    for index, other in enumerate(found):
        lines.append(f"--- possible referral {index}:\n{written(other.with_history)}")
    return "\n".join(lines)
