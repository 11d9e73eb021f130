"""Manifests that `-f` names by their URL (hop 01).

Source of the behaviour: cli-runtime pkg/resource/visitor.go (URLVisitor, readHttpWithRetries).
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

from engine.clock import Clock
from engine.kubectl.errors import CommandError
from engine.kubectl.manifests import Source

_ATTEMPTS = 3
_PAUSE = 1.0  # seconds before another attempt


async def fetched(source: Source, clock: Clock) -> Source:
    """The text behind a URL; where the server or the way to it fails, it is asked again.

    Raises CommandError for what the server says instead, ConnectionError where it says nothing.
    """
    import aiohttp  # few manifests come from afar

    from engine.http_errors import reason

    failure: Exception = ConnectionError()
    for attempt in range(_ATTEMPTS):
        if attempt:
            await clock.sleep(_PAUSE)
        try:
            async with aiohttp.ClientSession(trust_env=True) as session, session.get(source.name) as answer:
                if answer.status == HTTPStatus.OK:
                    return Source(source.name, partial(str, (await answer.read()).decode("utf-8-sig", "replace")))
                failure = CommandError(
                    f'unable to read URL "{source.name}", server reported {answer.status} {answer.reason}, '
                    f"status code={answer.status}"
                )
                if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                    break
        except (aiohttp.ClientError, OSError) as error:
            failure = _unreachable(source.name, reason(error))
    raise failure


def _unreachable(url: str, why: str) -> ConnectionError:
    if "connection refused" in why:
        host = urlsplit(url).netloc
        return ConnectionError(
            f"The connection to the server {host} was refused - did you specify the right host or port?"
        )
    return ConnectionError(f"Unable to connect to the server: {why}")
