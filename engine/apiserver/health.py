"""/healthz, /livez and /readyz with their single checks (apiserver pkg/server/healthz)."""

from __future__ import annotations

from engine.api.errors import PlainTextError
from engine.api.wire import Request, Response
from engine.apiserver.routing import PAGE_NOT_FOUND

_TEXT = {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache, private",
}
CHECKS = (
    "ping",
    "log",
    "etcd",
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/bootstrap-controller",
)
_READY_ONLY = ("etcd-readiness", "informer-sync", "shutdown")


def health(request: Request, path: str, *, ready: bool) -> Response:
    """Raises ApiError 404 for a check that there is not."""
    root, _, single = path.strip("/").partition("/")
    checks = (*CHECKS, *_READY_ONLY) if root == "readyz" else CHECKS
    excluded = request.query.get("exclude", [])
    failing = () if ready else ("informer-sync",) if root == "readyz" else ()
    if single:
        if single not in checks:
            raise PlainTextError(404, PAGE_NOT_FOUND)
        return Response(200, b"ok", dict(_TEXT))
    failed = [check for check in failing if check not in excluded]
    if not failed and "verbose" not in request.query:
        return Response(200, b"ok", dict(_TEXT))
    lines = [_line(check, failed=check in failed, excluded=check in excluded) for check in checks]
    lines.append(f"{root} check {'failed' if failed else 'passed'}")
    return Response(500 if failed else 200, "\n".join([*lines, ""]).encode(), dict(_TEXT))


def _line(check: str, *, failed: bool, excluded: bool) -> str:
    if excluded:
        return f"[+]{check} excluded: ok"
    return f"[-]{check} failed: reason withheld" if failed else f"[+]{check} ok"
