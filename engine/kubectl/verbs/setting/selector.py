"""`set selector` and `set subject`: what a Service selects, and whom a role is bound to.

Source of the behaviour: kubectl pkg/cmd/set/set_selector.go and set_subject.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.kubectl.change_cause import RECORD
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.selection import Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.setting.change import FLAGS, WITHOUT_KUSTOMIZE, change, unfit

RBAC = "rbac.authorization.k8s.io"
_EXPRESSIONS = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist"}


async def set_selector(session: Session) -> None:
    if not session.arguments:
        raise CommandError("one selector is required")
    session.dry_run()
    *resources, text = session.arguments
    labels, expressions = _parsed(text)
    version = session.flags.text("resource-version")

    def alter(info: Info, obj: Object) -> None:
        if info.resource.kind != "Service":
            raise CommandError("setting a selector is only supported for Services")
        if expressions:
            raise CommandError(f"match expression [{' '.join(expressions)}] not supported on this object")
        obj.setdefault("spec", {})["selector"] = labels
        if version:
            obj["metadata"]["resourceVersion"] = version

    await change(session, resources, alter, done="selector updated", even_unchanged=True, one_by_one=True)


def _parsed(text: str) -> tuple[dict[str, str], list[str]]:
    """The labels of a selector, and all else that it asks, as Go prints it. Raises CommandError."""
    labels: dict[str, str] = {}
    expressions: list[str] = []
    try:
        requirements = LabelSelector.parse(text).requirements
    except ApiError as error:
        raise CommandError(f'couldn\'t parse the selector string "{text}": {error.message}') from error
    for requirement in requirements:
        if requirement.operator in ("=", "=="):
            labels[requirement.key] = requirement.values[0]
        elif requirement.operator in _EXPRESSIONS:
            values = " ".join(sorted(requirement.values))
            expressions.append(f"{{{requirement.key} {_EXPRESSIONS[requirement.operator]} [{values}]}}")
        else:
            raise CommandError(f'"{requirement.operator}" is not a valid label selector operator')
    return labels, expressions


async def set_subject(session: Session) -> None:
    flags = session.flags
    subjects: list[Object] = [{"apiGroup": RBAC, "kind": "User", "name": name} for name in flags.many("user")]
    subjects += [{"apiGroup": RBAC, "kind": "Group", "name": name} for name in flags.many("group")]
    for text in flags.many("serviceaccount"):
        namespace, _, name = text.partition(":")
        subject = {"kind": "ServiceAccount", "name": name}
        subjects.append({**subject, "namespace": namespace} if namespace else subject)

    def check(found: Sequence[Info]) -> None:
        if not subjects:
            raise CommandError("you must specify at least one value of user, group or serviceaccount")
        for text in flags.many("serviceaccount"):
            namespace, colon, name = text.partition(":")
            if not colon or not name or ":" in name:
                raise CommandError("serviceaccount must be <namespace>:<name>")
            if not namespace and any(info.resource.kind == "ClusterRoleBinding" for info in found):
                raise CommandError("serviceaccount must be <namespace>:<name>, namespace must be specified")

    def alter(info: Info, obj: Object) -> None:
        if info.resource.kind not in ("RoleBinding", "ClusterRoleBinding"):
            raise unfit(info, "setting subjects is only supported for RoleBinding/ClusterRoleBinding")
        present = obj.get("subjects") or []
        added = [subject for subject in subjects if subject not in present]
        if added:
            obj["subjects"] = [*present, *added]

    failing = "failed to patch subjects to rolebinding:"
    await change(session, session.arguments, alter, done="subjects updated", failing=failing, check=check)


SELECTOR = Command(
    name="selector",
    short="Set the selector on a resource",
    usage="(-f FILENAME | TYPE NAME) EXPRESSIONS [--resource-version=version]",
    run=set_selector,
    flags=(*WITHOUT_KUSTOMIZE, *RECORD, Flag("resource-version", help="Only if the object is still at this version.")),
    examples=("set selector service web app=web",),
)
SUBJECT = Command(
    name="subject",
    short="Update the user, group, or service account in a role binding or cluster role binding",
    usage=(
        "(-f FILENAME | TYPE NAME) [--user=username] [--group=groupname] "
        "[--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
    ),
    run=set_subject,
    flags=(
        *FLAGS,
        Flag("user", Type.ARRAY, help="A user to bind to."),
        Flag("group", Type.ARRAY, help="A group to bind to."),
        Flag("serviceaccount", Type.ARRAY, help="A service account to bind to, NAMESPACE:NAME."),
    ),
    examples=("set subject rolebinding admin --user=jane",),
)
