"""Reaching a running engine as the admin of its kubeconfig."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from engine.api.errors import ApiError
from engine.client import Client
from engine.client.connection import KubeConfigError
from engine.client.https import HttpsTransport
from engine.client.kubeconfig import KubeConfig
from engine.kubectl.errors import CommandError
from ktui import interruptible
from ktui.commands import UsageError

T = TypeVar("T")


def connect(kubeconfig: Path, *, user_agent: str = "ktui") -> Client:
    """A client of the kubeconfig's current context. Raises UsageError if the file is unusable."""
    try:
        return Client(HttpsTransport(KubeConfig.load(kubeconfig).connection()), user_agent=user_agent)
    except (KubeConfigError, ConnectionError) as error:
        raise UsageError(str(error)) from error


def ask(kubeconfig: Path, question: Callable[[Client], Awaitable[T]]) -> T:
    """The answer to what a client is used for once. Raises UsageError if the engine does not answer or refuses."""

    async def run() -> T:
        client = connect(kubeconfig)
        try:
            return await question(client)
        finally:
            await client.close()

    try:
        return interruptible.run(run())
    except (ConnectionError, CommandError) as error:
        raise UsageError(str(error)) from error
    except ApiError as error:
        raise UsageError(error.message) from error


def fetch(kubeconfig: Path, path: str, query: dict[str, list[str]] | None = None) -> Any:
    """One GET of a JSON document. Raises UsageError if the engine does not answer or refuses."""
    return ask(kubeconfig, lambda client: client.request("GET", path, query=query))
