"""wget, in busybox's words where the image is built on it, in GNU's elsewhere."""

from __future__ import annotations

from getopt import GetoptError, gnu_getopt
from typing import NamedTuple

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.http import Reply, Url, addresses_of, parse_url, send
from engine.kubelet.runtime.shell.process import Process

_LONG = ["quiet", "no-verbose", "spider", "no-check-certificate", "server-response", "continue", "timeout=", "tries=",
         "output-document=", "header=", "post-data=", "user-agent=", "directory-prefix="]  # fmt: skip
_SHORT = "qScn:O:T:t:P:U:Y:"
PATIENCE = 900.0


class _Options(NamedTuple):
    url: Url
    output: str
    quiet: bool
    spider: bool
    show_head: bool
    timeout: float
    headers: dict[str, str]
    post: str | None


def _wget(call: Call) -> int | Process:
    try:
        options = _parse(call)
    except GetoptError as error:
        return call.fail(error.msg.replace("option -", "unrecognized option: ").split(" not recognized")[0])
    if options is None:
        return call.fail("missing URL")
    addresses = addresses_of(call.machine, options.url.host)
    if not addresses:
        if call.machine.busybox:
            return call.fail(f"bad address '{options.url.host}'")
        return call.fail(f"unable to resolve host address '{options.url.host}'", 4)
    return _connect(call, options, addresses[0])


def _parse(call: Call) -> _Options | None:
    """Raises GetoptError."""
    # GNU's -nv is one option; busybox has none that begins so.
    given, urls = gnu_getopt([word for word in call.argv[1:] if word != "-nv"], _SHORT, _LONG)
    url = parse_url(urls[0]) if urls else None
    if url is None:
        return None
    values = dict(given)
    headers = dict(_header(value) for name, value in given if name == "--header")
    headers.setdefault("User-Agent", values.get("-U") or values.get("--user-agent") or _agent(call))
    output = values.get("-O") or values.get("--output-document") or url.file_name or "index.html"
    folder = values.get("-P") or values.get("--directory-prefix")
    return _Options(
        url,
        f"{folder.rstrip('/')}/{output}" if folder and output != "-" else output,
        "-q" in values or "--quiet" in values,
        "--spider" in values,
        "-S" in values or "--server-response" in values,
        _seconds(values.get("-T") or values.get("--timeout") or ""),
        headers,
        values.get("--post-data"),
    )


def _header(text: str) -> tuple[str, str]:
    name, _, value = text.partition(":")
    return name.strip(), value.strip()


def _agent(call: Call) -> str:
    return "Wget" if call.machine.busybox else "Wget/1.25.0"


def _seconds(text: str) -> float:
    try:
        return float(text) or PATIENCE
    except ValueError:
        return PATIENCE


def _connect(call: Call, options: _Options, address: str) -> int | Process:
    url = options.url
    _told(call, options, f"Connecting to {url.host} ({address}:{url.port})\n",
          f"Connecting to {url.host} ({url.host})|{address}|:{url.port}... ")  # fmt: skip
    method = "HEAD" if options.spider else "GET" if options.post is None else "POST"
    try:
        reply = send(call.machine, url, address, method=method, headers=options.headers, body=options.post or "")
    except TimeoutError:
        return _time_out(call, options)
    except OSError as error:
        words = "Connection refused" if isinstance(error, ConnectionRefusedError) else "No route to host"
        if call.machine.busybox:
            return call.fail(f"can't connect to remote host ({address}): {words}")
        _told(call, options, "", f"failed: {words}.\n")
        return 4
    if reply is None:
        return call.fail("error getting response") if call.machine.busybox else 4
    return _take(call, options, reply)


def _time_out(call: Call, options: _Options) -> Process:
    yield options.timeout
    return call.fail("download timed out") if call.machine.busybox else 4


def _take(call: Call, options: _Options, reply: Reply) -> int:
    status = f"{reply.status} {reply.reason}"
    _told(call, options, "", f"connected.\nHTTP request sent, awaiting response... {status}\n")
    if options.show_head:
        call.io.stderr("".join(f"  {line}\n" for line in reply.head.split("\r\n")))
    if reply.status >= 400:
        if call.machine.busybox:
            return call.fail(f"server returned error: HTTP/1.1 {status}")
        _told(call, options, "", f"{call.machine.now():%Y-%m-%d %H:%M:%S} ERROR {status.replace(' ', ': ', 1)}.\n\n")
        return 8
    if options.spider:
        _told(call, options, "remote file exists\n", "Remote file exists.\n\n")
        return 0
    size = len(reply.body.encode())
    name = options.output
    if name == "-":
        _told(call, options, "writing to stdout\n", _length(reply, size) + "Saving to: 'STDOUT'\n\n")
        call.io.stdout(reply.body)
        _told(call, options, f"{_bar('-', size)}written to stdout\n", _done(call, "written to stdout", size))
        return 0
    try:
        call.machine.files[call.path(name)] = reply.body
    except OSError as error:
        return call.cannot(error, busybox=f"can't open '{name}'", gnu=name)
    saved = f"'{name}' saved"
    _told(call, options, f"saving to '{name}'\n{_bar(name, size)}{saved}\n",
          f"{_length(reply, size)}Saving to: '{name}'\n\n{_done(call, saved, size)}")  # fmt: skip
    return 0


def _told(call: Call, options: _Options, busybox: str, gnu: str) -> None:
    if not options.quiet:
        call.io.stderr(busybox if call.machine.busybox else gnu)


def _bar(name: str, size: int) -> str:
    return f"{name[:20]:<20} 100% |********************************| {size:5}  0:00:00 ETA\n"


def _length(reply: Reply, size: int) -> str:
    return f"Length: {size} [{reply.header('content-type').partition(';')[0]}]\n"


def _done(call: Call, what: str, size: int) -> str:
    return f"{call.machine.now():%Y-%m-%d %H:%M:%S} ({size} B/s) - {what} [{size}/{size}]\n\n"


COMMANDS: dict[str, Command] = {"wget": _wget}
