"""`--raw`: a request to a path as it is, with a file or standard input as its body.

Source of the behaviour: kubectl pkg/rawhttp/raw.go.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import orjson

from engine.kubectl import yaml
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session


async def raw(session: Session, method: str, path: str) -> None:
    """Send the request and print what is answered. Raises CommandError, ApiError."""
    files = session.flags.many("filename")
    if len(files) > 1 or (method in ("POST", "PUT") and len(files) != 1):
        raise CommandError("--raw can only use a single local file or stdin")
    body = None
    if files:
        text = session.stdin.read() if files[0] == "-" else _read(files[0])
        body = yaml.load(text)
    parts = urlsplit(path)
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    answer = (await session.send(method, parts.path, query=query, body=body)).body
    if isinstance(answer, bytes):
        session.stdout.write(answer.decode(errors="replace"))
    elif answer is not None:
        session.stdout.write(orjson.dumps(answer).decode() + ("\n" if method != "GET" else ""))


def _read(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError as error:
        raise CommandError(f"open {name}: {(error.strerror or str(error)).lower()}") from error
