"""The ClusterRole aggregation controller: rules of a role with an `aggregationRule` are those of all roles that its
selectors choose (pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.selectors import LabelSelector
from engine.api.types import CLUSTER_ROLES, Object
from engine.api.wire import APPLY_PATCH
from engine.controllers.controller import Controller


class ClusterRoleAggregationController(Controller):
    name = "clusterrole-aggregation-controller"
    kind = "clusterrole"
    workers = 1

    def set_up(self) -> None:
        self._roles = self.lister(CLUSTER_ROLES)
        self.watch(CLUSTER_ROLES, self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """Every role that aggregates may be made of the one that has changed."""
        return [role["metadata"]["name"] for role in self._roles.list() if role.get("aggregationRule")]

    async def reconcile(self, key: str) -> None:
        role = self._roles.get(key)
        if role is None or not role.get("aggregationRule"):
            return
        rules: list[Object] = []
        for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
            for other in self._selected(key, selector):
                rules += [rule for rule in other.get("rules") or () if rule not in rules]
        self.note(desired={"rules": len(rules)}, actual={"rules": len(role.get("rules") or ())})
        if rules == (role.get("rules") or []):
            return
        applied = {"apiVersion": role["apiVersion"], "kind": role["kind"], "metadata": {"name": key}, "rules": rules}
        await self.client.patch(
            CLUSTER_ROLES, key, applied, content_type=APPLY_PATCH, field_manager=self.name, force=True
        )

    def _selected(self, key: str, selector: Object) -> list[Object]:
        found = self._roles.list(selector=LabelSelector.from_object(selector))
        return sorted(
            (role for role in found if role["metadata"]["name"] != key), key=lambda role: str(role["metadata"]["name"])
        )
