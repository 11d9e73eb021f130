"""`delete`: by file, by name, by selector; waits until the objects are gone.

Source of the behaviour: kubectl pkg/cmd/delete/delete.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.kubectl.command import Command
from engine.kubectl.deletion import FOREVER, delete, propagation, report, uid_of, wait_gone
from engine.kubectl.errors import Aggregate, CommandError, of, with_source
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import (
    ALL,
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    SELECTOR,
    deletion,
    filename,
)
from engine.kubectl.selection import Info, Item, Selection, infos
from engine.kubectl.session import Session
from engine.kubectl.undiscovered import UndiscoveredError
from engine.kubectl.verbs.raw import raw

IMMEDIATE = (
    "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. "
    "The resource may continue to run on the cluster indefinitely."
)


async def run(session: Session) -> None:
    flags = session.flags
    policy = propagation(session)
    if flags.text("raw"):
        await raw(session, "DELETE", flags.text("raw"))
        return
    await _check_grace(session)
    if session.arguments:
        await session.discovery.resources(session.client)
    selection = Selection.of_flags(session, verb="delete")
    selection.fetch = False
    grace, force = _grace(session), flags.on("force")
    dry_run = session.dry_run()
    errors: list[Exception] = []
    unread: list[Exception] = []  # what is wrong with manifests, which counts as one and is told last
    deleted: list[tuple[Info, str]] = []
    missing = False  # whether one of them need not be there, and was not
    found = [item async for item in infos(session, selection)]
    _check(session)
    if grace == 0 and force:
        session.err(IMMEDIATE)
    if flags.on("interactive") and not _confirmed(session, found):
        session.out("deletion is cancelled")
        return
    if session.namespace_given and not session.all_namespaces and any(_of_cluster(item) for item in found):
        session.err("Warning: deleting cluster-scoped resources, not scoped to the provided namespace")
    for item in found:
        if isinstance(item, Exception):
            (unread if selection.of_manifests else errors).append(item)
            continue
        session.working_on(item.resource, item.name, item.namespace)
        try:
            uid = "" if dry_run == "client" else await _delete(session, item, grace, policy, dry_run)
        except (ApiError, CommandError) as error:
            if isinstance(error, ApiError) and error.reason == "NotFound" and flags.on("ignore-not-found"):
                missing = True
                continue
            errors.append(with_source(error, "deleting", item.source))
            continue
        deleted.append((item, uid))
        report(session, item, forced=grace == 0, dry_run=dry_run)
    if unread:
        errors.append(Aggregate(unread) if errors else of(unread))
    if errors:
        raise Aggregate(errors) if missing else of(errors)
    if not deleted:
        if not found:
            session.out("No resources found")
        return
    if flags.on("wait") and dry_run == "none":
        timeout = flags.seconds("timeout") or FOREVER
        await _wait(session, [one for one in deleted if "watch" in one[0].resource.verbs], timeout)


async def _wait(session: Session, deleted: Sequence[tuple[Info, str]], timeout: float) -> None:
    try:
        for info, uid in deleted:
            await wait_gone(session, info, uid, timeout=timeout)
    except ApiError as error:
        if error.reason not in ("Forbidden", "MethodNotAllowed"):  # who may delete need not be let look
            raise


def _of_cluster(item: Item) -> bool:
    return isinstance(item, Info) and not item.resource.namespaced


def _confirmed(session: Session, found: Sequence[Item]) -> bool:
    """Ask whether these are to be deleted."""
    infos_found = [item for item in found if isinstance(item, Info)]
    session.out(f"You are about to delete the following {len(infos_found)} resource(s):")
    for info in infos_found:
        session.out(info.named)
    session.stdout.write("Do you want to continue? (y/N): ")
    session.stdout.flush()
    return session.stdin.readline().strip().lower() == "y"


async def _check_grace(session: Session) -> None:
    flags = session.flags
    if flags.on("now") and flags.number("grace-period") >= 0:
        raise CommandError("--now and --grace-period cannot be specified together")
    if flags.on("all") and (flags.text("selector") or flags.text("field-selector")):
        await _ask_of_categories(session)
        raise CommandError("setting 'all' parameter but found a non empty selector. ")


async def _ask_of_categories(session: Session) -> None:
    """Whether the words stand for several kinds, which kubectl asks before it looks at the flags."""
    try:
        await session.discovery.resources(session.client)
    except UndiscoveredError as error:
        session.tell_undiscovered(error, len(",".join(session.arguments[:1]).split(",")))


def _check(session: Session) -> None:
    flags = session.flags
    if (flags.on("now") or flags.number("grace-period") > 0) and flags.on("force"):
        raise CommandError("--force and --grace-period greater than 0 cannot be specified together")
    if flags.text("output") not in ("", "name"):
        raise CommandError(f"unexpected -o output mode: {flags.text('output')}. We only support '-o name'")


def _grace(session: Session) -> int:
    flags = session.flags
    if flags.on("now"):
        return 1
    grace = flags.number("grace-period")
    if flags.on("force"):
        return 0 if grace < 0 else grace
    return 1 if grace == 0 else grace  # only --force deletes without any grace


async def _delete(session: Session, info: Info, grace: int, policy: str, dry_run: str) -> str:
    answer = await delete(session, info, grace=grace, policy=policy, dry_run=dry_run == "server")
    return uid_of(answer)


COMMAND = Command(
    name="delete",
    short="Delete resources by file names, stdin, resources and names, or by resources and label selector",
    usage="([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])",
    run=run,
    interrupted=1,
    flags=(
        *filename(),
        *SELECTOR,
        *FIELD_SELECTOR,
        *ALL,
        *ALL_NAMESPACES,
        *DRY_RUN,
        *deletion(wait=True),
        Flag("ignore-not-found", Type.BOOL, help="Count objects that are not there as deleted."),
        Flag("interactive", Type.BOOL, short="i", help="Ask before anything is deleted."),
        Flag("raw", help="Send a DELETE to this path as it is."),
        Flag("now", Type.BOOL, help="Give the resources one second to end."),
        Flag("output", short="o", help='Output format: "name".'),
    ),
    examples=("delete -f web.yaml", "delete pod/web-x2k9p --now", "delete pods -l app=web"),
)
