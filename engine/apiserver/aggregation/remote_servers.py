"""Asking the API servers behind this one, with the certificate of its proxy and the name of who asks.

Sources: kube-aggregator pkg/apiserver/handler_proxy.go, client-go transport/round_trippers.go (SetAuthProxyHeaders).
They are no part of the model: what they take is this machine's time, for which virtual time stands still.
"""

from __future__ import annotations

import ssl
from base64 import b64decode
from collections.abc import Iterable, Iterator
from urllib.parse import quote

import aiohttp
from yarl import URL

from engine.api.types import Object
from engine.apiserver.authentication.user import SYSTEM_MASTERS, UserInfo
from engine.apiserver.service_resolver import Place, ServiceResolver
from engine.apiserver.webhook_credentials import show_certificate
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.http_errors import reason

AGGREGATOR = UserInfo("system:kube-aggregator", groups=(SYSTEM_MASTERS,))
DISCOVERY_SECONDS = 5.0
_UIDS_SINCE = (1, 33)  # RemoteRequestHeaderUID
_PORT = 443
_UNESCAPED = "!#$&'*+.^_`|~"  # of a key what may stand in the name of a header


class UnreachableError(Exception):
    """The server did not answer; the message is that of Go's transport."""


class RemoteServers:
    def __init__(
        self, resolver: ServiceResolver, config: ClusterConfig, clock: Clock, release: tuple[int, int]
    ) -> None:
        self._resolver = resolver
        self._proxy_client = config.proxy_client
        self._clock = clock
        self._with_uids = release >= _UIDS_SINCE
        self._contexts: dict[tuple[str, bool], ssl.SSLContext] = {}
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def place(self, api_service: Object) -> Place:
        """Where the server of an APIService listens. Raises ResolveError."""
        reference = api_service["spec"]["service"]
        return await self._resolver.resolve(reference["namespace"], reference["name"], reference.get("port", _PORT))

    async def send(
        self,
        api_service: Object,
        place: Place,
        method: str,
        target: str,
        *,
        user: UserInfo,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        seconds: float | None = None,
        checked: bool = True,
    ) -> aiohttp.ClientResponse:
        """The head of the answer to a request for `target`, path and query as they are escaped; who reads or closes it
        ends it. With `checked` the server must be whom the APIService says. Raises UnreachableError."""
        spec = api_service["spec"]
        reference = spec["service"]
        context = self._context(str(spec.get("caBundle") or ""), not checked or bool(spec.get("insecureSkipTLSVerify")))
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())
        sent = [("Host", place.shown), *headers, *self._identity(user)]
        try:
            with self._clock.hold():
                return await self._session.request(
                    method,
                    URL(f"https://{place.host}:{place.port}{target}", encoded=True),
                    headers=sent,
                    skip_auto_headers=("User-Agent", "Accept", "Content-Type", "Accept-Encoding"),
                    data=body or None,
                    ssl=context,
                    server_hostname=f"{reference['name']}.{reference['namespace']}.svc",
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=seconds),
                )
        except (aiohttp.ClientError, OSError) as error:  # of which TimeoutError is one
            raise UnreachableError(reason(error).replace(f"{place.host}:{place.port}", place.shown)) from error

    def _identity(self, user: UserInfo) -> Iterator[tuple[str, str]]:
        yield "X-Remote-User", user.name
        if user.uid and self._with_uids:
            yield "X-Remote-Uid", user.uid
        for group in user.groups:
            yield "X-Remote-Group", group
        for key, values in user.extra:
            for value in values:
                yield f"X-Remote-Extra-{quote(key, safe=_UNESCAPED)}", value

    def _context(self, bundle: str, insecure: bool) -> ssl.SSLContext:
        found = self._contexts.get((bundle, insecure))
        if found is None:
            found = ssl.create_default_context(cadata=b64decode(bundle).decode() if bundle else None)
            if insecure:
                found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
            if self._proxy_client is not None:
                certificate, key = self._proxy_client
                show_certificate(found, certificate.encode(), key.get_secret_value().encode())
            self._contexts[bundle, insecure] = found
        return found
