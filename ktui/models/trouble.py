"""Why a screen cannot show what is, in the words of its head; and what a person can do about it."""

from __future__ import annotations

from engine.api.errors import ApiError

ASKING = "◐ asking the engine …"  # and nobody knows yet what there is
LOST = "no connection: this is not current"
TRIED_AGAIN = "It is tried again all the time. Where the engine has ended, :up starts it again; q leaves."
ELSEWHERE = "It is tried again all the time. Where the engine has ended, whoever runs it starts it again; q leaves."
ADVICE = (
    ("forbidden", "n chooses a namespace, : another resource. Other credentials: KUBECONFIG=FILE ktui --attach URL"),
    ("Unauthorized", "The server does not know these credentials. Others: KUBECONFIG=FILE ktui --attach URL"),
)


def words(error: ApiError | ConnectionError) -> str:
    """What went wrong, in a line."""
    return error.message if isinstance(error, ApiError) else LOST


def advice(problem: str, *, starts_engine: bool) -> str:
    """What to do about it; "" where nobody can tell. An engine that is another's cannot be started from here."""
    if LOST in problem:
        return TRIED_AGAIN if starts_engine else ELSEWHERE
    return next((text for sign, text in ADVICE if sign in problem), "")
