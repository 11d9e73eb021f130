"""`set resources` and `set serviceaccount`: what containers ask for, and as whom Pods run.

Source of the behaviour: kubectl pkg/cmd/set/set_resources.go and set_serviceaccount.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.quantity import Quantity, QuantityError
from engine.api.types import Object
from engine.kubectl.change_cause import RECORD
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import MISSING, Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.setting.change import (
    FLAGS,
    WITHOUT_SELECTOR,
    change,
    chosen,
    refuse_local_on_server,
    require_pod_spec,
)


async def set_resources(session: Session) -> None:
    amounts: dict[str, dict[str, str]] = {}

    def check(_: Sequence[Info]) -> None:
        amounts.update({name: _amounts(session.flags.text(name)) for name in ("limits", "requests")})
        if not any(amounts.values()):
            raise CommandError("you must specify an update to requests or limits (in the form of --requests/--limits)")

    pattern = session.flags.text("containers") or "*"
    missing: list[Exception] = []

    def alter(info: Info, obj: Object) -> None:
        spec = require_pod_spec(info, obj)
        containers = chosen([*spec["containers"], *(spec.get("initContainers") or ())], pattern)
        if not containers:
            missing.append(CommandError(f"error: unable to find container named {pattern}"))
        for container in containers:
            resources = container.setdefault("resources", {})
            for name, given in amounts.items():
                if given:
                    resources[name] = {**(resources.get(name) or {}), **given}

    failing = "failed to patch resources update to pod template"
    done = "resource requirements updated"
    await change(session, session.arguments, alter, done=done, failing=failing, check=check, problems=missing)


def _amounts(text: str) -> dict[str, str]:
    """The amounts of `cpu=200m,memory=512Mi`. Raises CommandError."""
    found: dict[str, str] = {}
    for part in text.split(",") if text else ():
        name, equals, amount = part.partition("=")
        if not equals or "=" in amount:
            raise CommandError(f"invalid argument syntax {part}, expected <resource>=<value>")
        try:
            found[name] = str(Quantity.parse(amount))
        except QuantityError as error:
            raise CommandError(str(error)) from error
    return found


async def set_service_account(session: Session) -> None:
    dry_run = session.dry_run()
    refuse_local_on_server(session)
    result_printer(session, "serviceaccount updated", dry_run=dry_run, typed=True)
    if len(session.arguments) < (1 if session.from_files else 2):
        raise CommandError(MISSING if session.arguments else "serviceaccount is required")
    *resources, account = session.arguments

    def alter(info: Info, obj: Object) -> None:
        require_pod_spec(info, obj)["serviceAccountName"] = account

    await change(
        session,
        resources,
        alter,
        done="serviceaccount updated",
        failing="failed to patch ServiceAccountName",
        even_unchanged=True,
        files_only=False,
    )


RESOURCES = Command(
    name="resources",
    short="Update resource requests/limits on objects with pod templates",
    usage="(-f FILENAME | TYPE NAME)  ([--limits=LIMITS & --requests=REQUESTS]",
    run=set_resources,
    flags=(
        *FLAGS,
        *RECORD,
        Flag("containers", short="c", default="*", help="Only these containers, by name or with a `*`."),
        Flag("limits", help="The most that a container may use, as in cpu=200m,memory=512Mi."),
        Flag("requests", help="What a container is given, as in cpu=100m,memory=256Mi."),
    ),
    examples=("set resources deployment web --limits=cpu=200m,memory=512Mi",),
)
SERVICE_ACCOUNT = Command(
    name="serviceaccount",
    short="Update the service account of a resource",
    usage="(-f FILENAME | TYPE NAME) SERVICE_ACCOUNT",
    run=set_service_account,
    aliases=("sa",),
    flags=(*WITHOUT_SELECTOR, *RECORD),
    examples=("set serviceaccount deployment web robot",),
)
