"""ResourceQuotas and LimitRanges in words, alone and within their namespace.

Source of the behaviour: kubectl pkg/describe (describeQuota, DescribeResourceQuotas, describeLimitRange,
DescribeLimitRanges).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubectl.describe.writer import Page
from engine.kubectl.session import Session

LIMIT_KEYS = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")
LIMIT_COLUMNS = ("Type", "Resource", "Min", "Max", "Default Request", "Default Limit", "Max Limit/Request Ratio")
SCOPES = {
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before "
    "being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually include long running "
    "pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have a best effort quality "
    "of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These pods have a burstable or "
    "guaranteed quality of service.",
}


async def quota(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    scopes = sorted((obj.get("spec") or {}).get("scopes") or ())
    if scopes:
        page.field("Scopes", ", ".join(scopes))
    for scope in scopes:
        if text := SCOPES.get(scope):
            page.line(f" * {text}")
    page.row("Resource", "Used", "Hard")
    page.row("--------", "----", "----")
    _amounts(page, obj, level=0, alike=True)
    return page.text()


def _amounts(page: Page, obj: Object, *, level: int, alike: bool = False) -> None:
    """`alike` where what is used is told in the form of what there may be."""
    status = obj.get("status") or {}
    for name, hard in sorted((status.get("hard") or {}).items()):
        used, most = Quantity.parse((status.get("used") or {}).get(name, "0")), Quantity.parse(hard)
        if alike and used.format is not most.format:
            used = Quantity.of(used.value, most.format)
        page.row(name, used, most, level=level)


async def limit_range(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    _limits(page, [obj], "")
    return page.text()


def _limits(page: Page, ranges: Iterable[Object], indent: str) -> None:
    page.line(indent + "\t".join(LIMIT_COLUMNS))
    page.line(indent + "\t".join("-" * len(column) for column in LIMIT_COLUMNS))
    for one in ranges:
        for item in (one.get("spec") or {}).get("limits") or ():
            for name in sorted({name: None for key in LIMIT_KEYS for name in item.get(key) or {}}):
                cells = [(item.get(key) or {}).get(name, "-") for key in LIMIT_KEYS]
                page.line(indent + "\t".join([item.get("type", ""), name, *cells]))


# -- within a namespace


def quotas_within(page: Page, quotas: Sequence[Object]) -> None:
    if not quotas:
        page.line("No resource quota.")
        return
    page.line("Resource Quotas")
    for one in sorted(quotas, key=lambda item: str(item["metadata"]["name"])):
        page.field("Name", one["metadata"]["name"], 1)
        scopes = sorted((one.get("spec") or {}).get("scopes") or ())
        if scopes:
            page.field("Scopes", ", ".join(scopes), 1)
        for scope in scopes:
            if text := SCOPES.get(scope):
                page.line(f"* {text}", 1)
        page.row("Resource", "Used", "Hard", level=1)
        page.row("--------", "---", "---", level=1)
        _amounts(page, one, level=1)


def limits_within(page: Page, ranges: Sequence[Object]) -> None:
    if not ranges:
        page.line("No LimitRange resource.")
        return
    page.line("Resource Limits")
    _limits(page, ranges, " ")
