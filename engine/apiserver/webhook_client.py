"""Calling a webhook over HTTPS: what a clientConfig names, and what goes wrong in Go's words.

Source: apiserver pkg/util/webhook client.go. A Service leads to a webhook only where something really listens: an
ExternalName, or endpoints that were written by hand. Behind a Service with a selector stand simulated Pods, in which no
server runs; that is said at once instead of after a timeout.
"""

from __future__ import annotations

import asyncio
import math
import re
import ssl
from base64 import b64decode
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import orjson

from engine.api.golang.forms import Struct, UnmarshalError
from engine.api.types import GVK, Object
from engine.apiserver.lookup import Lookup
from engine.apiserver.metrics.waits import waiting
from engine.apiserver.service_resolver import ResolveError, ServiceResolver, SimulatedError
from engine.apiserver.webhook_answers import answered, failure
from engine.apiserver.webhook_credentials import Credentials
from engine.http_errors import post_error

_JSON = "application/json"
_HTTPS = 443
_RETRIES = 10  # of answers that say when to ask again (client-go rest/with_retry.go)
_SECONDS = re.compile("[-+]?[0-9]+")
# What every webhook is asked with (setGlobalDefaults in authentication.go, and what Go's transport adds). Some look at
# the name to tell the API server from others.
_HEADERS = {
    "accept": "application/json, */*",
    "accept-encoding": "gzip",
    "content-type": _JSON,
    "user-agent": "kube-apiserver-admission",
}


class WebhookError(Exception):
    """The webhook could not be asked; the message is that of client-go, the code that of an answer that failed."""

    def __init__(self, message: str, code: int = 503, *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.timed_out = timed_out


class _Address(NamedTuple):
    """The URL as errors show it, the one to call, the name on the certificate where it is another, and the server as
    credentials are for it."""

    shown: str
    url: str
    server_name: str | None
    server: str


class _Answer(NamedTuple):
    """`wait` is how many seconds are to pass before the webhook is asked again; None if it is not."""

    data: bytes
    code: int
    content_type: str
    wait: int | None


class WebhookClient:
    def __init__(self, lookup: Lookup, credentials: Credentials | None = None) -> None:
        self._services = ServiceResolver(lookup)
        self._credentials = credentials or Credentials()

    async def post(self, config: Object, body: Object, *, timeout: float, form: Struct) -> Object:
        """The object that the webhook answers with, of the kind that it is sent and a form. Raises WebhookError, and
        CredentialsError where it cannot be asked as who is for it."""
        address = await self._address(config, math.ceil(timeout))
        deadline = asyncio.get_running_loop().time() + timeout
        answer = await self._ask(config, address, body, deadline)
        for _ in range(_RETRIES):
            if answer.wait is None:
                break
            await _pause(answer.wait, deadline)
            answer = await self._ask(config, address, body, deadline)
        if not 200 <= answer.code <= 206:
            failed = failure(answer.data, code=answer.code, content_type=answer.content_type or "text/")
            raise WebhookError(failed.message, failed.code)
        group, _, version = body["apiVersion"].rpartition("/")
        try:
            return answered(
                answer.data,
                code=answer.code,
                content_type=answer.content_type or _JSON,
                wanted=GVK(group, version, body["kind"]),
                form=form,
            )
        except UnmarshalError as error:
            raise WebhookError(str(error)) from None

    async def _ask(self, config: Object, address: _Address, body: Object, deadline: float) -> _Answer:
        try:
            async with asyncio.timeout_at(deadline):
                with waiting():
                    return await self._send(config, address, body)
        except TimeoutError:
            raise WebhookError(f'Post "{address.shown}": context deadline exceeded') from None
        except (aiohttp.ClientError, OSError) as error:
            raise WebhookError(post_error(address.shown, error)) from None

    async def _send(self, config: Object, address: _Address, body: Object) -> _Answer:
        shown, url, server_name, server = address
        bundle = config.get("caBundle")
        context = ssl.create_default_context(cadata=b64decode(bundle).decode() if bundle else None)
        headers = list(_HEADERS.items())
        if server_name:
            headers.append(("host", urlsplit(shown).netloc))  # a Service is asked by name
        if user := self._credentials.user(server):
            headers += user.headers()
            user.certify(context)
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                url, data=orjson.dumps(body), headers=headers, ssl=context, server_hostname=server_name
            ) as answer,
        ):
            data, content_type = await answer.read(), answer.headers.get("content-type", "")
        return _Answer(data, answer.status, content_type, _wait(answer.status, answer.headers.get("retry-after", "")))

    async def _address(self, config: Object, timeout: int) -> _Address:
        query = f"timeout={timeout}s"
        if "url" in config:
            parts = urlsplit(str(config["url"]))
            url = f"{parts.scheme}://{parts.netloc}{_cleaned(parts.path)}?{query}"
            server = parts.netloc if parts.port else f"{parts.netloc}:{_HTTPS}"
            return _Address(url, url, None, server)
        service = config["service"]
        namespace, name, port = service["namespace"], service["name"], service.get("port", 443)
        path = f"{_cleaned(service.get('path', ''))}?{query}"
        server_name = f"{name}.{namespace}.svc"
        shown = f"https://{server_name}:{port}{path}"
        host, real_port = await self._endpoint(shown, namespace, name, port)
        return _Address(shown, f"https://{host}:{real_port}{path}", server_name, f"{server_name}:{port}")

    async def _endpoint(self, shown: str, namespace: str, name: str, port: int) -> tuple[str, int]:
        try:
            host, real_port, _ = await self._services.resolve(namespace, name, port)
        except SimulatedError as error:
            raise WebhookError(
                f'Post "{shown}": service "{name}" leads to pod "{error}", which is simulated by ktui: no server runs '
                "in it; use clientConfig.url, a Service of type ExternalName or endpoints of your own"
            ) from None
        except ResolveError as error:
            raise WebhookError(f'Post "{shown}": {error}') from None
        return host, real_port


def _wait(code: int, after: str) -> int | None:
    if (code != 429 and code < 500) or not _SECONDS.fullmatch(after):
        return None
    return int(after)


async def _pause(seconds: int, deadline: float) -> None:
    """On this machine's clock, as the webhook is none of the model's. Raises WebhookError at the deadline."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.call_later(max(min(seconds, deadline - loop.time()), 0), over.set)
    with waiting():
        await over.wait()
    if loop.time() >= deadline:
        raise WebhookError("context deadline exceeded")


def _cleaned(path: str) -> str:
    """As Go's path.Join makes it."""
    return normpath(f"/{path.lstrip('/')}")
