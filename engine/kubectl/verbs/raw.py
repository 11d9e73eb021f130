"""`--raw`: a request to a path as it is, with a file or standard input as its body.

Source of the behaviour: kubectl pkg/rawhttp/raw.go.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import orjson

from engine.kubectl import yaml
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session


async def raw(session: Session, method: str, path: str) -> None:
    """Send the request and print what is answered. Raises CommandError, ApiError."""
    _check_path(path)
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
    parts = urlsplit(path)
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    answer = (await session.send(method, parts.path, query=query, body=body)).body
    if isinstance(answer, bytes):
        session.stdout.write(answer.decode(errors="replace"))
    elif answer is not None:
        session.stdout.write(orjson.dumps(answer).decode() + ("\n" if method != "GET" else ""))


def _check_path(path: str) -> None:
    """Refuse what Go's url.ParseRequestURI refuses. Raises CommandError."""
    problem = ""
    if path.startswith(":"):
        problem = "missing protocol scheme"
    elif not path.startswith("/") and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path):
        problem = "invalid URI for request"
    elif match := re.search(r"%(?![0-9A-Fa-f]{2}).{0,2}", path.partition("?")[0]):
        problem = f'invalid URL escape "{match[0]}"'
    elif (match := re.match(r"[^/]+://[^/?]*?(:[^/?:]*)(?:[/?]|$)", path)) and not match[1][1:].isdigit():
        problem = f'invalid port "{match[1]}" after host'
    if problem:
        raise CommandError(f'--raw must be a valid URL path: parse "{path}": {problem}')


def _read(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError as error:
        raise CommandError(f"open {name}: {(error.strerror or str(error)).lower()}") from error
