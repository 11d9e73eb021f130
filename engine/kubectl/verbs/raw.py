"""`--raw`: a request to a path as it is, with a file or standard input as its body.

Source of the behaviour: kubectl pkg/rawhttp/raw.go.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import orjson

from engine.api.golang import url as go_url
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

_ACCEPT = {"accept": "application/json, */*"}


async def raw(session: Session, method: str, path: str) -> None:
    """Send the request and print what is answered. Raises CommandError, ApiError."""
    files = session.flags.many("filename") if method != "GET" else []
    if method != "GET":
        _check(session, files, needs_file=method in ("POST", "PUT"))
    try:
        url = go_url.parse(path, request=True)
    except ValueError as error:
        raise CommandError(f"--raw must be a valid URL path: {error}") from error
    body = None
    if files:  # goes as it is, YAML too, of which the server says what it thinks
        body = (session.stdin.read() if files[0] == "-" else _read(files[0])).encode()
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(url.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    response = await session.send(method, url.path, query=query, body=body, headers=_ACCEPT)
    answer = response.wire or response.body
    if isinstance(answer, bytes):
        session.stdout.write(answer.decode(errors="replace"))
    elif answer is not None:  # of a server in this process, which writes objects for nobody
        session.stdout.write(orjson.dumps(answer).decode() + "\n")


def _check(session: Session, files: list[str], *, needs_file: bool) -> None:
    """What goes with --raw. Raises CommandError."""
    flags = session.flags
    if flags.on("edit"):
        raise CommandError("--raw and --edit are mutually exclusive")
    if len(files) > 1 or (needs_file and not files):
        raise CommandError("--raw can only use a single local file or stdin")
    if files and files[0].startswith(("http://", "https://")):
        raise CommandError("--raw cannot read from a url")
    if flags.on("recursive"):
        raise CommandError("--raw and --recursive are mutually exclusive")
    if needs_file and flags.text("selector"):
        raise CommandError("--raw and --selector (-l) are mutually exclusive")
    if flags.text("output"):
        raise CommandError("--raw and --output are mutually exclusive")


def _read(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError as error:
        raise CommandError(f"open {name}: {(error.strerror or str(error)).lower()}") from error
