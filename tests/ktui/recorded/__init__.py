"""What a real cluster told once: the spans of an apply, and answers to what the screens ask."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson

from engine.api.wire import Request, Response

SPANS = Path(__file__).parent / "web_apply.ndjson"
ANSWERS = Path(__file__).parent / "answers.json"
STORE = Path(__file__).parent / "store.json"  # what the Store screen is told
INSIDE = Path(__file__).parent / "inside.json"  # what the screens are told that look inside components
TREE = Path(__file__).parent / "tree.json"  # what the Tree screen is told


def spans() -> list[dict[str, Any]]:
    """From `kubectl apply -f samples/web.yaml` until all three Pods are ready, in the order in which they ended."""
    return [orjson.loads(line) for line in SPANS.read_bytes().splitlines()]


def inside_answers() -> dict[str, Any]:
    """What the screens ask that look inside components, with the answers."""
    answers: dict[str, Any] = orjson.loads(INSIDE.read_bytes())
    return answers


def question(request: Request) -> str:
    """What an answer is kept under."""
    query = "&".join(f"{name}={value}" for name, values in sorted(request.query.items()) for value in values)
    is_table = "as=Table" in request.headers.get("accept", "")
    return f"{request.method} {request.path}{'?' + query if query else ''}{' as a table' if is_table else ''}"


class RecordedTransport:
    """Gives the recorded answers; all else it leaves unanswered, like an engine that hangs."""

    def __init__(self) -> None:
        self._answers: dict[str, Any] = (
            orjson.loads(TREE.read_bytes())
            | orjson.loads(ANSWERS.read_bytes())
            | inside_answers()
            | orjson.loads(STORE.read_bytes())
        )

    async def send(self, request: Request) -> Response:
        answer = self._answers.get(question(request))
        if answer is None:
            await asyncio.Event().wait()
        return Response(200, answer)

    async def close(self) -> None:
        """Nothing to close."""
