"""`--raw`: a request to a path as it is, with a file or standard input as its body.

Source of the behaviour: kubectl pkg/rawhttp/raw.go.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import orjson

from engine.api.golang import url as go_url
from engine.kubectl import yaml
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

_ACCEPT = {"accept": "application/json, */*"}


async def raw(session: Session, method: str, path: str) -> None:
    """Send the request and print what is answered. Raises CommandError, ApiError."""
    try:
        url = go_url.parse(path, request=True)
    except ValueError as error:
        raise CommandError(f"--raw must be a valid URL path: {error}") from error
    files = session.flags.many("filename") if method != "GET" else []
    if len(files) > 1 or (method in ("POST", "PUT") and len(files) != 1):
        raise CommandError("--raw can only use a single local file or stdin")
    body = None
    if files:
        text = session.stdin.read() if files[0] == "-" else _read(files[0])
        try:
            body = yaml.load(text)
        except yaml.YamlError as error:
            raise CommandError(f"error parsing {files[0]}: {error}") from error
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(url.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    response = await session.send(method, url.path, query=query, body=body, headers=_ACCEPT)
    answer = response.wire or response.body
    if isinstance(answer, bytes):
        session.stdout.write(answer.decode(errors="replace"))
    elif answer is not None:  # of a server in this process, which writes objects for nobody
        session.stdout.write(orjson.dumps(answer).decode() + "\n")


def _read(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError as error:
        raise CommandError(f"open {name}: {(error.strerror or str(error)).lower()}") from error
