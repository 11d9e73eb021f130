"""What simulated servers answer over HTTP (`kubectl port-forward`, the proxy subresources).

Known web servers answer with a page of their kind, every other server with a word that it is simulated. Every answer
says so in a header of its own, and every page in its text.
"""

from __future__ import annotations

from datetime import datetime
from html import escape
from http.client import responses
from typing import NamedTuple

from engine.kubelet.runtime import agnhost, pages, samples
from engine.kubelet.runtime.container import SimulatedContainer
from engine.kubelet.runtime.pages import LABEL, html
from engine.kubelet.runtime.versions import version_of

# Ports whose servers do not speak HTTP.
_OTHER_PROTOCOLS = frozenset((3306, 5432, 5672, 6379, 11211, 27017))
_TYPES = {"txt": "text/plain", "json": "application/json", "css": "text/css", "js": "application/javascript"}
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Not Allowed"}


class HttpRequest(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    version: str = "HTTP/1.1"

    @property
    def keeps_alive(self) -> bool:
        said = self.headers.get("connection", "").lower()
        return said != "close" if self.version == "HTTP/1.1" else said == "keep-alive"


class HttpAnswer(NamedTuple):
    status: int
    server: str
    content_type: str
    body: str


def parse(data: bytes) -> tuple[HttpRequest, bytes] | None:
    """The first request and what follows it; None if it is not whole. Raises ValueError if it is no request."""
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        if len(data) > 65_536:
            raise ValueError("the header is too long")
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/"):
        raise ValueError(first)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = int(headers.get("content-length") or 0)
    if len(rest) < length:
        return None
    return HttpRequest(words[0], words[1], headers, rest[:length], words[2]), rest[length:]


def speaks_http(port: int) -> bool:
    return port not in _OTHER_PROTOCOLS


def answer_once(container: SimulatedContainer, port: int, data: bytes, now: datetime, source: str) -> bytes:
    """The answer to one request that another Pod sends; nothing where none is sent, or the server speaks no HTTP."""
    found = parse(data) if speaks_http(port) else None
    if found is None:
        return b""
    return on_the_wire(found[0], answer(container, found[0], now, source), now)


def answer(container: SimulatedContainer, request: HttpRequest, now: datetime, source: str = "127.0.0.1") -> HttpAnswer:
    """What the server of a container answers; it also writes its access log, where a real one does."""
    if (answered := agnhost.page(container.machine, request.path, source)) is not None:
        return HttpAnswer(answered.status, "", "text/plain; charset=utf-8", answered.text)
    kind = _kind(container)
    status = container.http_status(request.path)
    if request.method not in ("GET", "HEAD", "POST", "OPTIONS"):
        status = 405
    sample = samples.sample_of(container.machine)
    if sample is not None and status == 200:
        content_type, body = sample.content_type, sample.page(container.machine, request, source)
    else:
        content_type, body = _page(container, kind, request, status)
    given = HttpAnswer(status, _server(container, kind), content_type, body)
    if kind in ("nginx", "httpd"):
        agent = request.headers.get("user-agent", "-")
        size = len(body.encode()) if request.method != "HEAD" else 0
        moment = now.strftime("%d/%b/%Y:%H:%M:%S +0000")
        asked = f"{request.method} {request.path} {request.version}"
        line = f'{source} - - [{moment}] "{asked}" {status} {size} "-" "{agent}"'
        container.log.write("stdout", f'{line} "-"\n' if kind == "nginx" else f"{line}\n")
    return given


def on_the_wire(request: HttpRequest, given: HttpAnswer, now: datetime) -> bytes:
    body = given.body.encode()
    head = [
        f"HTTP/1.1 {given.status} {_reason(given.status)}",
        *([f"Server: {given.server}"] if given.server else ()),
        f"Date: {now:%a, %d %b %Y %H:%M:%S} GMT",
        f"Content-Type: {given.content_type}",
        f"Content-Length: {len(body)}",
        f"Connection: {'keep-alive' if request.keeps_alive else 'close'}",
        "X-Simulated-By: ktui",
        "",
        "",
    ]
    return "\r\n".join(head).encode() + (b"" if request.method == "HEAD" else body)


def _reason(status: int) -> str:
    return _REASONS.get(status) or responses.get(status, "")


_SERVERS = {"httpd": "Apache/2.4.63 (Unix)", "caddy": "Caddy", "python": "SimpleHTTP/0.6"}


def _server(container: SimulatedContainer, kind: str) -> str:
    return f"nginx/{version_of('nginx', container.status.image)}" if kind == "nginx" else _SERVERS.get(kind, "")


def _file(container: SimulatedContainer, path: str) -> tuple[str, str] | None:
    """A file of the server's folder: its type and text."""
    text = container.page(path)
    if text is None:
        return None
    suffix = path.partition("?")[0].rpartition(".")[2]
    return _TYPES.get(suffix, "text/html"), text


def _kind(container: SimulatedContainer) -> str:
    programs = container.profile.programs or frozenset()
    for kind in ("nginx", "httpd", "caddy", "http-echo", "python"):
        if kind in programs:
            return kind
    return ""


def _page(container: SimulatedContainer, kind: str, request: HttpRequest, status: int) -> tuple[str, str]:
    if status != 200:
        title = f"{status} {_REASONS[status].title()}"
        server = _server(container, kind)
        return "text/html", html(title, f"<center><h1>{title}</h1></center><hr><center>{server}</center>")
    if kind == "http-echo":
        return "text/plain; charset=utf-8", _echo_text(container)
    if kind == "nginx":
        return _file(container, request.path) or ("text/html", pages.NGINX)
    if kind == "httpd":
        return _file(container, request.path) or ("text/html", pages.HTTPD)
    if kind == "python":
        return "text/html; charset=utf-8", _listing(container, request.path)
    lines = [f"Hostname: {container.machine.hostname}", f"Image: {container.status.image}",
             f"Request: {request.method} {request.path}", LABEL, ""]  # fmt: skip
    return "text/plain; charset=utf-8", "\n".join(lines)


def _echo_text(container: SimulatedContainer) -> str:
    """http-echo answers with its -text."""
    arguments = [*container.status.config.command, *container.status.config.args]
    for number, argument in enumerate(arguments):
        name, given, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name == "text":
            return (value if given else "".join(arguments[number + 1 : number + 2])) + "\n"
    return container.machine.env.get("ECHO_TEXT", "hello-world") + "\n"


def _listing(container: SimulatedContainer, path: str) -> str:
    folder = path.partition("?")[0].rstrip("/") + "/"
    names = sorted({file[len(folder) :].split("/")[0] for file in container.machine.files if file.startswith(folder)})
    items = "".join(f'<li><a href="{escape(name)}">{escape(name)}</a></li>' for name in names)
    title = f"Directory listing for {escape(path)}"
    return html(title, f"<h1>{title}</h1><hr><ul>{items}</ul><hr>")
