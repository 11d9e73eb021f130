"""`logs`: what a Pod's containers have written.

Source of the behaviour: kubectl pkg/cmd/logs and pkg/polymorphichelpers/logsforobject.go.
"""

from __future__ import annotations

import asyncio

from engine.api.errors import ApiError
from engine.api.golang import time as go_time
from engine.api.types import Object
from engine.kubectl.arguments import split_arguments
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.fetching import listed, live
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import SELECTOR
from engine.kubectl.scheme import check_registered
from engine.kubectl.selection import MISSING
from engine.kubectl.session import Session
from engine.kubectl.workload_pods import by_logging, container_of, pods_of, require_container, selector_of
from engine.tasks import Supervisor

SELECTED_TAIL = 10
USAGE = (
    "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\n"
    "POD or TYPE/NAME is a required argument for the logs command"
)


async def run(session: Session) -> None:
    flags = session.flags
    if not session.arguments and not flags.text("selector"):
        raise UsageError(USAGE)
    if len(session.arguments) == 1 and flags.text("selector"):
        raise UsageError("only a selector (-l) or a POD name is allowed")
    if len(session.arguments) > 2:
        raise UsageError(USAGE)
    if session.arguments and flags.text("selector").strip():
        raise CommandError("selectors and the all flag cannot be used when passing resource/name arguments")
    if flags.seconds("pod-running-timeout") <= 0:
        raise CommandError("--pod-running-timeout must be higher than zero")
    sources = [(pod, container) for pod in await _pods(session) for container in _containers(session, pod)]
    if flags.on("follow") and len(sources) > 1:
        await _follow_all(session, sources)
        return
    for pod, container in sources:
        await _tolerantly(session, pod, container)


async def _follow_all(session: Session, sources: list[tuple[Object, str]]) -> None:
    """All at once, line by line as they come. Raises CommandError for too many."""
    limit = session.flags.number("max-log-requests")
    if len(sources) > limit:
        raise CommandError(
            f"you are attempting to follow {len(sources)} log streams, but maximum allowed concurrency is {limit}, "
            "use --max-log-requests to increase the limit"
        )
    tasks = Supervisor("logs")
    running = [tasks.spawn(_tolerantly(session, pod, name), f"log of {name}") for pod, name in sources]
    try:
        await asyncio.gather(*running)
    finally:
        await tasks.close()


async def _tolerantly(session: Session, pod: Object, container: str) -> None:
    """With --ignore-errors a log that cannot be had is told of and passed over."""
    try:
        await _show(session, pod, container)
    except (ApiError, ConnectionError) as error:
        if not session.flags.on("ignore-errors"):
            raise
        session.out(f"error: {error.message if isinstance(error, ApiError) else error}")


def _check(session: Session) -> None:
    flags = session.flags
    if flags.text("since-time") and flags.seconds("since"):
        raise CommandError("at most one of `sinceTime` or `sinceSeconds` may be specified")
    if flags.number("tail") < -1:
        raise CommandError("--tail must be greater than or equal to -1")
    container = flags.text("container") or "".join(session.arguments[1:2])
    if flags.on("all-containers") and container:
        raise CommandError(f"--all-containers=true should not be specified with container name {container}")
    if flags.number("limit-bytes") < 0:
        raise CommandError("--limit-bytes must be greater than 0")
    if flags.seconds("since") < 0:
        raise CommandError("--since must be greater than 0")
    if len(session.arguments) == 2 and flags.text("container"):
        raise CommandError("only one of -c or an inline [CONTAINER] arg is allowed")
    try:
        if flags.text("since-time"):
            go_time.seconds(flags.text("since-time"))
    except go_time.TimeError as error:
        raise CommandError(str(error)) from error


