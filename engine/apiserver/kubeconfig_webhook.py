"""A webhook that a kubeconfig names: the server of its current context, asked as that context's user.

Source: apiserver pkg/util/webhook webhook.go (GenericWebhook, LoadKubeconfig): the tries and their waits. Those asked
are no part of the model, so waits are this machine's time.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from engine.api.golang.duration import duration_text
from engine.api.golang.forms import BOOL, STRING, Struct, UnmarshalError, check
from engine.api.golang.yaml import YamlError, load
from engine.api.types import GVK, Object
from engine.apiserver.metrics.waits import waiting
from engine.apiserver.webhook_answers import answered, failure
from engine.apiserver.webhook_client import WebhookError
from engine.apiserver.webhook_credentials import Credentials, CredentialsError
from engine.http_errors import post_error
from engine.rng import Rng

_CLUSTER = Struct(
    "Cluster",
    {
        "server": STRING,
        "tls-server-name": STRING,
        "insecure-skip-tls-verify": BOOL,
        "certificate-authority": STRING,
        "certificate-authority-data": STRING,
    },
)
_CONFIG = Struct(
    "Config",
    {
        "current-context": STRING,
        "clusters": [Struct("NamedCluster", {"name": STRING, "cluster": _CLUSTER})],
        "contexts": [Struct("NamedContext", {"name": STRING, "context": Struct("Context", {"cluster": STRING})})],
    },
)
_HEADERS = {"accept": "application/json, */*", "content-type": "application/json", "user-agent": "kube-apiserver"}
TIMEOUT = 30.0
_TRIES, _FACTOR, _JITTER = 5, 1.5, 0.2
_AGAIN = frozenset((429, 500, 504))  # too many requests, an internal error, a timeout
_NONE = "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"


class _FailedError(WebhookError):
    """`passes` says that it is worth another try."""

    def __init__(self, message: str, code: int = 503, *, passes: bool, timed_out: bool = False) -> None:
        super().__init__(message, code, timed_out=timed_out)
        self.passes = passes


class KubeconfigWebhook:
    """`backoff` are the seconds before the second try; each wait is half as long again as the one before."""

    def __init__(self, kubeconfig: Path | None, *, backoff: float, chance: Rng) -> None:
        """Raises CredentialsError for a kubeconfig that names no server, or cannot be read."""
        if kubeconfig is None:
            raise CredentialsError(_NONE)
        self._user = Credentials(kubeconfig).current()
        self._cluster, self._folder = _cluster(kubeconfig), kubeconfig.parent
        self._backoff, self._chance = backoff, chance
        self._name = str(self._cluster.get("tls-server-name") or "") or None
        self._tls = self._context()

    async def ask(self, body: Object, wanted: GVK, form: Struct, *, scheme: str, timeout: float = TIMEOUT) -> Object:
        """The object of a kind and form that is answered. Raises WebhookError."""
        code, content, content_type = await self._tried(orjson.dumps(body), always=False, timeout=timeout)
        try:
            return answered(
                content,
                code=code,
                content_type=content_type,
                wanted=wanted,
                form=form,
                versions=(wanted.version,),
                scheme=scheme,
            )
        except UnmarshalError as error:
            raise WebhookError(str(error)) from None

    async def tell(self, data: bytes) -> None:
        """Send what is to arrive: whatever goes wrong, it is tried again. Raises WebhookError of the last try."""
        await self._tried(data, always=True, timeout=TIMEOUT)

    async def _tried(self, data: bytes, *, always: bool, timeout: float) -> tuple[int, bytes, str]:
        wait = self._backoff
        for _ in range(_TRIES - 1):
            try:
                return await self._try(data, timeout)
            except _FailedError as error:
                if not (always or error.passes):
                    raise
            await _pause(wait * (1 + self._chance.uniform(0.0, _JITTER)))
            wait *= _FACTOR
        return await self._try(data, timeout)

    async def _try(self, data: bytes, timeout: float) -> tuple[int, bytes, str]:
        url = f"{self._url()}?timeout={duration_text(timeout)}"
        try:
            with waiting():
                code, content, content_type = await self._send(url, data, timeout)
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            passes = isinstance(error, ConnectionResetError)
            timed_out = isinstance(error, TimeoutError)
            raise _FailedError(post_error(url, error), passes=passes, timed_out=timed_out) from None
        if not 200 <= code <= 206:
            failed = failure(content, code=code, content_type=content_type or "text/")
            raise _FailedError(failed.message, code, passes=code in _AGAIN, timed_out=code == 504)
        return code, content, content_type

    async def _send(self, url: str, data: bytes, timeout: float) -> tuple[int, bytes, str]:
        headers = [*_HEADERS.items(), *(self._user.headers() if self._user is not None else ())]
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout)) as session,
            session.post(url, data=data, headers=headers, ssl=self._tls, server_hostname=self._name) as answer,
        ):
            return answer.status, await answer.read(), answer.headers.get("content-type", "")

    def _url(self) -> str:
        server = str(self._cluster["server"])
        parts = urlsplit(server if "://" in server else f"http://{server}")
        return f"{parts.scheme}://{parts.netloc}/{parts.path.strip('/')}"

    def _context(self) -> ssl.SSLContext:
        bundle, file = self._cluster.get("certificate-authority-data"), self._cluster.get("certificate-authority")
        try:
            text = b64decode(bundle) if bundle else (self._folder / file).read_bytes() if file else b""
            context = ssl.create_default_context(cadata=text.decode() or None)
        except (OSError, ValueError) as error:
            told = f": {(error.strerror or str(error)).lower()}" if isinstance(error, OSError) else ""
            raise CredentialsError(
                "unable to load root certificates" + (told or ": unable to parse bytes as PEM block")
            ) from error
        if self._cluster.get("insecure-skip-tls-verify"):
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if self._user is not None:
            self._user.certify(context)
        return context


def _cluster(file: Path) -> Object:
    """Of the current context. Raises CredentialsError."""
    config = _read(file)
    contexts = {each.get("name"): each.get("context") or {} for each in config.get("contexts") or ()}
    clusters = {each.get("name"): each.get("cluster") or {} for each in config.get("clusters") or ()}
    name = (contexts.get(config.get("current-context") or "") or {}).get("cluster") or ""
    found: Object = clusters.get(name) or {}
    if not found.get("server"):
        raise CredentialsError(
            _NONE if not clusters else f'invalid configuration: no server found for cluster "{name}"'
        )
    return found


def _read(file: Path) -> Any:
    try:
        config = load(file.read_bytes())
        check(config, _CONFIG)
    except (YamlError, UnmarshalError) as error:
        raise CredentialsError(f'error loading config file "{file}": {error}') from error
    return config or {}


async def _pause(seconds: float) -> None:
    """On this machine's clock, as the server is none of the model's."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    with waiting():
        await over.wait()
