"""`create role` and `create clusterrole`: rules made from flags.

Source of the behaviour: kubectl pkg/cmd/create/create_role.go and create_clusterrole.go.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubectl.errors import Aggregate, CommandError
from engine.kubectl.session import Session
from engine.kubectl.verbs.create import create_built

RBAC = "rbac.authorization.k8s.io"
_PATH_VERBS = ("*", "get", "post", "put", "delete", "patch", "head", "options")
_VERBS = ("*", "get", "delete", "list", "create", "update", "patch", "watch", "proxy", "deletecollection", "use",
          "bind", "escalate", "impersonate")  # fmt: skip


# Verbs that are for some resources alone, whether or not they are served.
_SPECIAL = {
    "use": (("policy", "podsecuritypolicies"), ("extensions", "podsecuritypolicies")),
    "bind": ((RBAC, "roles"), (RBAC, "clusterroles")),
    "escalate": ((RBAC, "roles"), (RBAC, "clusterroles")),
    "impersonate": (("", "users"), ("", "serviceaccounts"), ("", "groups"), ("authentication.k8s.io", "userextras")),
}


async def create_role(session: Session, name: str) -> None:
    if session.flags.many("resource"):
        rules = await _rules(session, _verbs(session))
    else:
        _verbs(session)
        raise CommandError("at least one resource must be specified")
    await create_built(session, _role("Role", name, rules))


async def create_cluster_role(session: Session, name: str) -> None:
    flags = session.flags
    urls = list(dict.fromkeys(flags.many("non-resource-url")))
    if aggregation := flags.many("aggregation-rule"):
        if urls or any(flags.many(other) for other in ("verb", "resource", "resource-name")):
            raise CommandError(
                "aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames"
            )
        labels = dict(pair.split("=", 1) for pair in aggregation)
        rule = {"clusterRoleSelectors": [{"matchLabels": labels}]}
        await create_built(session, {**_role("ClusterRole", name, None), "aggregationRule": rule})
        return
    verbs = _verbs(session)
    if not flags.many("resource") and not urls:
        raise CommandError("one of resource or nonResourceURL must be specified")
    rules = await _rules(session, verbs) if flags.many("resource") else []
    for verb in verbs if urls else ():
        if verb not in _PATH_VERBS:
            raise CommandError(f"invalid verb: '{verb}' for nonResourceURL")
    for url in urls:
        if not url.startswith("/"):
            raise CommandError("nonResourceURL should start with /")
        if "*" in url and url.rstrip("*") != url[:-1]:
            raise CommandError("nonResourceURL only supports wildcard matches when '*' is at the end")
    if urls:
        rules.append({"nonResourceURLs": urls, "verbs": verbs})
    await create_built(session, _role("ClusterRole", name, rules))


def _role(kind: str, name: str, rules: list[Object] | None) -> Object:
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": name}, "rules": rules}


def _verbs(session: Session) -> list[str]:
    """The verbs, each once; `*` stands for all. Raises CommandError."""
    verbs = list(dict.fromkeys(session.flags.many("verb")))
    if "*" in verbs:
        verbs = ["*"]
    if not verbs:
        raise CommandError("at least one verb must be specified")
    for verb in verbs if session.flags.many("resource") else ():
        if verb not in _VERBS:
            session.err(f"Warning: '{verb}' is not a standard resource verb")
    return verbs


async def _rules(session: Session, verbs: list[str]) -> list[Object]:
    """One rule for each group of the resources. Raises CommandError."""
    groups: dict[str, dict[str, None]] = {}
    for group, plural, subresource in await _resources(session, verbs):
        groups.setdefault(group, {})[f"{plural}/{subresource}" if subresource else plural] = None
    names = session.flags.many("resource-name")
    rules: list[Object] = []
    for group in sorted(groups):
        rule: Object = {"apiGroups": [group], "resources": list(groups[group]), "verbs": verbs}
        if names:
            rule["resourceNames"] = list(dict.fromkeys(names))
        rules.append(rule)
    return rules


async def _resources(session: Session, verbs: list[str]) -> list[tuple[str, str, str]]:
    """Group, plural and subresource of each word, as in `deployments.apps/scale`. Where one is `*` alone, it is all;
    what stands after a `*` is not checked."""
    words = session.flags.many("resource")
    if "*" in words:
        return [("", "*", "")]
    found: list[tuple[str, str, str]] = []
    checked = True
    for text in words:
        word, _, subresource = text.partition("/")
        name, _, group = word.partition(".")
        if checked and not name:
            raise CommandError("resource must be specified if apiGroup/subresource specified")
        checked = checked and name != "*"
        group, plural = await _resource(session, name, group, verbs=verbs if checked else None)
        found.append((group, plural, subresource))
    return found


async def _resource(session: Session, name: str, group: str, *, verbs: list[str] | None) -> tuple[str, str]:
    """As it is named where nothing of that name is served. Raises CommandError where that is checked, which is where
    there are `verbs`, unless one of them says that there is such a resource; and for one that says otherwise."""
    unknown: CommandError | None = None
    found = (group, name)
    try:
        resource = await session.resolve(f"{name}.{group}" if group else name)
        if not resource.gvr.group.startswith(group):  # it was a version: words here have none
            raise CommandError(f'the server doesn\'t have a resource type "{name}" in group "{group}"')
        found = (resource.gvr.group, resource.plural)
    except CommandError as error:
        unknown = error
    if verbs is None:
        return found
    for verb in verbs:
        if verb in _SPECIAL and found not in _SPECIAL[verb]:
            raise CommandError(f"can not perform '{verb}' on '{found[1]}' in group '{found[0]}'")
    if unknown is not None and not any(verb in _SPECIAL for verb in verbs):
        raise Aggregate([unknown]) from unknown  # which kubectl prints without its `error:`
    return found