async def _pods(session: Session) -> list[Object]:
    """The Pods to show: the one that is named, one or all of a workload, or those selected."""
    pods = await session.resolve("pods")
    if selector := session.flags.text("selector").strip():
        found = await listed(session, pods, session.namespace, labels=selector)
        _check(session)
        if not found:
            session.err(f"No resources found in {session.namespace} namespace.")
        return found
    if session.arguments == [""]:
        raise CommandError(MISSING)
    pairs, _, _ = split_arguments(session.arguments[:1], session.program)
    word, name = pairs[0] if pairs else ("pods", session.arguments[0])
    resource = await session.resolve(word)
    try:
        obj = await live(session, resource, name, session.namespace)
    except ApiError as error:
        raise CommandError(
            f'error from server ({error.reason}): {error.message} in namespace "{session.namespace}"'
        ) from error
    check_registered(resource.gvk)
    session.working_on(resource, name, session.namespace)
    _check(session)  # once it is known that what is asked of is there
    if obj["kind"] == "Pod":
        return [obj]
    found = await pods_of(session, selector_of(obj, doing="get the logs from"))
    if session.flags.on("all-pods"):
        return found
    found.sort(key=by_logging)
    if len(found) > 1:
        session.err(f"Found {len(found)} pods, using pod/{found[0]['metadata']['name']}")
    return found[:1]


def _containers(session: Session, pod: Object) -> list[str]:
    spec = pod["spec"]
    if session.flags.on("all-containers"):
        return [
            container["name"]
            for key in ("initContainers", "containers", "ephemeralContainers")
            for container in spec.get(key) or ()
        ]
    if len(session.arguments) == 2 and session.arguments[1]:
        require_container(pod, session.arguments[1])
        return [session.arguments[1]]
    return [container_of(session, pod)]


async def _show(session: Session, pod: Object, container: str) -> None:
    flags, metadata = session.flags, pod["metadata"]
    tail = flags.number("tail")
    if not flags.given("tail") and flags.text("selector"):
        tail = SELECTED_TAIL
    query = {
        "container": container,
        "follow": flags.on("follow"),
        "previous": flags.on("previous"),
        "timestamps": flags.on("timestamps"),
        "sinceSeconds": int(flags.seconds("since")) or None,
        "sinceTime": flags.text("since-time"),
        "tailLines": str(tail) if tail >= 0 else None,
        "limitBytes": flags.number("limit-bytes") or None,
    }
    pods = await session.resolve("pods")
    path = session.path_of(pods, metadata["namespace"], metadata["name"], "log")
    response = await session.send("GET", path, query=query)
    prefix = f"[pod/{metadata['name']}/{container}] " if flags.on("prefix") or flags.on("all-pods") else ""
    if response.stream is None:
        body = response.body
        _write(session, body.decode(errors="replace") if isinstance(body, bytes) else str(body or ""), prefix)
        return
    rest = b""
    async for chunk in response.stream:
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:  # whole lines only, for other logs may come between
            _write(session, b"".join(line + b"\n" for line in lines).decode(errors="replace"), prefix)
            session.stdout.flush()
    if rest:
        _write(session, rest.decode(errors="replace"), prefix)


def _write(session: Session, text: str, prefix: str) -> None:
    if prefix:
        text = "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True))
    session.stdout.write(text)


COMMAND = Command(
    name="logs",
    short="Print the logs for a container in a pod",
    usage="[-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]",
    run=run,
    interrupted=1,
    flags=(
        *SELECTOR,
        Flag("all-containers", Type.BOOL, help="Of all containers."),
        Flag("all-pods", Type.BOOL, help="Of all Pods of the workload."),
        Flag("container", short="c", help="Of this container."),
        Flag("follow", Type.BOOL, short="f", help="Go on as it is written."),
        Flag("ignore-errors", Type.BOOL, help="Go on after an error."),
        Flag("insecure-skip-tls-verify-backend", Type.BOOL, help="Do not check the kubelet's certificate."),
        Flag("limit-bytes", Type.INT, help="At most so many bytes."),
        Flag("max-log-requests", Type.INT, default=5, help="How many logs to follow at once."),
        Flag("pod-running-timeout", Type.DURATION, default=20.0, help="How long to wait for a running Pod."),
        Flag("prefix", Type.BOOL, help="Put the Pod and container before each line."),
        Flag("previous", Type.BOOL, short="p", help="Of the container that ran before."),
        Flag("since", Type.DURATION, help="No older than this."),
        Flag("since-time", help="Not before this time."),
        Flag("tail", Type.INT, default=-1, help="Only the last lines; -1 for all."),
        Flag("timestamps", Type.BOOL, help="Put the time before each line."),
    ),
)
