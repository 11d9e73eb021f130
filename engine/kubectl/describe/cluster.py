"""Namespaces, configuration, identities and rights in words.

Source of the behaviour: kubectl pkg/describe (describeNamespace, describeSecret, describeServiceAccount, ...).
"""

from __future__ import annotations

import base64
from itertools import product

from engine.api.errors import ApiError
from engine.api.selectors import format_labels
from engine.api.types import Object
from engine.kubectl.describe import events, quotas
from engine.kubectl.describe.writer import NONE, Page, true_false
from engine.kubectl.session import Session


async def namespace(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    status = obj.get("status") or {}
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    page.field("Status", status.get("phase", ""))
    if conditions := status.get("conditions"):
        page.line("Conditions:")
        page.row("Type", "Status", "LastTransitionTime", "Reason", "Message", level=1)
        page.row("----", "------", "------------------", "------", "-------", level=1)
        for c in conditions:
            when = page.date(c.get("lastTransitionTime"))
            page.row(c.get("type", ""), c.get("status", ""), when, c.get("reason", ""), c.get("message", ""), level=1)
    found = await _within(session, "resourcequotas", obj["metadata"]["name"])
    if found is not None:
        page.line()
        quotas.quotas_within(page, found)
    ranges = await _within(session, "limitranges", obj["metadata"]["name"])
    if ranges is not None:
        page.line()
        quotas.limits_within(page, ranges)
    return page.text()


async def _within(session: Session, word: str, name: str) -> list[Object] | None:
    try:
        return await session.list(await session.resolve(word), name)
    except ApiError as error:
        if error.reason == "NotFound":
            return None
        raise


async def config_map(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    page.labels_and_annotations(obj)
    page.write("\nData\n====\n")
    for key, value in sorted((obj.get("data") or {}).items()):
        page.write(f"{key}:\n----\n{value}\n\n")
    page.write("\nBinaryData\n====\n")
    for key, value in sorted((obj.get("binaryData") or {}).items()):
        page.line(f"{key}: {len(base64.b64decode(value))} bytes")
    page.line()
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def secret(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    page.labels_and_annotations(obj)
    page.line(f"\nType:\t{obj.get('type', '')}")
    page.write("\nData\n====\n")
    for key, value in sorted((obj.get("data") or {}).items()):
        data = base64.b64decode(value)
        if key == "token" and obj.get("type") == "kubernetes.io/service-account-token":
            page.field(key, data.decode(errors="replace"))
        else:
            page.field(key, f"{len(data)} bytes")
    return page.text()


async def service_account(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    page.labels_and_annotations(obj)
    names = [secret.get("name", "") for secret in obj.get("imagePullSecrets") or ()]
    for index, name in enumerate(names or [NONE]):
        page.line(f"{' ' * 19 if index else 'Image pull secrets:'}\t{name}")
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def role(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    page.line("PolicyRule:")
    page.row("Resources", "Non-Resource URLs", "Resource Names", "Verbs", level=1)
    page.row("---------", "-----------------", "--------------", "-----", level=1)
    for (group, resource, url, name), verbs in sorted(_compact(obj.get("rules") or []), key=_rule_order):
        page.row(_resource(resource, group), f"[{url}]", f"[{name}]", f"[{' '.join(verbs)}]", level=1)
    return page.text()


# Group, resource, URL and name, and what may be done to them.
_Rule = tuple[tuple[str, str, str, str], list[str]]


def _rule_order(item: _Rule) -> str:
    """Rules stand in the order of what Go prints of them, verbs first."""
    (group, resource, url, name), verbs = item
    return f"[{' '.join(verbs)}],[{group}],[{resource}],[{name}],[{url}]"


def _compact(rules: list[Object]) -> list[_Rule]:
    """Rules broken down to single ones; those of resources are put together again, by resource and name."""
    of_urls: list[_Rule] = []
    of_resources: dict[tuple[str, str, str, str], list[str]] = {}
    for rule in rules:
        verbs = rule.get("verbs") or ()
        of_urls += [(("", "", url, ""), [verb]) for url, verb in product(rule.get("nonResourceURLs") or (), verbs)]
        groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
        for group, resource, name, verb in product(groups, resources, rule.get("resourceNames") or [""], verbs):
            known = of_resources.setdefault((group, resource, "", name), [])
            if verb not in known:
                known.append(verb)
    return [*of_urls, *of_resources.items()]


def _resource(resource: str, group: str) -> str:
    name, slash, rest = resource.partition("/")
    return (f"{name}.{group}" if group else name) + slash + rest


async def priority_class(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.field("Value", obj.get("value", 0))
    page.field("GlobalDefault", true_false(obj.get("globalDefault")))
    page.field("PreemptionPolicy", obj.get("preemptionPolicy", "PreemptLowerPriority"))
    page.field("Description", obj.get("description", ""))
    page.field("Annotations", format_labels(obj["metadata"].get("annotations")))
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def binding(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    page.line("Role:")
    page.field("Kind", obj["roleRef"].get("kind", ""), 1)
    page.field("Name", obj["roleRef"].get("name", ""), 1)
    page.line("Subjects:")
    page.row("Kind", "Name", "Namespace", level=1)
    page.row("----", "----", "---------", level=1)
    for subject in obj.get("subjects") or ():
        page.row(subject.get("kind", ""), subject.get("name", ""), subject.get("namespace", ""), level=1)
    return page.text()
