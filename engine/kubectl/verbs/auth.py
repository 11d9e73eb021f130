"""`auth can-i` and `auth whoami`: what one may do, and who one is.

Source of the behaviour: kubectl pkg/cmd/auth (cani.go, whoami.go).
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError, Exit
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, PRINT
from engine.kubectl.printers.objects import split_format, structured_printer, unknown_format
from engine.kubectl.printers.tabwriter import ColumnWriter
from engine.kubectl.session import Session
from engine.kubectl.undiscovered import UndiscoveredError
from engine.kubectl.verbs.reconcile import COMMAND as RECONCILE

VERBS = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind"),
    *("impersonate", "escalate", "approve", "sign", "*", "attest"),
)
URL_VERBS = ("get", "put", "post", "head", "options", "delete", "patch")
# What there is to be impersonated as, though no server lists it.
_UNDISCOVERED = ("users", "groups")
REVIEWS = "/apis/authorization.k8s.io/v1"


async def can_i(session: Session) -> None:
    if session.flags.on("list"):
        if session.arguments:
            raise CommandError("list option must be specified with no arguments")
        await _list(session)
        return
    if len(session.arguments) != 2:
        raise CommandError(
            "you must specify two arguments: verb resource or verb resource/resourceName.\n"
            f"See '{session.path} -h' for help and examples."
        )
    verb, target = session.arguments
    spec = _url(session, verb, target) if target.startswith("/") else await _resource(session, verb, target)
    if session.flags.on("no-headers"):
        raise CommandError("--no-headers cannot be set without --list specified")
    _warn_of_verb(session, verb, is_url=target.startswith("/"))
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
    review = await session.request("POST", f"{REVIEWS}/selfsubjectaccessreviews", body=body)
    status = review.get("status") or {}
    allowed = bool(status.get("allowed"))
    if not session.flags.on("quiet"):
        session.out(_answer(status, allowed))
    if not allowed:
        raise Exit(1)


def _answer(status: Object, allowed: bool) -> str:
    text = "yes" if allowed else "no"
    if not allowed and status.get("reason"):
        text += f" - {status['reason']}"
    if not allowed and status.get("evaluationError"):
        text += f" - {status['evaluationError']}"
    return text


def _url(session: Session, verb: str, path: str) -> Object:
    if session.flags.text("subresource"):
        raise CommandError("--subresource can not be used with NonResourceURL")
    return {"nonResourceAttributes": {"path": path, "verb": verb}}


async def _resource(session: Session, verb: str, target: str) -> Object:
    word, _, name = target.partition("/")
    attributes: Object = {"verb": verb, "resource": word}
    resource = await _find(session, word)
    namespace = "" if session.all_namespaces else session.namespace
    if resource is not None:
        attributes["resource"] = resource.plural
        if resource.gvr.group:
            attributes["group"] = resource.gvr.group
        if not resource.namespaced:
            group = f" in group '{resource.gvr.group}'" if resource.gvr.group else ""
            if namespace:
                session.err(f"Warning: resource '{resource.plural}' is not namespace scoped{group}\n")
            namespace = ""
    elif word == "*":
        attributes["group"] = "*"
    if namespace:
        attributes["namespace"] = namespace
    if name:
        attributes["name"] = name
    if subresource := session.flags.text("subresource"):
        attributes["subresource"] = subresource
    return {"resourceAttributes": attributes}


async def _find(session: Session, word: str) -> Resource | None:
    if word == "*":
        return None
    try:
        return await session.resolve(word.lower())
    except (CommandError, UndiscoveredError) as error:
        if isinstance(error, UndiscoveredError):
            session.tell_undiscovered(error, 2)
        name, _, group = word.partition(".")
        within = f" in group '{group}'" if group else ""
        if word.lower() not in _UNDISCOVERED:
            session.err(f"Warning: the server doesn't have a resource type '{name}'{within}\n")
        return None


def _warn_of_verb(session: Session, verb: str, *, is_url: bool) -> None:
    known = URL_VERBS if is_url else VERBS
    if verb not in known and verb != "*":
        session.err(f"Warning: verb '{verb}' is not a known verb\n")


async def _list(session: Session) -> None:
    namespace = session.namespace
    spec = {"namespace": namespace}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": spec}
    review = await session.request("POST", f"{REVIEWS}/selfsubjectrulesreviews", body=body)
    status = review.get("status") or {}
    rows = [] if session.flags.on("no-headers") else [["Resources", "Non-Resource URLs", "Resource Names", "Verbs"]]
    rows += [row for _, row in sorted(_rules(status))]
    if status.get("incomplete"):
        session.err("Warning: the list may be incomplete: " + str(status.get("evaluationError", "")))
    for line in ColumnWriter().lines(rows):
        session.out(line)


def _rules(status: Object) -> list[tuple[str, list[str]]]:
    """A row for each single rule, with what Go prints of it before: the rules stand in that order."""
    found: list[tuple[str, list[str]]] = []
    for rule in status.get("resourceRules") or ():
        verbs, names = f"[{' '.join(rule.get('verbs') or ())}]", f"[{' '.join(rule.get('resourceNames') or ())}]"
        for group in rule.get("apiGroups") or [""]:
            for resource in rule.get("resources") or ():
                name, slash, rest = resource.partition("/")
                shown = (f"{name}.{group}" if group else name) + slash + rest
                found.append((f"{verbs},[{group}],[{resource}],{names}", [shown, "[]", names, verbs]))
    for rule in status.get("nonResourceRules") or ():
        verbs = f"[{' '.join(rule.get('verbs') or ())}]"
        urls = rule.get("nonResourceURLs") or ()
        found += [(f"{verbs},[],[],[],[{url}]", ["", f"[{url}]", "[]", verbs]) for url in urls]
    return found


async def whoami(session: Session) -> None:
    given = session.flags.text("output")
    output = split_format(session)[0] if given else ""
    printer = structured_printer(session, typed=True) if given else None  # a template alone counts for nothing
    if output not in ("", "name") and printer is None:
        raise unknown_format(output)
    if output == "name" or (session.flags.given("output") and not given):
        session.out("selfsubjectreview.authentication.k8s.io/<unknown>")
        return
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    review = await session.request("POST", path, body=body)
    if printer is not None:
        metadata = {key: value for key, value in (review.get("metadata") or {}).items() if value is not None}
        printer({**review, "metadata": metadata})
        return
    user = (review.get("status") or {}).get("userInfo") or {}
    rows = [["ATTRIBUTE", "VALUE"]]
    for title, key in (("Username", "username"), ("UID", "uid")):
        if user.get(key):
            rows.append([title, user[key]])
    if user.get("groups"):
        rows.append(["Groups", f"[{' '.join(user['groups'])}]"])
    for key, values in sorted((user.get("extra") or {}).items()):
        rows.append([f"Extra: {key}", f"[{' '.join(values)}]"])
    for line in ColumnWriter().lines(rows):
        session.out(line)


COMMAND = Command(
    name="auth",
    short="Inspect authorization",
    usage="[flags]",
    children=(
        Command(
            name="can-i",
            short="Check whether an action is allowed",
            usage="VERB [TYPE | TYPE/NAME | NONRESOURCEURL]",
            run=can_i,
            flags=(
                *ALL_NAMESPACES,
                Flag("list", Type.BOOL, help="Show all that is allowed."),
                Flag("no-headers", Type.BOOL, help="Leave out the headers."),
                Flag("quiet", Type.BOOL, short="q", help="Answer by the exit code alone."),
                Flag("subresource", help="A subresource such as log."),
            ),
        ),
        RECONCILE,
        Command(name="whoami", short="Check self subject attributes", run=whoami, flags=PRINT),
    ),
)
