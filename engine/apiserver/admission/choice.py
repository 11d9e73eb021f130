"""Which admission plugins are on, as --enable-admission-plugins and --disable-admission-plugins say.

Source: apiserver/pkg/server/options/admission.go; the names in the order of kubeapiserver/options/plugins.go.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.apiserver.admission.attributes import Plugin

NAMES = (
    "AlwaysAdmit",
    "NamespaceAutoProvision",
    "NamespaceLifecycle",
    "NamespaceExists",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "ServiceAccount",
    "NodeRestriction",
    "TaintNodesByCondition",
    "AlwaysPullImages",
    "ImagePolicyWebhook",
    "PodSecurity",
    "PodNodeSelector",
    "Priority",
    "DefaultTolerationSeconds",
    "PodTolerationRestriction",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DenyServiceExternalIPs",
    "PodTopologyLabels",
    "NodeDeclaredFeatureValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
    "AlwaysDeny",
)


class Choice(NamedTuple):
    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()

    def errors(self) -> list[str]:
        """What kube-apiserver would not start with."""
        found = []
        if both := sorted(set(self.enabled) & set(self.disabled)):
            found.append(f"[{' '.join(both)}] in enable-admission-plugins and disable-admission-plugins overlapped")
        for flag, names in (("enable", self.enabled), ("disable", self.disabled)):
            found += [f'{flag}-admission-plugins plugin "{name}" is unknown' for name in names if name not in NAMES]
        return found

    def chosen(self, plugins: list[Plugin]) -> list[Plugin]:
        """Those that are on; what has no name is no plugin upstream, and stays."""
        return [plugin for plugin in plugins if not plugin.name or self._is_on(plugin)]

    def _is_on(self, plugin: Plugin) -> bool:
        return plugin.name in self.enabled or (plugin.default and plugin.name not in self.disabled)
