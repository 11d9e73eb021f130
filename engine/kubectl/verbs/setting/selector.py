"""`set selector` and `set subject`: what a Service selects, and whom a role is bound to.

Source of the behaviour: kubectl pkg/cmd/set/set_selector.go and set_subject.go.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.selection import Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.setting.change import FLAGS, change

RBAC = "rbac.authorization.k8s.io"


async def set_selector(session: Session) -> None:
    *resources, expression = session.arguments or [""]
    if len(session.arguments) < 2 and not session.flags.many("filename"):
        expression = ""
    if "=" not in expression:
        raise CommandError("resource(s) were provided, but no name was specified")
    labels = dict(part.split("=", 1) for part in expression.split(",") if "=" in part)

    def alter(info: Info, obj: Object) -> None:
        if info.resource.kind != "Service":
            raise CommandError(f"setting a selector is only supported for Services: {info.resource.plural}")
        obj.setdefault("spec", {})["selector"] = labels

    await change(session, resources, alter, done="selector updated", even_unchanged=True)


async def set_subject(session: Session) -> None:
    flags = session.flags
    subjects: list[Object] = [{"apiGroup": RBAC, "kind": "User", "name": name} for name in flags.many("user")]
    subjects += [{"apiGroup": RBAC, "kind": "Group", "name": name} for name in flags.many("group")]
    for text in flags.many("serviceaccount"):
        namespace, colon, name = text.partition(":")
        if not colon or not namespace or not name:
            raise CommandError("serviceaccount must be <namespace>:<name>")
        subjects.append({"kind": "ServiceAccount", "name": name, "namespace": namespace})
    if not subjects:
        raise CommandError("you must specify at least one value of user, group or serviceaccount")

    def alter(info: Info, obj: Object) -> None:
        if info.resource.kind not in ("RoleBinding", "ClusterRoleBinding"):
            where = f"{info.resource.plural}/{info.name}"
            raise CommandError(f"{where} setting subjects is only supported for RoleBinding/ClusterRoleBinding")
        present = obj.get("subjects") or []
        added = [subject for subject in subjects if subject not in present]
        if added:
            obj["subjects"] = [*present, *added]

    await change(session, session.arguments, alter, done="subjects updated")


SELECTOR = Command(
    name="selector",
    short="Set the selector on a resource",
    usage="(-f FILENAME | TYPE NAME) EXPRESSIONS [--resource-version=version]",
    run=set_selector,
    flags=(*FLAGS, Flag("resource-version", help="Only if the object is still at this version.")),
    examples=("set selector service web app=web",),
)
SUBJECT = Command(
    name="subject",
    short="Update the user, group, or service account in a role binding or cluster role binding",
    usage="(-f FILENAME | TYPE NAME) [--user=username] [--group=groupname] [--serviceaccount=namespace:name]",
    run=set_subject,
    flags=(
        *FLAGS,
        Flag("user", Type.ARRAY, help="A user to bind to."),
        Flag("group", Type.ARRAY, help="A group to bind to."),
        Flag("serviceaccount", Type.ARRAY, help="A service account to bind to, NAMESPACE:NAME."),
    ),
    examples=("set subject rolebinding admin --user=jane",),
)
