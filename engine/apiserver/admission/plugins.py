"""All admission plugins, in upstream's order (pkg/kubeapiserver/options/plugins.go)."""

from __future__ import annotations

from engine.api.persistent_volumes import STORAGE_CLASSES
from engine.api.resources import ResourceRegistry
from engine.api.schema import Definitions
from engine.api.types import NAMESPACES, NODES, PODS
from engine.apiserver.admission.attributes import Plugin
from engine.apiserver.admission.certificates import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
    PodCertificateSigning,
)
from engine.apiserver.admission.configuration import AdmissionConfiguration
from engine.apiserver.admission.configured_hooks import ConfiguredHooks, image_policy_plugins
from engine.apiserver.admission.declared_features import NodeDeclaredFeatureValidator
from engine.apiserver.admission.device_access import DeviceAccess
from engine.apiserver.admission.escalation import RBACEscalation
from engine.apiserver.admission.limits import LIMIT_RANGES, LimitRanger
from engine.apiserver.admission.matching import Matcher
from engine.apiserver.admission.metrics import AdmissionMetrics
from engine.apiserver.admission.mutating_policies import MutatingAdmissionPolicy
from engine.apiserver.admission.namespaces import NamespaceLifecycle
from engine.apiserver.admission.nodes import NodeRestriction
from engine.apiserver.admission.optional import (
    AlwaysAdmit,
    AlwaysDeny,
    AlwaysPullImages,
    DenyServiceExternalIPs,
    EventRateLimit,
    ExtendedResourceToleration,
    LimitPodHardAntiAffinityTopology,
    NamespaceAutoProvision,
    NamespaceExists,
    OwnerReferencesPermissionEnforcement,
    PodNodeSelector,
    PodTolerationRestriction,
)
from engine.apiserver.admission.optional.namespaces import Provide
from engine.apiserver.admission.pod_resize import PodResizeValidator
from engine.apiserver.admission.pod_security import PodSecurity
from engine.apiserver.admission.pods import (
    PRIORITY_CLASSES,
    DefaultTolerationSeconds,
    Priority,
    TaintNodesByCondition,
)
from engine.apiserver.admission.policies import Sources
from engine.apiserver.admission.policy_parameters import PolicyParameters
from engine.apiserver.admission.quota import ResourceQuota
from engine.apiserver.admission.runtime_classes import RuntimeClass
from engine.apiserver.admission.service_accounts import ServiceAccount
from engine.apiserver.admission.storage_objects import (
    INGRESS_CLASSES,
    DefaultIngressClass,
    DefaultStorageClass,
    PersistentVolumeClaimResize,
    StorageObjectInUseProtection,
)
from engine.apiserver.admission.topology import PodTopologyLabels
from engine.apiserver.admission.validating_policies import ValidatingAdmissionPolicy
from engine.apiserver.admission.versions import Versions
from engine.apiserver.admission.webhooks import (
    MUTATING,
    VALIDATING,
    MutatingAdmissionWebhook,
    ValidatingAdmissionWebhook,
    Webhooks,
)
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.authorization.rbac import RBACAuthorizer
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.lookup import StateLookup
from engine.apiserver.storage import Storage
from engine.apiserver.webhook_client import WebhookClient
from engine.clock import Clock
from engine.rng import Rng


def all_plugins(
    *,
    lookup: StateLookup,
    caches: WatchCaches,
    resources: ResourceRegistry,
    names: Rng,
    clock: Clock,
    rbac: RBACAuthorizer,
    authorizer: UnionAuthorizer,
    storage: Storage,
    definitions: Definitions,
    uids: Rng,
    metrics: AdmissionMetrics,
    provide: Provide,
    configuration: AdmissionConfiguration,
    identity: str,
) -> list[Plugin]:
    """Raises AdmissionConfigurationError for files that webhooks or policies cannot be configured by."""
    matcher, versions = Matcher(lookup, resources), Versions(storage)
    configured = ConfiguredHooks(configuration, definitions, resources, metrics, clock, identity)
    policies = Sources(caches, resources, matcher, definitions, authorizer, metrics, versions)

    def hooks(plugin: str) -> Webhooks:
        client = WebhookClient(lookup, configured.credentials(plugin))
        return Webhooks(matcher, client, uids, authorizer, definitions, metrics, versions)

    return [
        AlwaysAdmit(),
        NamespaceAutoProvision(lookup, provide),
        NamespaceLifecycle(lookup),
        NamespaceExists(lookup),
        LimitPodHardAntiAffinityTopology(),
        LimitRanger(caches, resources.get(*LIMIT_RANGES)),
        ServiceAccount(lookup, names, clock),
        NodeRestriction(lookup, authorizer),
        TaintNodesByCondition(),
        AlwaysPullImages(),
        *image_policy_plugins(configuration, clock, names.stream("image-policy")),
        PodSecurity(
            lookup,
            caches,
            pods=resources.get(*PODS),
            namespaces=resources.get(*NAMESPACES),
            metrics=metrics.pod_security,
            configuration=configuration.pod_security,
        ),
        PodNodeSelector(lookup, configuration.node_selectors),
        Priority(lookup, caches, resources.get(*PRIORITY_CLASSES)),
        DefaultTolerationSeconds(),
        PodTolerationRestriction(lookup, configuration.tolerations, configuration.permissible_tolerations),
        EventRateLimit(clock, configuration.event_limits),
        ExtendedResourceToleration(),
        DefaultStorageClass(caches, resources.get(*STORAGE_CLASSES)),
        StorageObjectInUseProtection(),
        OwnerReferencesPermissionEnforcement(resources, authorizer),
        PersistentVolumeClaimResize(lookup),
        RuntimeClass(lookup),
        CertificateApproval(authorizer),
        CertificateSigning(authorizer),
        ClusterTrustBundleAttest(authorizer),
        CertificateSubjectRestriction(),
        DefaultIngressClass(caches, resources.get(*INGRESS_CLASSES)),
        DenyServiceExternalIPs(),
        PodTopologyLabels(caches, resources.get(*NODES)),
        NodeDeclaredFeatureValidator(lookup),
        PodResizeValidator(lookup),
        PolicyParameters(lookup, resources, authorizer),
        DeviceAccess(lookup, authorizer),
        PodCertificateSigning(authorizer),
        MutatingAdmissionPolicy(policies, configured.manifests(MutatingAdmissionPolicy.name)),
        MutatingAdmissionWebhook(
            caches,
            resources.get(*MUTATING),
            hooks(MutatingAdmissionWebhook.name),
            configured.manifests(MutatingAdmissionWebhook.name),
        ),
        ValidatingAdmissionPolicy(policies, configured.manifests(ValidatingAdmissionPolicy.name)),
        ValidatingAdmissionWebhook(
            caches,
            resources.get(*VALIDATING),
            hooks(ValidatingAdmissionWebhook.name),
            configured.manifests(ValidatingAdmissionWebhook.name),
        ),
        ResourceQuota(caches, storage, resources, lookup, clock, configuration.limited_resources),
        AlwaysDeny(),
        RBACEscalation(rbac, authorizer),
    ]
