"""/healthz, /livez and /readyz with their single checks (apiserver pkg/server/healthz; for the check of etcd
pkg/storage/storagebackend/factory/etcd3.go)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from engine.api.errors import PlainTextError
from engine.api.wire import Request, Response
from engine.apiserver.metrics.slis import HealthcheckMetrics
from engine.apiserver.routing import PAGE_NOT_FOUND
from engine.store.types import Range, Store, StoreError

_TEXT = {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache, private",
}
# What must have been done once before requests are answered at all, in the order of the servers that make up this one,
# and since which release there is more of it.
_HOOKS = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "autoregister-completion",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
)
_SINCE = {"start-kubernetes-service-cidr-controller": (1, 33), "storage-readiness": (1, 36)}
_NO_HOOK = frozenset(("autoregister-completion",))
_ROOTS = ("healthz", "livez", "readyz")
_HEALTH_KEY = b"/registry/health"

Check = Callable[[], Awaitable[str]]  # what is wrong, "" for nothing


class Health:
    """`ready` is whether the server has started and is not about to stop; `metrics` count what the checks said.
    `release` is the Kubernetes version that the server plays."""

    def __init__(self, store: Store, release: tuple[int, int]) -> None:
        self.ready = False
        hooks = [_shown(hook) for hook in _HOOKS if _SINCE.get(hook, release) <= release]
        self._live = ("ping", "log", "etcd", *hooks)
        self._ready = ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *hooks, "shutdown")
        self.metrics = HealthcheckMetrics()
        self._store = store
        self._checks: dict[str, Check] = {
            "etcd": self._etcd,
            "etcd-readiness": self._etcd,
            "informer-sync": self._started,
            "shutdown": self._started,
        }

    async def answer(self, request: Request) -> Response:
        """Raises PlainTextError 404 for a check that there is not, 500 for one that fails."""
        root, slash, single = request.path.removeprefix("/").partition("/")
        names = self._names(root)
        if root not in _ROOTS or (slash and single not in names):
            raise PlainTextError(404, PAGE_NOT_FOUND)
        if single:
            if wrong := await self._check(single):
                raise PlainTextError(500, f"internal server error: {wrong}")
            return Response(200, b"ok", dict(_TEXT))
        excluded = dict.fromkeys(request.query.get("exclude", []))
        failed = set[str]()
        for name in names:
            if name not in excluded:
                ok = not await self._check(name)
                self.metrics.observe(name, root, ok=ok)
                if not ok:
                    failed.add(name)
        unknown = sorted(name for name in excluded if name not in names)
        if not failed and "verbose" not in request.query:
            return Response(200, b"ok", dict(_TEXT))
        lines = [_line(name, failed=name in failed, excluded=name in excluded) for name in names]
        lines += _warning(unknown)
        lines.append(f"{root} check {'failed' if failed else 'passed'}")
        return Response(500 if failed else 200, "\n".join([*lines, ""]).encode(), dict(_TEXT))

    def paths(self) -> Iterator[str]:
        for root in _ROOTS:
            yield f"/{root}"
            yield from (f"/{root}/{name}" for name in self._names(root))

    def _names(self, root: str) -> tuple[str, ...]:
        return self._ready if root == "readyz" else self._live

    async def _check(self, name: str) -> str:
        check = self._checks.get(name)
        return await check() if check is not None else ""

    async def _etcd(self) -> str:
        return await store_trouble(self._store)

    async def _started(self) -> str:
        return "" if self.ready else "process is shutting down"


async def store_trouble(store: Store) -> str:
    """Why the store does not answer now; "" if it does. It need not be able to write."""
    try:
        await store.range(Range(_HEALTH_KEY, count_only=True))
    except StoreError as error:
        return f"error getting data from etcd: {error}"
    return ""


def _shown(hook: str) -> str:
    return hook if hook in _NO_HOOK else f"poststarthook/{hook}"


def _line(check: str, *, failed: bool, excluded: bool) -> str:
    if excluded:
        return f"[+]{check} excluded: ok"
    # Anybody may ask: why it failed is told to those who may ask for the check alone.
    return f"[-]{check} failed: reason withheld" if failed else f"[+]{check} ok"


def _warning(unknown: list[str]) -> Iterator[str]:
    if unknown:
        names = ",".join(f'"{name}"' for name in unknown)
        yield f"warn: some health checks cannot be excluded: no matches for {names}"
