"""`rollout status`: follow a rollout until it is done.

Source of the behaviour: kubectl pkg/cmd/rollout/rollout_status.go.
"""

from __future__ import annotations

from engine.kubectl.errors import CommandError
from engine.kubectl.rollouts import progress
from engine.kubectl.selection import Info, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.rollout.common import nothing_found, selected
from engine.kubectl.verbs.watching import follow


async def run(session: Session) -> None:
    selection = selected(session)
    if session.flags.number("revision") < 0:
        raise CommandError(f"revision must be a positive integer: {session.flags.number('revision')}")

    async def follow(info: Info) -> None:
        try:
            async with session.clock.timeout(session.flags.seconds("timeout") or None):
                await _follow(session, info)
        except TimeoutError as error:
            raise CommandError("timed out waiting for the condition") from error

    nothing_found(session, await visit(session, selection, follow))


async def _follow(session: Session, info: Info) -> None:
    revision = session.flags.number("revision")
    if not session.flags.on("watch"):
        session.out(progress(info.object, revision=revision)[0])
        return
    async for kind, obj in follow(session, info.resource, info.namespace, info.name):
        if kind == "DELETED":
            raise CommandError("object has been deleted")
        text, done = progress(obj, revision=revision)
        session.out(text)
        session.stdout.flush()
        if done:
            return
