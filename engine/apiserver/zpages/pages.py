"""The z-pages of this server: /statusz, what runs here since when, and /flagz, how it was started.

Both are text for people, with a separator that is drawn each time so that nobody parses it, or an object of the group
config.k8s.io for who asks for one. On by default since 1.36 (ComponentStatusz, ComponentFlagz).

Source: apiserver pkg/server/statusz and pkg/server/flagz (handlers, textserializer.go), KEP-4827 and KEP-4828.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.api.golang.yaml_writer import dump
from engine.api.types import Object
from engine.api.wire import YAML, Response
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.zpages.negotiation import DEPRECATED, GROUP, TEXT, Form, negotiated

SINCE = (1, 36)
STATUSZ, FLAGZ = "/statusz", "/flagz"
_COMPONENT = "kube-apiserver"
_SEPARATORS = (":", ": ", "=", " ")
_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "
    "for debugging purposes only."
)
_NOT_FOR_DEBUGGING = frozenset(("/apis", "/api", "/openid", "/openapi", "/.well-known"))


class ZPages:
    """`paths` are all that the server serves, `flags` its flags and their values as they are printed."""

    def __init__(self, backend: Backend, paths: Callable[[], Iterable[str]], flags: dict[str, str]) -> None:
        self._backend = backend
        self._paths = paths
        self._flags = dict(sorted(flags.items()))
        self._rng = backend.world.rng.stream("zpages")
        self._clock = backend.world.clock
        self._started = self._clock.now()
        self._flags_text: bytes | None = None  # drawn once

    @property
    def served(self) -> bool:
        return self._backend.definitions.release >= SINCE

    def answer(self, call: Call, path: str) -> Response:
        """Raises ApiError 406."""
        kind, content = ("Statusz", self._status()) if path == STATUSZ else ("Flagz", {"flags": self._flags})
        form = negotiated(call.request.headers.get("accept", ""), kind)
        if form.media_type == TEXT:
            text = self._status_text(content) if path == STATUSZ else self._flag_text()
            return Response(200, text, {"content-type": "text/plain; charset=utf-8"})
        if form.version in DEPRECATED:
            call.warnings.append(
                f"This version of the {kind.lower()} endpoint is deprecated. Please use a newer version."
            )
        return _structured(form, kind, content)

    def _status(self) -> dict[str, Any]:
        version = self._backend.definitions.version
        started = self._started.isoformat(timespec="seconds")[:19] + "Z"
        folders = {f"/{path.split('/')[1]}" for path in self._paths() if path != "/"}
        return {
            "startTime": started,
            "uptimeSeconds": int((self._clock.now() - self._started).total_seconds()),
            "goVersion": "",  # as /version says
            "binaryVersion": version,
            "emulationVersion": ".".join(version.split(".")[:2]),
            "paths": sorted(folders - _NOT_FOR_DEBUGGING),
        }

    def _status_text(self, status: dict[str, Any]) -> bytes:
        up = status["uptimeSeconds"]
        day = f"{self._started.day:2}"
        lines = {
            "Started": self._started.strftime(f"%a %b {day} %H:%M:%S UTC %Y"),
            "Up": f"{up // 3600} hr {up // 60 % 60:02} min {up % 60:02} sec",
            "Go version": status["goVersion"],
            "Binary version": status["binaryVersion"],
            "Emulation version": status["emulationVersion"],
            "Paths": " ".join(status["paths"]),
        }
        separator = self._rng.choice(_SEPARATORS)
        told = "".join(f"{name}{separator} {value}\n" for name, value in lines.items())
        return f"\n{_COMPONENT} statusz\n{_WARNING}\n\n{told}".encode()

    def _flag_text(self) -> bytes:
        if self._flags_text is None:
            separator = self._rng.choice(_SEPARATORS)
            told = "".join(f"{name}{separator}{value}\n" for name, value in self._flags.items())
            self._flags_text = f"\n{_COMPONENT} flagz\n{_WARNING}\n{told}".encode()
        return self._flags_text


def _structured(form: Form, kind: str, content: dict[str, Any]) -> Response:
    body: Object = {
        "kind": kind,
        "apiVersion": f"{GROUP}/{form.version}",
        "metadata": {"name": _COMPONENT},
        **content,
    }
    told = {"content-type": f"{form.media_type};g={GROUP};v={form.version};as={kind}"}
    return Response(200, dump(body).encode() if form.media_type == YAML else body, told)
