"""The addresses of Services as objects: an IPAddress for each, from the ranges of the ServiceCIDRs that are ready.

Source: pkg/registry/core/service/ipallocator (cidrallocator.go, ipallocator.go; KEP-1880, stable in 1.33). That an
address is given once is the store's to say: there is one IPAddress of a name. It is made before its Service, and goes
after it; what is left over goes with the repair (`engine.apiserver.services.service_ip_repair`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import lru_cache
from ipaddress import ip_address

from engine.api.errors import unavailable
from engine.api.types import GVR, Object
from engine.api.wire import Response
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.apiserver.services.allocator_metrics import DYNAMIC, STATIC, ClusterIpMetrics
from engine.apiserver.services.service_addresses import Refused
from engine.apiserver.services.service_pools import ALLOCATED, FULL, MISMATCHED_NETWORK, NOT_VALID, AddressRange
from engine.clock import wall
from engine.metrics import Family
from engine.rng import Rng
from engine.store.types import Store

SERVICE_CIDRS = GVR("networking.k8s.io", "v1", "servicecidrs")
IP_ADDRESSES = GVR("networking.k8s.io", "v1", "ipaddresses")
DEFAULT_NAME = "kubernetes"
READY = "Ready"
MANAGER = "ipallocator.k8s.io"
FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family"
MANAGED_BY_LABEL = "ipaddress.kubernetes.io/managed-by"
_SHORTEST_PREFIX = {4: 0, 6: 64}  # NewIPAllocator

address_range = lru_cache(maxsize=256)(AddressRange)


class CidrAddresses:
    """`draws` are by family, the default one first; `cidrs` and `addresses` are all objects of these kinds."""

    def __init__(
        self, draws: dict[str, Rng], *, cidrs: WatchCache, addresses: WatchCache, store: Store, loopback: Loopback
    ) -> None:
        self._draws = draws
        self._cidrs = cidrs
        self._addresses = addresses
        self._store = store
        self._loopback = loopback
        self._metrics = ClusterIpMetrics()

    @property
    def families(self) -> Sequence[str]:
        return tuple(self._draws)

    async def take(self, owner: Object, address: str, *, dry_run: bool) -> None:
        """In any range that is ready; a dry run does not ask whether somebody has it (dryRunAllocator)."""
        try:
            parsed = ip_address(address)
        except ValueError:
            raise Refused(NOT_VALID) from None
        ranges = await self._found(lambda: (each for each in self._ready() if each.number(parsed) is not None))
        if not ranges:
            raise Refused(MISMATCHED_NETWORK)
        if not dry_run and not await self._make(owner, str(parsed), ranges[0], STATIC):
            raise Refused(ALLOCATED)

    async def draw(self, owner: Object, family: str, *, dry_run: bool) -> str:
        """From the first range that has one left, the oldest first; a dry run gets the address of the network."""
        for found in await self._found(lambda: (each for each in self._ready() if each.family == family)):
            if dry_run:
                return str(found.network.network_address)
            if drawn := await self._draw_from(found, owner):
                return drawn
        raise Refused(FULL)

    async def release(self, address: str) -> None:
        await self._loopback.ask("DELETE", IP_ADDRESSES.path(None, address))

    async def _draw_from(self, wanted: AddressRange, owner: Object) -> str | None:
        rng = self._draws[wanted.family]
        taken = _Taken(wanted, self._addresses)
        while (number := wanted.free(taken, rng)) is not None:
            address = wanted.address(number)
            if await self._make(owner, address, wanted, DYNAMIC):
                return address
            taken.collided.add(number)
        self._metrics.failed(str(wanted.network), DYNAMIC)
        return None

    async def _make(self, owner: Object, address: str, within: AddressRange, scope: str) -> bool:
        """Whether the IPAddress is new. Raises ApiError 503 while the store is away, and else Refused."""
        cidr, began = str(within.network), wall()
        answer = await self._loopback.ask("POST", IP_ADDRESSES.path(), ip_address_object(address, owner))
        if answer.status < 400:
            self._metrics.allocated(cidr, scope)
            self._metrics.took(cidr, wall() - began)
            return True
        self._metrics.failed(cidr, scope)
        if answer.status == 409 and _status(answer).get("reason") == "AlreadyExists":
            return False
        message = _status(answer).get("message", "")
        if answer.status == 503:
            raise unavailable(message)
        raise Refused(message)

    def families_of_metrics(self) -> Sequence[Family]:
        """What is taken is counted when somebody asks: there may be many, and each allocation would count them."""
        ranges = [address_range(cidr) for cidr in sorted(self._metrics.ranges)]
        taken = dict.fromkeys(ranges, 0)
        for each in self._addresses.objects() if ranges else ():
            address = ip_address(each["metadata"]["name"])
            for within in ranges:
                taken[within] += within.number(address) is not None
        for within, count in taken.items():
            self._metrics.holds(str(within.network), taken=count, size=within.size)
        return self._metrics.families()

    async def _found(self, find: Callable[[], Iterator[AddressRange]]) -> list[AddressRange]:
        """What the cache has, or, where it has nothing, what it has once it knows all that is written by now."""
        if ranges := list(find()):
            return ranges
        await self._cidrs.freshness.catch_up(self._store.revision)
        return list(find())

    def _ready(self) -> Iterator[AddressRange]:
        for cidr in sorted(self._cidrs.objects(), key=_age):
            if is_ready(cidr):
                for each in map(address_range, cidr["spec"].get("cidrs") or ()):
                    if each.network.prefixlen >= _SHORTEST_PREFIX[each.network.version]:
                        yield each


class _Taken(Container[int]):
    """The addresses of a range that have an object, and those that turned out to have one since the cache was fed."""

    def __init__(self, of: AddressRange, stored: WatchCache) -> None:
        self.collided: set[int] = set()
        self._range = of
        self._stored = stored

    def __contains__(self, number: object) -> bool:
        assert isinstance(number, int)
        key = f"{self._stored.prefix}/{self._range.address(number)}"
        return number in self.collided or self._stored.get(key) is not None


def is_ready(cidr: Object) -> bool:
    """One that nobody has judged yet is: there may be no controllers."""
    if "deletionTimestamp" in cidr["metadata"]:
        return False
    conditions = (cidr.get("status") or {}).get("conditions") or ()
    return next((each["status"] == "True" for each in conditions if each["type"] == READY), True)


def ip_address_object(address: str, service: Object) -> Object:
    metadata = service["metadata"]
    family = f"IPv{ip_address(address).version}"
    parent = {"resource": "services", "namespace": metadata.get("namespace", ""), "name": metadata.get("name", "")}
    return {
        "apiVersion": IP_ADDRESSES.api_version,
        "kind": "IPAddress",
        "metadata": {"name": address, "labels": {FAMILY_LABEL: family, MANAGED_BY_LABEL: MANAGER}},
        "spec": {"parentRef": parent},
    }


def service_cidr_object(ranges: Sequence[str]) -> Object:
    """That of the flags."""
    return {
        "apiVersion": SERVICE_CIDRS.api_version,
        "kind": "ServiceCIDR",
        "metadata": {"name": DEFAULT_NAME},
        "spec": {"cidrs": [str(address_range(cidr).network) for cidr in ranges]},
    }


def _age(obj: Object) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("creationTimestamp", ""), metadata["name"]


def _status(answer: Response) -> Object:
    return answer.body if isinstance(answer.body, dict) else {}
