"""kube-controller-manager: the controllers of one cluster, on one set of shared informers.

Each controller acts with its own service account (as with --use-service-account-credentials); the informers list and
watch with the manager's own identity, which is what `client_for("kube-controller-manager")` must give.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.client import Client, EventRecorder, InformerFactory
from engine.config import ClusterConfig
from engine.controllers.bootstrap import BootstrapSigner, TokenCleaner
from engine.controllers.certificates import (
    CertificateApprover,
    CertificateCleaner,
    CertificateSigner,
    ClusterTrustBundlePublisher,
    PodCertificateRequestCleaner,
)
from engine.controllers.clusterroleaggregation import ClusterRoleAggregationController
from engine.controllers.controller import Controller, ControllerContext
from engine.controllers.cronjob import CronJobController
from engine.controllers.daemonset import DaemonSetController
from engine.controllers.deployment import DeploymentController
from engine.controllers.devicetainteviction import DeviceTaintEvictionController
from engine.controllers.disruption import DisruptionController
from engine.controllers.endpoints import EndpointsController
from engine.controllers.endpointslice import EndpointSliceController
from engine.controllers.endpointslicemirroring import EndpointSliceMirroringController
from engine.controllers.garbagecollector import GarbageCollector
from engine.controllers.job import JobController
from engine.controllers.legacy_service_account_token_cleaner import LegacyServiceAccountTokenCleaner
from engine.controllers.namespace import NamespaceController
from engine.controllers.nodeipam import NodeIpamController
from engine.controllers.nodelifecycle import NodeLifecycleController
from engine.controllers.persistentvolume import (
    AttachDetachController,
    EphemeralVolumeController,
    ExpandController,
    PersistentVolumeBinder,
    PVCProtectionController,
    PVProtectionController,
    SimulatedAttacher,
    SimulatedProvisioner,
    VACProtectionController,
)
from engine.controllers.podautoscaler import HorizontalPodAutoscaler
from engine.controllers.podgc import PodGarbageCollector
from engine.controllers.policystatus import ValidatingAdmissionPolicyStatusController
from engine.controllers.replicaset import ReplicaSetController
from engine.controllers.replication import ReplicationController
from engine.controllers.resourceclaim import ResourceClaimController
from engine.controllers.resourcequota import ResourceQuotaController
from engine.controllers.rootca import RootCACertPublisher
from engine.controllers.service_account_tokens import ServiceAccountTokensController
from engine.controllers.serviceaccount import ServiceAccountController
from engine.controllers.servicecidrs import ServiceCidrsController
from engine.controllers.stale_disruption import StaleDisruptionController
from engine.controllers.statefulset import StatefulSetController
from engine.controllers.storageversionmigrator import StorageVersionMigratorController
from engine.controllers.tainteviction import TaintEvictionController
from engine.controllers.ttl import TtlController
from engine.controllers.ttl_after_finished import TtlAfterFinishedController
from engine.tasks import together
from engine.world import World

MANAGER = "kube-controller-manager"

CONTROLLERS: tuple[type[Controller], ...] = (
    NodeIpamController,
    NodeLifecycleController,
    TaintEvictionController,
    ServiceAccountController,
    ServiceAccountTokensController,
    LegacyServiceAccountTokenCleaner,
    TokenCleaner,
    BootstrapSigner,
    CertificateApprover,
    CertificateSigner,
    CertificateCleaner,
    PodCertificateRequestCleaner,
    ClusterTrustBundlePublisher,
    DeploymentController,
    ReplicaSetController,
    ReplicationController,
    StatefulSetController,
    DaemonSetController,
    JobController,
    CronJobController,
    TtlAfterFinishedController,
    TtlController,
    ClusterRoleAggregationController,
    DisruptionController,
    StaleDisruptionController,
    EndpointsController,
    EndpointSliceController,
    EndpointSliceMirroringController,
    NamespaceController,
    ResourceQuotaController,
    PersistentVolumeBinder,
    SimulatedProvisioner,
    AttachDetachController,
    ExpandController,
    SimulatedAttacher,
    PVCProtectionController,
    PVProtectionController,
    VACProtectionController,
    EphemeralVolumeController,
    ResourceClaimController,
    DeviceTaintEvictionController,
    HorizontalPodAutoscaler,
    RootCACertPublisher,
    ServiceCidrsController,
    ValidatingAdmissionPolicyStatusController,
    StorageVersionMigratorController,
    PodGarbageCollector,
    GarbageCollector,
)


class ControllerManager:
    """Starts and stops all controllers. `client_for(NAME)` gives a client with that identity."""

    def __init__(
        self,
        client_for: Callable[[str], Client],
        world: World,
        config: ClusterConfig,
        *,
        controllers: tuple[type[Controller], ...] = CONTROLLERS,
        detect_mutations: bool = False,
    ) -> None:
        self.informers = InformerFactory(client_for(MANAGER), world, detect_mutations=detect_mutations)
        self.controllers = [
            self._make(kind, client_for, world, config) for kind in controllers if kind.is_needed(config)
        ]

    def _make(
        self, kind: type[Controller], client_for: Callable[[str], Client], world: World, config: ClusterConfig
    ) -> Controller:
        client = client_for(kind.name)
        recorder = EventRecorder(client, world, kind.event_source or kind.name)
        return kind(ControllerContext(client, self.informers, world, recorder, config))

    async def start(self) -> None:
        """Start informers and controllers and return at once: they work as their caches get in step."""
        for controller in self.controllers:
            controller.start()
        self.informers.start()

    async def stop(self) -> None:
        """Stop all; writes under way are cut off."""
        await together(controller.stop() for controller in reversed(self.controllers))
        await self.informers.stop()
