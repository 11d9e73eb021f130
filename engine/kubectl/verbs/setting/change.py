"""What all of `set` share: find the objects, change a copy, send the difference, say so.

Source of the behaviour: kubectl pkg/cmd/set (CalculatePatches and the Run of each command).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.api.errors import ApiError
from engine.api.patch import two_way_strategic_patch
from engine.api.types import Object, copy_object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.change_cause import recorded
from engine.kubectl.errors import CommandError, SentError, UnfitError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.printers.zeros import with_zeros
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import LOCAL, Info, Selection, collect, each, visit
from engine.kubectl.session import Session

_COMMON = (
    *PRINT,
    *ALL,
    *DRY_RUN,
    *field_manager("kubectl-set"),
    Flag("local", Type.BOOL, help="Change the manifest here and send nothing."),
)
FLAGS = (*filename(), *SELECTOR, *_COMMON)
WITHOUT_SELECTOR = (*filename(), *_COMMON)
WITHOUT_KUSTOMIZE = (*filename(recursive=True, kustomize=False), *_COMMON)
Change = Callable[[Info, Object], None]


def selection_of(session: Session, arguments: Sequence[str]) -> Selection:
    if session.flags.on("all") and session.flags.text("selector"):
        raise CommandError("cannot set --all and --selector at the same time")
    selection = Selection.of_flags(session, arguments=arguments)
    selection.local = session.flags.on("local")
    selection.typed = True
    return selection


async def change(
    session: Session,
    arguments: Sequence[str],
    alter: Change,
    *,
    done: str,
    failing: str = "",
    even_unchanged: bool = False,
    files_only: bool = True,
    one_by_one: bool = False,
    check: Callable[[Sequence[Info]], None] = lambda found: None,
    sent: Callable[[], None] = lambda: None,
    problems: Sequence[Exception] = (),
) -> None:
    """Let `alter` change a copy of each object, and send what differs. What stays the same is not spoken of.

    `failing` is said before what the server says. With --local only files count: `files_only` says so. Nothing is
    changed where something is missing, unless they are looked at `one_by_one`. `check` is asked once all are found,
    `sent` after each object that was sent. `problems` are what `alter` has found wrong without giving up its object:
    they are told before what could not be sent.
    """
    dry_run, local = session.dry_run(), session.flags.on("local")
    printer = result_printer(session, done, dry_run=dry_run, typed=True)
    if local and arguments and files_only:
        raise CommandError(LOCAL)

    async def update(info: Info) -> None:
        after = copy_object(info.object)
        alter(info, after)
        after = recorded(session, after)
        if after == info.object and not even_unchanged:
            return
        if local:
            info.object = with_zeros(after)
        elif dry_run == "client":
            info.object = after
        else:
            await _send(session, info, after, dry_run=dry_run, failing=failing)
            sent()
        printer(info.object, info.resource)

    selection = selection_of(session, () if local else arguments)
    if one_by_one:
        await visit(session, selection, update)
        return
    found, errors = await collect(session, selection)
    if errors:
        raise of(errors)
    refuse_local_on_server(session)
    check(found)
    await each(found, update, problems)


def refuse_local_on_server(session: Session) -> None:
    if session.flags.on("local") and session.dry_run() == "server":
        raise CommandError("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")


async def _send(session: Session, info: Info, after: Object, *, dry_run: str, failing: str) -> None:
    patch = two_way_strategic_patch(info.object, after, schema_of(info.resource.gvk))
    try:
        answer = await session.patch(
            info.resource,
            info.name,
            info.namespace,
            patch,
            STRATEGIC_PATCH,
            fieldManager=session.flags.text("field-manager"),
            dryRun="All" if dry_run == "server" else None,
        )
    except ApiError as error:
        if failing:
            raise SentError(f"{failing} {error.message}") from error
        raise
    info.refresh(answer)


def pod_spec_of(obj: Object) -> Object | None:
    """The Pod spec within an object that has one; None for other kinds."""
    spec = obj.get("spec") or {}
    if obj.get("kind") == "Pod":
        found = spec
    elif obj.get("kind") == "CronJob":
        found = (((spec.get("jobTemplate") or {}).get("spec") or {}).get("template") or {}).get("spec")
    else:
        found = (spec.get("template") or {}).get("spec")
    return found if isinstance(found, dict) and "containers" in found else None


def unfit(info: Info, why: str) -> UnfitError:
    return UnfitError(f"{info.where} {why}")


def require_pod_spec(info: Info, obj: Object) -> Object:
    spec = pod_spec_of(obj)
    if spec is None:
        kind = f"*{info.resource.gvr.version}.{info.resource.kind}"
        raise unfit(info, f"the object is not a pod or does not have a pod template: {kind}")
    return spec


def chosen(containers: Sequence[Object], pattern: str) -> list[Object]:
    """The containers whose names match a pattern with `*`."""
    start, star, end = pattern.partition("*")
    if not star:
        return [c for c in containers if c["name"] == pattern]
    return [c for c in containers if c["name"].startswith(start) and c["name"].endswith(end)]
