"""`wait`: until objects have a condition, a field has a value, they are there, or they are gone.

Source of the behaviour: kubectl pkg/cmd/wait (wait.go, condition.go, json.go, create.go, delete.go).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.errors import ApiError, not_found
from engine.api.jsonpath.evaluation import go_value
from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.deletion import FOREVER, wait_gone
from engine.kubectl.errors import Aggregate, CommandError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, ALL_NAMESPACES, FIELD_SELECTOR, PRINT, SELECTOR, filename
from engine.kubectl.printers.jsonpath import JsonPath, relaxed
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import LOCAL, Info, Selection, infos
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import follow

Test = Callable[[Object], bool]
POLL_SECONDS = 0.5
_EXAMPLE = "--for=jsonpath='{.status.readyReplicas}'"


async def run(session: Session) -> None:
    wanted = session.flags.many("for")
    if session.flags.on("local") and not session.from_files:
        raise CommandError(LOCAL)
    if not wanted:
        raise CommandError("unrecognized condition: []")
    if session.arguments:
        await _check_types(session)
    timeout = session.flags.seconds("timeout")
    timeout = FOREVER if timeout < 0 else timeout
    for condition in wanted:
        await _wait_for(session, condition, timeout)


async def _check_types(session: Session) -> None:
    for word in filter(None, session.arguments[0].split(",")):
        await session.resolve(word.split("/")[0])


async def _wait_for(session: Session, condition: str, timeout: float) -> None:
    kind = condition.lower()
    test = None if kind in ("delete", "create") else _test(condition)
    printer = result_printer(session, "condition met")
    errors: list[Exception] = []
    unread: list[Exception] = []  # of manifests, told of last
    visited = 0
    deadline = session.clock.monotonic() + timeout  # of all objects together
    if kind == "create" and not session.from_files:  # what files name is asked for once
        await _wait_created(session, timeout)
    selection = Selection.of_flags(session)
    async for item in infos(session, selection):
        if isinstance(item, Exception):
            if kind == "delete" and isinstance(item, ApiError) and item.reason == "NotFound":
                visited += 1
            else:
                (unread if selection.of_manifests else errors).append(item)
            continue
        visited += 1
        left = max(0.0, deadline - session.clock.monotonic())
        try:
            if not item.name:
                raise CommandError("resource name must be provided")
            if timeout and not left and kind != "create":
                raise _too_late(item, kind)
            if kind == "delete" and not timeout:
                await _check_gone(session, item)
            elif kind == "delete":
                uid = item.object["metadata"].get("uid", "")
                await wait_gone(session, item, uid, timeout=left)
            elif test is not None:
                await _wait_until(session, item, test, left)
        except (ApiError, CommandError) as error:
            errors.append(error)
            continue
        printer(item.object, item.resource)
    if unread:
        errors.append(Aggregate(unread) if errors else of(unread))
    if errors:
        raise of(errors)
    if not visited and kind != "delete":
        raise CommandError("no matching resources found")


def _too_late(info: Info, kind: str) -> CommandError:
    """Of an object whose turn comes when the time of all is over: it is not looked at any more."""
    if kind == "delete":
        return CommandError("context deadline exceeded")
    return CommandError(f"timed out waiting for the condition on {info.resource.plural}/{info.name}")


async def _wait_created(session: Session, timeout: float) -> None:
    """Poll until all that is named is there. The time is up only after a look, however long that takes."""
    began = session.now
    while True:
        found = [item async for item in infos(session, Selection.of_flags(session))]
        missing = [item for item in found if isinstance(item, Exception)]
        for error in missing:
            if not isinstance(error, ApiError) or error.reason != "NotFound":
                raise error
        if found and not missing:
            return
        left = timeout - (session.now - began).total_seconds()
        await session.clock.sleep(max(min(left, POLL_SECONDS), 0))
        if left <= POLL_SECONDS:
            raise CommandError("timed out waiting for the condition")


async def _check_gone(session: Session, info: Info) -> None:
    try:
        await session.get(info.resource, info.name, info.namespace)
    except ApiError as error:
        if error.reason == "NotFound":
            return
        raise
    raise CommandError(f"condition not met for {info.resource.plural}/{info.name}")


async def _wait_until(session: Session, info: Info, test: Test, timeout: float) -> None:
    name = f"{info.resource.plural}/{info.name}"
    if not timeout:
        if test(info.object):
            return
        raise CommandError(f"condition not met for {name}")
    if test(info.object):
        return
    try:
        async with session.clock.timeout(timeout):
            async for kind, obj in follow(session, info.resource, info.namespace, info.name):
                if kind == "DELETED" and not obj:  # gone before the wait began; what goes later may come again
                    raise not_found(info.resource.gvr, info.name)
                if kind != "DELETED" and test(obj):
                    info.refresh(obj)
                    return
    except TimeoutError as error:
        raise CommandError(f"timed out waiting for the condition on {name}") from error


# -- conditions


def _test(condition: str) -> Test:
    if condition.startswith("condition="):
        return _condition(condition.removeprefix("condition="))
    if condition.startswith("jsonpath="):
        return _json_path(condition.removeprefix("jsonpath="))
    raise CommandError(f'unrecognized condition: "{condition}"')


def _condition(text: str) -> Test:
    name, _, value = text.partition("=")
    value = value or "true"

    def test(obj: Object) -> bool:
        status = obj.get("status") or {}
        generation = int(obj["metadata"].get("generation") or 0)
        observed = status.get("observedGeneration")
        for condition in status.get("conditions") or ():
            if str(condition.get("type", "")).lower() != name.lower():
                continue
            seen = condition.get("observedGeneration", observed)
            if seen is not None and int(seen) < generation:
                return False
            return str(condition.get("status", "")).lower() == value.lower()
        return False

    return test


def _json_path(text: str) -> Test:
    parts = [part.replace("\0", "==") for part in text.replace("==", "\0").split("=")]  # two belong to a filter
    if len(parts) > 2:
        raise CommandError(f"jsonpath wait format must be {_EXAMPLE}=3 or {_EXAMPLE}")
    template = relaxed(parts[0])
    value = parts[1].strip("'\"") if len(parts) == 2 else None
    if value == "":
        raise CommandError(f"jsonpath wait has to have a value after equal sign, like {_EXAMPLE}=3")
    if not template:
        raise CommandError("jsonpath expression cannot be empty")
    path = JsonPath(template)

    def test(obj: Object) -> bool:
        found = path.find(obj)
        if not found[0]:
            return False
        if len(found) > 1:
            raise CommandError("given jsonpath expression matches more than one list")
        if len(found[0]) > 1:
            raise CommandError("given jsonpath expression matches more than one value")
        if value is None:
            return True
        if isinstance(found[0][0], dict | list):
            raise CommandError("jsonpath leads to a nested object or list which is not supported")
        return go_value(found[0][0]).strip() == value.strip()

    return test


COMMAND = Command(
    name="wait",
    short="Wait for a specific condition on one or many resources",
    usage=(
        "([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) "
        "[--for=create|--for=delete|--for condition=available|--for=jsonpath='{}'[=value]]"
    ),
    run=run,
    interrupted=1,
    flags=(
        *filename(recursive=True, kustomize=False),
        *PRINT,
        *SELECTOR,
        *FIELD_SELECTOR,
        *ALL,
        *ALL_NAMESPACES,
        Flag("for", Type.ARRAY, help="What to wait for."),
        Flag("local", Type.BOOL, help="Look at the manifest only."),
        Flag("timeout", Type.DURATION, default=30.0, help="How long to wait; 0 looks once, below 0 waits a week."),
    ),
    examples=("wait --for=condition=Available deployment/web", "wait --for=delete pod/web-x2k9p --timeout=60s"),
)
