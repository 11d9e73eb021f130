"""curl (8.14), with the options that people give it inside a Pod."""

from __future__ import annotations

import re
from collections.abc import Generator
from getopt import GetoptError, gnu_getopt
from typing import NamedTuple

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.http import Reply, Url, addresses_of, parse_url, send
from engine.kubelet.runtime.shell.process import Process

_SHORT = "sSvfiIkLOgGo:X:d:H:m:A:u:w:x:b:c:e:F:T:46"
_LONG = {"silent": "s", "show-error": "S", "verbose": "v", "fail": "f", "include": "i", "head": "I", "insecure": "k",
         "location": "L", "remote-name": "O", "globoff": "g", "get": "G", "output=": "o", "request=": "X", "data=": "d",
         "data-raw=": "d", "header=": "H", "max-time=": "m", "user-agent=": "A", "user=": "u", "write-out=": "w",
         "connect-timeout=": "m", "cacert=": "", "cert=": "", "key=": "", "retry=": "", "retry-delay=": "",
         "resolve=": "", "http1.1": "", "no-progress-meter": "s", "fail-with-body": "f"}  # fmt: skip
_AGENT = "curl/8.14.1"
PATIENCE = 134.0  # what Linux' own tries for a connection take
_METER = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)


Options = dict[str, list[str]]  # values by the letter of the option


class _Failure(NamedTuple):
    code: int
    text: str


def _curl(call: Call) -> int | Process:
    try:
        options, urls = _parse(call.argv[1:])
    except GetoptError as error:
        dashes = "--" if len(error.opt) > 1 else "-"
        what = "requires parameter" if "requires" in error.msg else "is unknown"
        call.io.stderr(f"curl: option {dashes}{error.opt}: {what}\ncurl: try 'curl --help' for more information\n")
        return 2
    if not urls:
        call.io.stderr("curl: (2) no URL specified\ncurl: try 'curl --help' for more information\n")
        return 2
    return _run(call, options, urls)


def _parse(argv: list[str]) -> tuple[Options, list[str]]:
    """Options by their letters. Raises GetoptError."""
    given, urls = gnu_getopt(argv, _SHORT, list(_LONG))
    options: Options = {}
    for name, value in given:
        word = name.lstrip("-")
        letter = word if len(word) == 1 else _LONG.get(word, _LONG.get(f"{word}=", ""))
        options.setdefault(letter, []).append(value)
    return options, urls


def _run(call: Call, options: Options, urls: list[str]) -> Process:
    code = 0
    for text in urls:
        failure = yield from _one(call, options, text)
        code = failure.code if failure is not None else 0
        if failure is not None and ("s" not in options or "S" in options):
            call.io.stderr(f"curl: ({failure.code}) {failure.text}\n")
    return code


def _one(call: Call, options: Options, text: str) -> Generator[float, str | None, _Failure | None]:
    """Fetch one URL; what went wrong."""
    url = parse_url(text)
    if url is None:
        return _Failure(3, "URL rejected: Malformed input to a URL function")
    addresses = addresses_of(call.machine, url.host)
    if not addresses:
        return _Failure(6, f"Could not resolve host: {url.host}")
    try:
        reply = _ask(call, options, url, addresses[0])
    except TimeoutError:
        limit = _number(options.get("m", [""])[-1])
        yield limit or PATIENCE
        if limit:
            return _Failure(28, f"Connection timed out after {limit * 1000:.0f} milliseconds")
        return _Failure(28, _no_connection(url, PATIENCE))
    except OSError as error:
        return _Failure(7, _no_connection(url, 0.0 if isinstance(error, ConnectionRefusedError) else 3.0))
    if reply is None:
        return _Failure(52, "Empty reply from server")
    return _take(call, options, url, reply)


def _no_connection(url: Url, seconds: float) -> str:
    return f"Failed to connect to {url.host} port {url.port} after {seconds * 1000:.0f} ms: Could not connect to server"


def _ask(call: Call, options: Options, url: Url, address: str) -> Reply | None:
    body = "&".join(options.get("d", ()))
    if "G" in options and body:
        url, body = url._replace(path=f"{url.path}{'&' if '?' in url.path else '?'}{body}"), ""
    default = "HEAD" if "I" in options else "POST" if "d" in options and "G" not in options else "GET"
    headers = {"User-Agent": options.get("A", [_AGENT])[-1], "Accept": "*/*"}
    for line in options.get("H", ()):
        name, _, value = line.partition(":")
        headers[name.strip()] = value.strip()
    method = options.get("X", [default])[-1]
    reply = send(call.machine, url, address, method=method, headers=headers, body=body)
    if "v" in options and reply is not None:
        asked = "".join(f"> {name}: {value}\n" for name, value in {"Host": url.authority, **headers}.items())
        answered = "".join(f"< {line}\n" for line in reply.head.split("\r\n"))
        call.io.stderr(f"*   Trying {address}:{url.port}...\n* Connected to {url.host} ({address}) port {url.port}\n")
        call.io.stderr(f"> {method} {url.path} HTTP/1.1\n{asked}> \n* Request completely sent off\n{answered}< \n")
    return reply


def _take(call: Call, options: Options, url: Url, reply: Reply) -> _Failure | None:
    if "f" in options and reply.status >= 400:
        _write_out(call, options, reply, 0)
        return _Failure(22, f"The requested URL returned error: {reply.status}")
    text = f"{reply.head}\r\n\r\n" if {"i", "I"} & options.keys() else ""
    text += "" if "I" in options else reply.body
    size = len(reply.body.encode())
    kept = options.get("o", [url.file_name if "O" in options else "-"])[-1]
    if "s" not in options and (kept != "-" or not call.io.tty):
        call.io.stderr(
            f"{_METER}100 {size:5}  100 {size:5}    0     0   {size}      0 --:--:-- --:--:-- --:--:-- {size:5}\n"
        )
    if kept == "-":
        call.io.stdout(text)
    elif kept != "/dev/null":
        call.machine.files[call.path(kept)] = text
    _write_out(call, options, reply, size)
    return None


def _write_out(call: Call, options: Options, reply: Reply, size: int) -> None:
    """-w: the figures that a simulated answer has."""
    known = {
        "http_code": f"{reply.status:03}",
        "response_code": f"{reply.status:03}",
        "size_download": str(size),
        "content_type": reply.header("content-type"),
        "http_version": "1.1",
        "time_total": "0.000000",
    }
    form = "".join(options.get("w", ())[-1:]).replace("\\n", "\n").replace("\\t", "\t")
    call.io.stdout(re.sub(r"%\{(\w+)\}", lambda match: known.get(match[1], ""), form))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


COMMANDS: dict[str, Command] = {"curl": _curl}
