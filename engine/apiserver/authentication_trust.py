"""Keeps the ConfigMap by which servers behind this one know its clients: extension-apiserver-authentication.

Source: pkg/controlplane/controller/clusterauthenticationtrust. Several API servers tell in it whom they trust: the
certificates that are there stay until they expire, and what this server trusts comes after them. It is looked at every
minute, and at once when it is made or deleted. Of the headers that proxies write (requestheader-*) nothing is said
where no authority of proxies is known.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import orjson
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from engine.api.types import CONFIGMAPS, Object, copy_object
from engine.apiserver.corrupt_objects import CorruptObjectError
from engine.apiserver.followed_key import follow_key
from engine.apiserver.lookup import Lookup
from engine.apiserver.loopback import Loopback
from engine.clock import Clock
from engine.config import RequestHeaders
from engine.store.types import Event, Store, StoreError
from engine.tasks import Supervisor

log = logging.getLogger(__name__)

NAME = "extension-apiserver-authentication"
INTERVAL = 60.0
UIDS_SINCE = (1, 33)  # RemoteRequestHeaderUID
_NAMESPACE = "kube-system"
_KEY = f"/registry/configmaps/{_NAMESPACE}/{NAME}"
_CLIENT_CA, _PROXY_CA, _UIDS = "client-ca-file", "requestheader-client-ca-file", "requestheader-uid-headers"
_SLACK = timedelta(minutes=5)  # that clocks may differ about a certificate's end


def trust_config_map(root_ca: str, headers: RequestHeaders, now: datetime, release: tuple[int, int]) -> Object | None:
    """As a new cluster of a CA (PEM) has it; None where there is no CA to tell of."""
    try:
        data = _combined({}, root_ca, headers, now, release)
    except ValueError:
        return None
    return _config_map(data) if data else None


class AuthenticationTrust:
    def __init__(
        self,
        root_ca: str,
        headers: RequestHeaders,
        store: Store,
        lookup: Lookup,
        loopback: Loopback,
        clock: Clock,
        *,
        release: tuple[int, int],
    ) -> None:
        self._root_ca = root_ca
        self._headers = headers
        self._store = store
        self._lookup = lookup
        self._loopback = loopback
        self._clock = clock
        self._release = release

    def start(self, tasks: Supervisor) -> None:
        followed = follow_key(self._store, self._clock, _KEY, self.sync, wakes=_comes_or_goes)
        tasks.spawn(followed, "cluster authentication trust")
        tasks.spawn(self._run(), "cluster authentication trust, each minute")

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            try:
                await self.sync()
            except StoreError as error:
                log.info("%s is not looked at: %s", NAME, error)

    async def sync(self) -> None:
        """Say whom this server trusts, where it is not said. Raises StoreError."""
        try:
            found = await self._lookup.find(CONFIGMAPS, _NAMESPACE, NAME)
            known: dict[str, str] = (found or {}).get("data") or {}
            wanted = _combined(known, self._root_ca, self._headers, self._clock.now(), self._release)
        except (CorruptObjectError, ValueError) as error:
            log.warning("%s is left as it is: %s", NAME, error)
            return
        if wanted == known:
            return
        if found is None:
            await self._loopback.ask("POST", CONFIGMAPS.path(_NAMESPACE), _config_map(wanted))
            return
        path, changed = CONFIGMAPS.path(_NAMESPACE, NAME), copy_object(found)
        changed["data"] = wanted
        answer = await self._loopback.ask("PUT", path, changed)
        if answer.status == 413 or (answer.status == 422 and "Too long" in answer.body.get("message", "")):
            await self._loopback.ask("DELETE", path)  # all begin anew


def _config_map(data: dict[str, str]) -> Object:
    metadata = {"name": NAME, "namespace": _NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _comes_or_goes(event: Event) -> bool:
    return event.type == "DELETE" or event.kv.create_revision == event.kv.mod_revision


def _combined(
    known: Mapping[str, str], root_ca: str, headers: RequestHeaders, now: datetime, release: tuple[int, int]
) -> dict[str, str]:
    """What the ConfigMap should say. Raises ValueError for what is no list and no certificates."""
    mine = {
        "requestheader-username-headers": headers.username_headers,
        _UIDS: headers.uid_headers,
        "requestheader-group-headers": headers.group_headers,
        "requestheader-extra-headers-prefix": headers.extra_headers_prefix,
        "requestheader-allowed-names": headers.allowed_names,
    }
    lists = {
        key: _list(known.get(key, ""), values if headers.client_ca else ())
        for key, values in mine.items()
        if key != _UIDS or release >= UIDS_SINCE
    }
    clients = _certificates((known.get(_CLIENT_CA), root_ca), now)
    proxies = _certificates((known.get(_PROXY_CA), headers.client_ca), now)
    data = {_CLIENT_CA: clients} if clients else {}
    if proxies:
        data[_PROXY_CA] = proxies
        data |= {key: orjson.dumps(found).decode() for key, found in lists.items() if found or key != _UIDS}
    return data


def _list(text: str, more: Sequence[str]) -> list[str]:
    """Those of a list in JSON, and more, each once."""
    found = orjson.loads(text) if text else None
    if found is not None and not (isinstance(found, list) and all(isinstance(each, str) for each in found)):
        raise ValueError(f"{text} is no list of strings")
    return list(dict.fromkeys((*(found or ()), *more)))


def _certificates(bundles: Iterable[str | None], now: datetime) -> str:
    """The certificates of all bundles, in PEM, each once and as long as it is good."""
    found = [each for bundle in bundles if bundle for each in x509.load_pem_x509_certificates(bundle.encode())]
    good = dict.fromkeys(each for each in found if each.not_valid_after_utc > now - _SLACK)
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in good)
