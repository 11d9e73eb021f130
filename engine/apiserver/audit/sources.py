"""Where a request came from, over which proxies (apimachinery pkg/util/net, SourceIPs)."""

from __future__ import annotations

from engine.api.validation.text import sloppy_address
from engine.api.wire import Request


def source_ips(request: Request) -> list[str]:
    """The addresses that proxies name, the first first, and last whoever sent it; words that are no address are left
    out."""
    forwarded = request.headers.get("x-forwarded-for", "").split(",")
    found = [str(address) for each in forwarded if (address := sloppy_address(each.strip())) is not None]
    real = sloppy_address(request.headers.get("x-real-ip", ""))
    if real is not None and str(real) not in found:
        found.append(str(real))
    remote = sloppy_address(request.remote)
    if remote is not None and str(remote) != (found[-1] if found else ""):
        found.append(str(remote))
    return found
