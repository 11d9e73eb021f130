"""The API server: one `handle` behind which the whole chain lies (design, sections 2 and 4).

    request info → authentication → authorization → [decode → mutating admission → schema → validating admission →
    store | read | watch] → response

Failures come back as a Status. `start` fills the caches that the chain itself needs and makes the bootstrap objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.api import resource_metrics
from engine.api.crd.definitions import ExtendedDefinitions
from engine.api.field_order import FieldOrder
from engine.api.resource_table import FLOWCONTROL
from engine.api.resources import ResourceRegistry
from engine.api.schema import load_definitions
from engine.api.types import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
    Object,
)
from engine.api.wire import Request, Response
from engine.apiserver.access import Access
from engine.apiserver.actions.binding import BindingAction
from engine.apiserver.actions.eviction import EvictionAction
from engine.apiserver.actions.reviews import Reviews
from engine.apiserver.actions.token import TokenAction
from engine.apiserver.admission import AdmissionChain, Plugin
from engine.apiserver.admission.choice import Choice
from engine.apiserver.admission.configuration import load_configuration
from engine.apiserver.admission.metrics import AdmissionMetrics
from engine.apiserver.admission.plugins import all_plugins
from engine.apiserver.aggregation.aggregator import Aggregator
from engine.apiserver.aggregation.api_services import ApiServices
from engine.apiserver.aggregation.remote_servers import RemoteServers
from engine.apiserver.audit import Auditor, load_policy
from engine.apiserver.audit.log import AuditLog
from engine.apiserver.audit.metrics import AuditMetrics
from engine.apiserver.audit.webhook import AuditWebhook
from engine.apiserver.authentication import Authenticator
from engine.apiserver.authentication.constrained_impersonation import SINCE as CONSTRAINED_SINCE
from engine.apiserver.authentication.constrained_impersonation import Impersonation
from engine.apiserver.authentication.tokens import TokenIssuer
from engine.apiserver.authentication_trust import AuthenticationTrust, trust_config_map
from engine.apiserver.backend import Backend
from engine.apiserver.bootstrap import bootstrap, first_address, keep, kubernetes_service, retarget
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.chain import Chain
from engine.apiserver.component_statuses import ComponentStatuses
from engine.apiserver.cors import CrossOrigin
from engine.apiserver.customresources.cleaning import Cleaner
from engine.apiserver.customresources.controller import CustomResourceDefinitions
from engine.apiserver.customresources.live import LiveRegistry
from engine.apiserver.customresources.webhook import WebhookConverter
from engine.apiserver.deadlines import Deadlines
from engine.apiserver.debug.endpoints import DebugEndpoints
from engine.apiserver.debug.payloads import Payloads
from engine.apiserver.event_leases import EventLeases
from engine.apiserver.fairness import PriorityLevels
from engine.apiserver.fairness.flow_classifier import FlowClassifier
from engine.apiserver.fairness.flow_control_upkeep import FlowControlUpkeep
from engine.apiserver.fairness.flow_schema_status import FlowSchemaStatus
from engine.apiserver.identity_lease import IdentityLease, apiserver_id
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.legacy_token_tracking import TRACKED_SINCE, TRACKING_KEY, LegacyTokenTracking, tracking_config_map
from engine.apiserver.loopback import Loopback
from engine.apiserver.metrics.access_metrics import AccessMetrics
from engine.apiserver.metrics.request_metrics import RequestMetrics
from engine.apiserver.nonresource import NonResource
from engine.apiserver.pod_logs import PodLogs
from engine.apiserver.protobuf import Encoder
from engine.apiserver.protobuf.answers import ProtobufAnswers
from engine.apiserver.registry.create import Creater
from engine.apiserver.registry.create_alike import AlikeCreater
from engine.apiserver.registry.delete import Deleter
from engine.apiserver.registry.hooks import Hooks
from engine.apiserver.registry.patch import Patcher
from engine.apiserver.registry.read import Reader
from engine.apiserver.registry.update import Updater
from engine.apiserver.registry.watch import WatchOpener
from engine.apiserver.resource_metrics import ResourceMetrics
from engine.apiserver.rest import Connector, Rest
from engine.apiserver.service_resolver import ServiceResolver
from engine.apiserver.services.default_service_cidr import DefaultServiceCidr
from engine.apiserver.services.kubernetes_service import KubernetesService, MasterLeases
from engine.apiserver.services.range_repair import RangeRepair
from engine.apiserver.services.service_addresses import Addresses, PoolAddresses
from engine.apiserver.services.service_cidrs import IP_ADDRESSES, SERVICE_CIDRS, CidrAddresses
from engine.apiserver.services.service_ip_repair import ServiceIpRepair
from engine.apiserver.services.service_ips import ServiceHook
from engine.apiserver.services.service_node_ports import NodePorts
from engine.apiserver.services.service_pools import AddressRange
from engine.apiserver.storage import Storage, StorageLookup
from engine.apiserver.stored_values import StoredValues
from engine.apiserver.streaming import NodeConnector
from engine.apiserver.system_namespaces import SystemNamespaces
from engine.apiserver.zpages.flags import flags
from engine.config import ClusterConfig
from engine.rng import Rng
from engine.store.types import Store
from engine.tasks import Supervisor
from engine.trace.archive import RecentTraces, TraceSource
from engine.world import World

# What the chain itself reads from caches.
_CACHED = (ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, NAMESPACES, SERVICES, SERVICE_ACCOUNTS)
_FLOW_RESOURCES = ("flowschemas", "prioritylevelconfigurations")
_SECURE_PORT = 6443  # --secure-port, as the Service default/kubernetes tells it


class ApiServer:
    """A `wire.Handler`.

    `authenticators` come after client certificates and service account tokens, which are signed with
    `service_account_key` (PEM). `plugins` stand in place of the default admission chain.
    """

    def __init__(
        self,
        world: World,
        store: Store,
        *,
        config: ClusterConfig | None = None,
        authenticators: Sequence[Authenticator] = (),
        plugins: Sequence[Plugin] | None = None,
        connector: Connector | None = None,
        traces: TraceSource | None = None,
        service_account_key: bytes | None = None,
    ) -> None:
        self.config = config or ClusterConfig()
        self._world = world
        self._tasks = Supervisor("kube-apiserver")
        definitions = ExtendedDefinitions(load_definitions(self.config.kubernetes_version), resource_metrics.SCHEMAS)
        resources = LiveRegistry(ResourceRegistry.for_version(self.config.kubernetes_version))
        self.kubernetes_version = definitions.version
        order = FieldOrder.for_version(definitions.version)
        self._caches = WatchCaches(
            world,
            store,
            self._tasks,
            StoredValues(definitions, order),
            size=self.config.watch_cache_size,
            sizes=self.config.watch_cache_sizes,
        )
        rng = world.rng.stream("apiserver")
        leases = EventLeases(store, world.clock)
        storage = Storage(store, self._caches, leases, order, release=definitions.release)
        lookup = StorageLookup(storage, resources)
        self._resources = resources
        issuer = TokenIssuer(world.clock, rng.stream("tokens"), key=service_account_key)
        self._loopback = Loopback(lambda request: self._chain.handle(request))
        access = Access(
            self._caches,
            lookup,
            resources,
            cache=self._cache,
            config=self.config,
            release=definitions.release,
            clock=world.clock,
            issuer=issuer,
            chance=rng.stream("access-webhooks"),
            loopback=self._loopback,
            authenticators=authenticators,
        )
        self._access = access
        authorizer = access.authorizer
        admission_metrics = AdmissionMetrics()
        if plugins is None:
            plugins = all_plugins(
                lookup=lookup,
                caches=self._caches,
                resources=resources,
                names=rng.stream("volumes"),
                clock=world.clock,
                rbac=access.rbac,
                authorizer=authorizer,
                storage=storage,
                definitions=definitions,
                uids=rng.stream("admission-reviews"),
                metrics=admission_metrics,
                provide=self._provide_namespace,
                configuration=load_configuration(
                    file := self.config.admission_control_config_file,
                    enabled=self.config.enable_admission_plugins if file is not None else (),
                    release=definitions.release,
                ),
                identity=apiserver_id(self.config.name),
            )
            choice = Choice(self.config.enable_admission_plugins, self.config.disable_admission_plugins)
            plugins = choice.chosen(plugins)
        draws = (rng.stream("service-ips"), rng.stream("service-ips-2"))
        self._node_ports = NodePorts(store, rng.stream("node-ports"))
        self._addresses = self._service_addresses(draws, store)
        hooks = Hooks()
        hooks.register("services", ServiceHook(self._addresses, self._node_ports))
        self.backend = Backend(
            world=world,
            definitions=definitions,
            resources=resources,
            storage=storage,
            caches=self._caches,
            authorizer=authorizer,
            admission=AdmissionChain(plugins, admission_metrics),
            hooks=hooks,
            uids=rng.stream("uids"),
            names=rng.stream("names"),
            times=rng.stream("watch-timeouts"),
        )
        creater, updater = Creater(self.backend), Updater(self.backend)
        deleter = Deleter(self.backend)
        encoder = Encoder(self.backend.definitions)
        rest = Rest(
            self.backend,
            reader=Reader(self.backend),
            creater=creater,
            alike=AlikeCreater(self.backend, creater),
            updater=updater,
            patcher=Patcher(self.backend, creater, updater),
            deleter=deleter,
            watches=WatchOpener(self.backend, encoder),
            reviews=Reviews(
                authorizer,
                access.rbac,
                access.tokens,
                access.further,
                world.clock,
                version=self.kubernetes_version,
                anonymous=access.anonymous,
                modes=access.modes,
                abac=access.abac,
            ),
            logs=PodLogs(world),
            components=ComponentStatuses(self.backend, lookup),
            usage=ResourceMetrics(self.backend),
            actions={
                ("pods", "binding"): BindingAction(self.backend, updater),
                ("pods", "eviction"): EvictionAction(self.backend, deleter, updater),
                ("serviceaccounts", "token"): TokenAction(self.backend, lookup, issuer),
            },
            connector=connector or NodeConnector(self.backend),
        )
        self._definitions = CustomResourceDefinitions(
            self.backend,
            Cleaner(self.backend, deleter, self._tasks),
            self._tasks,
            definitions=definitions,
            registry=resources,
        )
        rest.definitions = self._definitions
        self._servers = RemoteServers(ServiceResolver(lookup), self.config, world.clock, definitions.release)
        self._api_services = ApiServices(self.backend, self._tasks, registry=resources, servers=self._servers)
        aggregator = Aggregator(self._servers, self._api_services.elsewhere, self.config.request_headers)
        self._definitions.on_change = self._api_services.changed
        storage.converter = WebhookConverter(lookup, rng.stream("conversions"))
        payloads = Payloads(definitions)
        self._debug = DebugEndpoints(self.backend, self.config, traces or RecentTraces(world.tracer), payloads=payloads)
        requests, accesses, audited = RequestMetrics(), AccessMetrics(), AuditMetrics()
        self._auditor = self._make_auditor(audited)
        self._flow_caches = [self._cache_of_any_version(resource) for resource in _FLOW_RESOURCES]
        levels = PriorityLevels(world.clock, self._flow_caches[1])
        impersonation = Impersonation(authorizer, constrained=definitions.release >= CONSTRAINED_SINCE)
        self._nonresource = NonResource(
            self.backend,
            self._debug,
            requests,
            issuer,
            levels,
            aggregator,
            flags=flags(self.config, secure_port=_SECURE_PORT),
            families=lambda: (
                *accesses.families(),
                *(impersonation.metrics.families() if impersonation.constrained else ()),
                *access.token_metrics.families(),
                access.certificate_lifetimes,
                *(access.authentication_reloads.families() if self.config.authentication_config else ()),
                *access.further_families(),
                *audited.families(),
                *self._addresses.families_of_metrics(),
                *self._node_ports.metrics.families(),
                *self._api_services.families(),
                self._nonresource.aggregations,
            ),
        )
        self._chain = Chain(
            world=world,
            authenticator=access.authenticator,
            authorizer=authorizer,
            impersonation=impersonation,
            rest=rest,
            nonresource=self._nonresource,
            payloads=payloads,
            flows=FlowClassifier(*self._flow_caches),
            metrics=requests,
            access=accesses,
            audit_ids=rng.stream("audit-ids"),
            levels=levels,
            deadlines=Deadlines(world, self._tasks),
            protobuf=ProtobufAnswers(encoder, world.clock),
            cross_origin=CrossOrigin(self.config.cors_allowed_origins),
            aggregator=aggregator,
            auditor=self._auditor,
        )

        self._identity = IdentityLease(self._loopback, world, self.config.name)
        self._trust = AuthenticationTrust(
            self.config.root_ca,
            self.config.request_headers,
            store,
            lookup,
            self._loopback,
            world.clock,
            release=definitions.release,
        )
        self._tracking = LegacyTokenTracking(store, lookup, self._loopback, world.clock)
        self._repair: ServiceIpRepair | None = None
        first = first_address(self.config.service_cidrs)
        self._service = KubernetesService(
            self.backend,
            self._loopback,
            lambda address: kubernetes_service(first, *address),
            MasterLeases(store) if self.config.store == "etcd" else None,
        )

    def _service_addresses(self, draws: Sequence[Rng], store: Store) -> Addresses:
        """By objects, where the version has them."""
        pairs = zip(self.config.service_cidrs, draws, strict=False)
        if self._resources.get(*SERVICE_CIDRS) is None:
            return PoolAddresses(store, [(AddressRange(cidr), rng) for cidr, rng in pairs])
        return CidrAddresses(
            {AddressRange(cidr).family: rng for cidr, rng in pairs},
            cidrs=self._cache(SERVICE_CIDRS),
            addresses=self._cache(IP_ADDRESSES),
            store=store,
            loopback=self._loopback,
        )

    def _make_auditor(self, metrics: AuditMetrics) -> Auditor | None:
        """Raises AuditPolicyError, CredentialsError."""
        file, path, asked = self.config.audit_policy_file, self.config.audit_log_path, self.config.audit_webhook
        if file is None or not (path or asked):
            return None
        clock, webhook = self._world.clock, None
        if asked is not None:
            chance = self._world.rng.stream("audit-webhook")
            called = KubeconfigWebhook(asked.config_file, backoff=asked.initial_backoff, chance=chance)
            webhook = AuditWebhook(called, asked, clock, self._tasks, metrics)
        log = AuditLog(path, clock, self._tasks) if path else None
        return Auditor(load_policy(file), log, clock, metrics, webhook=webhook)

    async def _provide_namespace(self, name: str) -> None:
        """For NamespaceAutoProvision."""
        await keep(self.backend, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, ())

    def _cache(self, gvr: GVR) -> WatchCache:
        info = self._resources.get(*gvr)
        assert info is not None, f"every version serves {gvr.group_resource}"
        return self._caches.make(info)

    def _cache_of_any_version(self, resource: str) -> WatchCache:
        """Of flow control, of which releases serve different versions; all are stored in one place."""
        info = next(each for each in self._resources if each.gvr[::2] == (FLOWCONTROL, resource))
        return self._caches.make(info)

    async def start(self) -> None:
        """Make the bootstrap objects and fill the caches that the chain reads; also again after a `stop`."""
        self._tasks.reopen()
        made = await bootstrap(
            self.backend,
            ranges=self.config.service_cidrs,
            host=self.config.host,
            port=_SECURE_PORT,
            config_maps=self._config_maps(),
        )
        for cache in (*map(self._cache, _CACHED), *self._flow_caches):
            await cache.start(self._tasks)
        await self._definitions.start()
        await self._api_services.start()
        for repair in self._range_repairs():
            await repair.look()
            self._tasks.spawn(repair.run(), "range repair")
        self._access.start(self._tasks)
        self._nonresource.health.ready = True
        self._service.assume((self.config.host, _SECURE_PORT))
        self._tasks.spawn(self._service.run(), "kubernetes service")
        namespaces = SystemNamespaces(self._cache(NAMESPACES), self._loopback, self._world)
        self._tasks.spawn(namespaces.run(), "system namespaces")
        self._start_flow_control()
        if self._resources.get(*SERVICE_CIDRS) is not None:
            await self._start_service_cidrs()
        await self._identity.begin()
        self._tasks.spawn(self._identity.run(), "identity lease")
        self._tasks.spawn(self._identity.collect(), "identity lease garbage collector")
        if self.config.root_ca:
            self._trust.start(self._tasks)
        if self.backend.definitions.release >= TRACKED_SINCE:
            self._tracking.start(self._tasks, made=TRACKING_KEY in made)

    def _config_maps(self) -> Sequence[Object]:
        """Those in kube-system that this server keeps, as a new cluster has them."""
        now, release = self._world.clock.now(), self.backend.definitions.release
        ca, headers = self.config.root_ca, self.config.request_headers
        trust = trust_config_map(ca, headers, now, release) if ca else None
        tracking = tracking_config_map(now) if release >= TRACKED_SINCE else None
        return [each for each in (trust, tracking) if each is not None]

    def _range_repairs(self) -> Iterator[RangeRepair]:
        """Of what Services are allocated from ranges that the store has."""
        ranges = [self._node_ports.repaired()]
        if isinstance(self._addresses, PoolAddresses):
            ranges += self._addresses.repaired()
        return (RangeRepair(self.backend, self._loopback, each, self._cache(SERVICES)) for each in ranges)

    def _start_flow_control(self) -> None:
        schemas, levels = (self._resources.get(FLOWCONTROL, "v1", resource) for resource in _FLOW_RESOURCES)
        if schemas is None or levels is None:
            return
        upkeep = FlowControlUpkeep((schemas, levels), self._flow_caches, self._loopback, self._world)
        self._tasks.spawn(upkeep.run(), "flow control upkeep")
        status = FlowSchemaStatus(schemas, *self._flow_caches, backend=self.backend, loopback=self._loopback)
        status.start(self._tasks)

    async def _start_service_cidrs(self) -> None:
        for gvr in (SERVICE_CIDRS, IP_ADDRESSES):
            await self._cache(gvr).start(self._tasks)
        default = DefaultServiceCidr(self.config.service_cidrs, self._cache(SERVICE_CIDRS), self._loopback, self._world)
        await default.sync()
        self._tasks.spawn(default.run(), "default service cidr")
        self._repair = ServiceIpRepair(
            self.backend,
            self._loopback,
            services=self._cache(SERVICES),
            cidrs=self._cache(SERVICE_CIDRS),
            addresses=self._cache(IP_ADDRESSES),
        )
        self._repair.start(self._tasks)

    async def advertise(self, host: str, port: int) -> None:
        """Say in the Service default/kubernetes and its endpoints where the API is served."""
        await retarget(self.backend, port)
        await self._service.advertise((host, port))

    async def stop(self) -> None:
        """End all watches and tasks."""
        await self._service.stop()
        if self._repair is not None:
            self._repair.stop()
        self._nonresource.health.ready = False
        self._caches.close()
        if self._auditor is not None:
            await self._auditor.flush()
        await self._tasks.close()
        await self._servers.close()

    async def handle(self, request: Request) -> Response:
        """Raises ConnectionRefusedError where the server is stopped: in this process, too, it is away then."""
        if self._tasks.closed:
            raise ConnectionRefusedError("the API server is stopped")
        return await self._chain.handle(request)
