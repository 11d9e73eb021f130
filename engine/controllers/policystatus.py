"""The status of ValidatingAdmissionPolicies: what is wrong with their expressions for the kinds that they are about.

Source: pkg/controller/validatingadmissionpolicystatus/controller.go.
"""

from __future__ import annotations

from engine.api.crd.version import CustomVersion
from engine.api.resources import ResourceRegistry
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, GVR, Object
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from engine.controllers.features import serves_admission_policies

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
        status = {**status, "observedGeneration": generation, "typeChecking": checked}
        await self.client.update_status(POLICIES, {**policy, "status": status})

    def _warnings(self, policy: Object) -> list[Object]:
        """CEL is loaded with the first policy."""
        from engine.api.cel.type_checks import expression_warnings

        return expression_warnings(policy, self._kind_of, self._schema_of)

    # -- kinds, built in and custom

    def _kind_of(self, gvr: GVR) -> GVK | None:
        info = self._resources.get(*gvr)
        if info is not None:
            return info.gvk
        definition = self._custom.get(f"{gvr.resource}.{gvr.group}")
        names = [each["name"] for each in definition["spec"]["versions"] if each.get("served")] if definition else []
        if definition is None or gvr.version not in names:
            return None
        return GVK(gvr.group, gvr.version, definition["spec"]["names"]["kind"])

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
