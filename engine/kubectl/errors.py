"""How a command fails, and what kubectl prints about it.

Source of the behaviour: kubectl pkg/cmd/util/helpers.go (checkErr, StandardErrorMessage, MultilineError).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.client.connection import KubeConfigError, LoadError

_NO_CONTEXT = "context was not found for specified context"


class CommandError(Exception):
    """A plain failure: printed after `error: `."""


class BareError(CommandError):
    """A kind that the server does not have, as the mapper itself says it: printed as it stands."""


class UsageError(CommandError):
    """A failure of the arguments: followed by the hint to the command's help."""


class MisusedError(CommandError):
    """A command that was given the wrong words: its help is shown first, as if that were what was asked for."""


class FlagError(CommandError):
    """A failure of the flags: followed by pflag's hint."""


class NamespaceError(CommandError):
    """A namespace that can be no part of a path."""


class OtherNamespaceError(CommandError):
    """An object of a manifest that names another namespace than `-n` does."""


class SentError(CommandError):
    """What was said of a patch that was sent. The end of its last line is shown among others only."""

    def __init__(self, text: str) -> None:
        super().__init__(text.removesuffix("\n"))
        self.end = "\n" if text.endswith("\n") else ""


class UnfitError(CommandError):
    """An object that cannot be changed so: among others it is marked as an error too, and a line follows it."""


class FatalError(CommandError):
    """What ends kubectl at once, with `code`: a line of its log, `place` being where upstream writes it."""

    def __init__(self, text: str, place: str, *, code: int = 1) -> None:
        super().__init__(text)
        self.place = place
        self.code = code


class Aggregate(Exception):
    """Several failures of one command, each printed on a line of its own."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        self.errors = list(errors)
        texts = list(dict.fromkeys(str(error) for error in errors))
        super().__init__(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


class InterruptedWaiting(asyncio.CancelledError):
    """Ended from outside while a container was waited for: kubectl takes that for a failure, and exits with 1."""


class Exit(Exception):
    """Leave with this code; all there is to say has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


def of(errors: Sequence[Exception]) -> Exception:
    """One error as itself, several as an aggregate."""
    return errors[0] if len(errors) == 1 else Aggregate(errors)


def flat(errors: Sequence[Exception]) -> list[Exception]:
    """The errors with those of aggregates in their place (utilerrors.Flatten)."""
    return [one for error in errors for one in (flat(error.errors) if isinstance(error, Aggregate) else (error,))]


def with_source(error: Exception, verb: str, source: str) -> Exception:
    """Say which file an error came from, as in `error when creating "web.yaml": ...`."""
    if not source:
        return error
    if isinstance(error, ApiError):
        message = f'error when {verb} "{source}": {error.message}'
        return ApiError(error.code, error.reason, message, details=error.details, retry_after=error.retry_after)
    if isinstance(error, CommandError):
        return CommandError(f'error when {verb} "{source}": {error}')
    return error


def render(error: Exception, *, command: str) -> str:
    """The text for stderr, without its final newline. `command` is the full command, as in `kubectl get`."""
    if isinstance(error, Aggregate):
        return "\n".join(_among_others(one) for one in error.errors)
    if isinstance(error, ApiError) and error.reason == "Invalid":
        return _invalid(error)
    if text := _standard(error):
        return text
    text = str(error)
    if not text.startswith("error: "):
        text = f"error: {text}"
    if isinstance(error, UsageError):
        text += f"\nSee '{command} -h' for help and examples"
    if isinstance(error, FlagError):
        text += f"\nSee '{command} --help' for usage."
    return text


def _among_others(error: Exception) -> str:
    if isinstance(error, SentError):
        return f"{error}{error.end}"
    return f"error: {error}\n" if isinstance(error, UnfitError) else _standard(error) or str(error)


def _standard(error: Exception) -> str:
    """The sentence for a failure of the server or of the way to it; "" for others."""
    if isinstance(error, ApiError):
        if error.reason == "Unauthorized":
            return f"error: You must be logged in to the server ({error.message})"
        if error.reason:
            return f"Error from server ({error.reason}): {error.message}"
        return f"Error from server: {error.message}"
    if isinstance(error, ConnectionError | BareError):
        return str(error)
    if isinstance(error, KubeConfigError) and _NO_CONTEXT in str(error) and len(error.problems) == 1:
        return f"Error in configuration: {error}"
    if isinstance(error, LoadError) and len(error.problems) > 1:
        return "\n".join(error.problems)
    if isinstance(error, KubeConfigError) and len(error.problems) > 1:
        return "\n".join(["Error in configuration: ", *(f"* {problem}" for problem in error.problems)])
    return ""


def _invalid(error: ApiError) -> str:
    details = error.details or {}
    causes = dict.fromkeys(f"{c.get('field', '')}: {c.get('message', '')}" for c in details.get("causes") or ())
    text = "The request is invalid"
    if details.get("kind") or details.get("name"):
        text = f'The {details.get("kind", "")} "{details.get("name", "")}" is invalid'
    elif error.message and not causes:
        text += f": {error.message}"
    if not causes:
        return text
    if len(causes) == 1:
        return f"{text}: {next(iter(causes))}"
    return "\n".join([f"{text}: ", *(f"* {cause}" for cause in causes)])
