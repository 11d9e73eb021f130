"""The status of ValidatingAdmissionPolicies: what is wrong with their expressions for the kinds that they are about.

Source: pkg/controller/validatingadmissionpolicystatus/controller.go.
"""

from __future__ import annotations

from engine.api.crd.version import CustomVersion
from engine.api.resources import ResourceRegistry
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, GVR, Object
from engine.api.wire import APPLY_PATCH
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from engine.controllers.features import serves_admission_policies

_MANAGER = "validatingadmissionpolicy-status"
POLICIES = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")


class ValidatingAdmissionPolicyStatusController(Controller):
    name = "validatingadmissionpolicy-status-controller"
    kind = "validatingadmissionpolicy"
    workers = 1

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return serves_admission_policies(config.kubernetes_version)

    def set_up(self) -> None:
        self._policies = self.lister(POLICIES)
        self._custom = self.lister(CUSTOM_RESOURCE_DEFINITIONS)
        self._definitions = load_definitions(self.config.kubernetes_version)
        self._resources = ResourceRegistry.for_version(self.config.kubernetes_version)
        self.watch(POLICIES, lambda _, new: [new["metadata"]["name"]] if new is not None else [])

    async def reconcile(self, key: str) -> None:
        policy = self._policies.get(key)
        if policy is None:
            return
        status, generation = policy.get("status") or {}, policy["metadata"].get("generation", 0)
        if status.get("observedGeneration", 0) >= generation:
            return
        warnings = self._warnings(policy)
        self.note(desired={"warnings": 0}, actual={"warnings": len(warnings)})
        checked: Object = {"expressionWarnings": warnings} if warnings else {}
        told = {"observedGeneration": generation, "typeChecking": checked}
        applied = {key: policy[key] for key in ("apiVersion", "kind")}
        await self.client.patch(
            POLICIES,
            key,
            {**applied, "metadata": {"name": key}, "status": told},
            subresource="status",
            content_type=APPLY_PATCH,
            field_manager=_MANAGER,
            force=True,
        )

    def _warnings(self, policy: Object) -> list[Object]:
        """CEL is loaded with the first policy."""
        from engine.api.cel.type_checks import expression_warnings

        return expression_warnings(policy, self._kinds_of, self._schema_of)

    # -- kinds, built in and custom

    def _kinds_of(self, gvr: GVR) -> list[GVK]:
        """Those that go by a resource: without a group they may be of any (restmapper KindsFor)."""
        known = [(info.gvr, info.gvk) for info in self._resources]
        for definition in self._custom.list():
            spec = definition["spec"]
            group, names = spec["group"], spec["names"]
            versions = [each["name"] for each in spec["versions"] if each.get("served")]
            known += [(GVR(group, each, names["plural"]), GVK(group, each, names["kind"])) for each in versions]
        anywhere = not gvr.group
        return [
            gvk
            for found, gvk in known
            if (found.version, found.resource) == (gvr.version, gvr.resource) and (anywhere or found.group == gvr.group)
        ]

    def _schema_of(self, gvk: GVK) -> Schema | None:
        found = self._definitions.kind(gvk)
        if found is not None:
            return found
        for definition in self._custom.list():
            spec = definition["spec"]
            if (spec["group"], spec["names"]["kind"]) != (gvk.group, gvk.kind):
                continue
            for version in spec["versions"]:
                if version["name"] == gvk.version:
                    return CustomVersion(self._definitions, definition, version).schema
        return None
