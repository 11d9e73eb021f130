"""The bootstrap signer: signs the kubeconfig that anybody may read in kube-public with each bootstrap token, so that
who has a token can believe it (pkg/controller/bootstrap/bootstrapsigner.go, cluster-bootstrap token/jws)."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256

from engine.api.bootstrap_tokens import (
    FOR_SIGNING,
    ID,
    NAMESPACE,
    SECRET,
    SECRET_TYPE,
    has_expired,
    id_in_name,
    value_of,
)
from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, SECRETS, Object
from engine.controllers.controller import Controller

PUBLIC, CLUSTER_INFO = "kube-public", "cluster-info"
CONTENT, SIGNATURE = "kubeconfig", "jws-kubeconfig-"  # keys of the ConfigMap; behind the second comes a token's id
_KEY = f"{PUBLIC}/{CLUSTER_INFO}"


class BootstrapSigner(Controller):
    name = "bootstrap-signer"
    kind = "configmap"
    workers = 1

    def set_up(self) -> None:
        self._maps = self.lister(CONFIGMAPS)
        self._secrets = self.lister(SECRETS)
        self.watch(CONFIGMAPS, _is_cluster_info)
        self.watch(SECRETS, _is_token)

    async def reconcile(self, key: str) -> None:
        found = self._maps.by_key(key)
        data = (found or {}).get("data") or {}
        if found is None or CONTENT not in data:
            return
        signed = {name: value for name, value in data.items() if not name.startswith(SIGNATURE)}
        signed |= {
            f"{SIGNATURE}{identity}": detached_signature(data[CONTENT], identity, secret)
            for identity, secret in self._tokens()
        }
        self.note(desired={"keys": sorted(signed)}, actual={"keys": sorted(data)})
        if signed == data:
            return
        try:
            await self.client.update(CONFIGMAPS, {**found, "data": signed})
        except ApiError as error:
            if error.code not in (404, 409):  # whoever changed it has woken this again
                raise

    def _tokens(self) -> Iterator[tuple[str, str]]:
        """The id and the secret of each token that may sign."""
        now = self.clock.now()
        for found in self._secrets.list(NAMESPACE):
            if found.get("type") != SECRET_TYPE or has_expired(found, now) or value_of(found, FOR_SIGNING) != "true":
                continue
            identity, secret = id_in_name(found["metadata"]["name"]), value_of(found, SECRET)
            if identity and secret and value_of(found, ID) == identity:
                yield identity, secret


def detached_signature(content: str, identity: str, secret: str) -> str:
    """A JWS (HS256) of a content that it leaves out."""
    header = _encoded(f'{{"alg":"HS256","kid":"{identity}"}}'.encode())
    signature = hmac.digest(secret.encode(), f"{header}.{_encoded(content.encode())}".encode(), sha256)
    return f"{header}..{_encoded(signature)}"


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _is_cluster_info(old: Object | None, new: Object | None) -> Iterable[str]:
    metadata = (new or {}).get("metadata") or {}
    return [_KEY] if (metadata.get("namespace"), metadata.get("name")) == (PUBLIC, CLUSTER_INFO) else []


def _is_token(old: Object | None, new: Object | None) -> Iterable[str]:
    seen: Object = new or old or {}
    return [_KEY] if seen.get("type") == SECRET_TYPE and seen["metadata"]["namespace"] == NAMESPACE else []
