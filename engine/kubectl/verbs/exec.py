"""`exec` and `attach`: run a command in a container, or talk to the one that runs there.

Source of the behaviour: kubectl pkg/cmd/exec/exec.go and pkg/cmd/attach/attach.go.
"""

from __future__ import annotations

from dataclasses import replace

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.arguments import split_arguments
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import FILENAME
from engine.kubectl.selection import Selection, collect
from engine.kubectl.session import Session
from engine.kubectl.streaming import talk
from engine.kubectl.workload_pods import container_of, pod_of

RECORDED = (
    "All commands and output from this session will be recorded in container logs, including credentials and sensitive "
    "information passed through the command prompt.\nIf you don't see a command prompt, try pressing enter."
)


async def run(session: Session) -> None:
    dash = session.dash
    names = session.arguments[:dash] if dash >= 0 else session.arguments[:1]
    command = session.arguments[dash:] if dash >= 0 else session.arguments[1:]
    if len(session.arguments[: dash if dash >= 0 else None]) > 1:
        raise UsageError("exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead")
    if not any(names) and not session.from_files:
        raise CommandError("pod, type/name or --filename must be specified")
    if not command:
        raise CommandError("you must specify at least one command for the container")
    if session.from_files and names:
        await collect(session, Selection.of_flags(session, arguments=[f"pods/{names[0]}"]))
    if session.from_files:
        found, errors = await collect(session, replace(Selection.of_flags(session, arguments=()), typed=True))
        if errors:
            raise errors[0]
        if len(found) > 1:
            raise CommandError("cannot exec into multiple objects at a time")
        names = [f"{info.resource.plural}/{info.name}" for info in found]
    _check_timeout(session)
    pod = await _running(session, names[0], "exec into")
    container = container_of(session, pod)
    query = {"command": command, "container": [container]}
    await _stream(session, pod, "exec", query, terminal=_terminal(session))


async def attach(session: Session) -> None:
    if not session.arguments:
        raise CommandError("at least 1 argument is required for attach")
    if len(session.arguments) > 2:
        raise CommandError(
            f"expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw {len(session.arguments)}: "
            f"[{' '.join(session.arguments)}]"
        )
    _check_timeout(session)
    name = "/".join(session.arguments)
    pod = await _running(session, name, "attach to")
    try:
        container = container_of(session, pod)
    except CommandError as error:
        raise CommandError(f"cannot attach to the container: {error}") from error
    await attach_to(session, pod, container)


def _check_timeout(session: Session) -> None:
    if session.flags.seconds("pod-running-timeout") <= 0:
        raise UsageError("--pod-running-timeout must be higher than zero")


async def attach_to(session: Session, pod: Object, container: str) -> None:
    """Talk to what runs in a container. Raises Exit, CommandError."""
    terminal = _terminal(session)
    if not session.flags.on("quiet"):
        session.err(RECORDED)
    await _stream(session, pod, "attach", {"container": [container]}, terminal=terminal)


async def _running(session: Session, word: str, doing: str) -> Object:
    pairs, _, _ = split_arguments([word], session.program)
    kind, name = pairs[0] if pairs else ("pods", word)
    pod = await pod_of(session, kind, name)
    phase = (pod.get("status") or {}).get("phase", "")
    if phase in ("Succeeded", "Failed"):
        raise CommandError(f"cannot {doing} a container in a completed pod; current phase is {phase}")
    return pod


def _terminal(session: Session) -> bool:
    """Whether the container gets a terminal; says why where it was asked for and cannot be."""
    stdin, terminal = session.flags.on("stdin"), session.flags.on("tty")
    if terminal and stdin and not session.stdin.isatty():
        session.err("Unable to use a TTY - input is not a terminal or the right kind of file")
    return terminal and stdin and session.stdin.isatty()


async def _stream(
    session: Session, pod: Object, subresource: str, query: dict[str, list[str]], *, terminal: bool
) -> None:
    stdin = session.flags.on("stdin")
    query = {**query, "stdout": ["true"]}
    if stdin:
        query["stdin"] = ["true"]
    query["tty" if terminal else "stderr"] = ["true"]
    metadata = pod["metadata"]
    path = session.path_of(await session.resolve("pods"), metadata["namespace"], metadata["name"], subresource)
    try:
        await talk(session, path, query, stdin=stdin, terminal=terminal)
    except ApiError as error:
        if error.code in (400, 500):
            raise CommandError(f"{error.message}") from error
        raise


_COMMON = (
    Flag("container", short="c", help="The container; by default the first, or the annotated one."),
    Flag("pod-running-timeout", Type.DURATION, default=60.0, help="How long to wait for a running Pod."),
    Flag("quiet", Type.BOOL, short="q", help="Print the remote output only."),
    Flag("stdin", Type.BOOL, short="i", help="Pass what is typed to the container."),
    Flag("tty", Type.BOOL, short="t", help="The container's input is a terminal."),
)
DETACH_KEYS = Flag(
    "detach-keys", default="ctrl-p,ctrl-q", help="The keys that end a session and leave the container running."
)
EXEC = Command(
    name="exec",
    short="Execute a command in a container",
    usage="(POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...]",
    run=run,
    flags=(FILENAME, *_COMMON),
    examples=("exec web-5d8c -- date", "exec -it deploy/web -- sh"),
)
ATTACH = Command(
    name="attach",
    short="Attach to a running container",
    usage="(POD | TYPE/NAME) -c CONTAINER",
    run=attach,
    flags=(*_COMMON, DETACH_KEYS),
    examples=("attach web-5d8c -i",),
)
