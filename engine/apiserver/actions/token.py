"""serviceaccounts/NAME/token: a token for the account (pkg/registry/core/serviceaccount/storage/token.go)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from engine.api.errors import bad_request, conflict, field_invalid, invalid, not_found
from engine.api.legacy_tokens import is_legacy
from engine.api.types import GVK, GVR, NODES, SERVICE_ACCOUNTS, Object
from engine.apiserver.actions.admitted import admit_create, owned
from engine.apiserver.actions.token_rules import is_of_webhook, token_causes
from engine.apiserver.authentication.tokens import BOUND, ISSUER, TokenIssuer
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.lookup import Lookup
from engine.apiserver.registry.body import decode_value
from engine.apiserver.registry.body_syntax import object_value
from engine.apiserver.registry.options import WriteOptions

TOKEN_REQUEST = GVK("authentication.k8s.io", "v1", "TokenRequest")
_TOKEN_REQUESTS = GVR(TOKEN_REQUEST.group, TOKEN_REQUEST.version, TOKEN_REQUEST.kind)  # as conflicts name it
_UIDS_CHECKED = (1, 34)  # TokenRequestServiceAccountUIDValidation
_ATTESTED = (1, 37)
_GATE_OFF = " (feature gate APIServerWebhookAuthenticationToken is disabled)"
_ISSUED = "authentication.kubernetes.io/issued-credential-id"  # for the audit log
_DEFAULT_SECONDS = 3600
# Tokens that the ServiceAccount plugin asks for in its own odd number of seconds live a year, for old clients that do
# not read them anew (--service-account-extend-token-expiration).
_EXTENDED_FROM = 3607
_EXTENDED_SECONDS = 365 * 24 * 3600


class TokenAction:
    def __init__(self, backend: Backend, lookup: Lookup, issuer: TokenIssuer) -> None:
        self._backend = backend
        self._lookup = lookup
        self._issuer = issuer

    async def post(self, call: Call, options: WriteOptions) -> Object:
        """Raises ApiError 400, 404, 409, 422."""
        namespace, name = call.info.namespace, call.info.name
        value = object_value(self._backend.definitions, call.request, TOKEN_REQUEST)
        request = decode_value(
            call, self._backend.definitions, TOKEN_REQUEST, value=value, validation=options.validation
        )
        request.setdefault("spec", {}).setdefault("expirationSeconds", _DEFAULT_SECONDS)
        request.setdefault("status", {"token": "", "expirationTimestamp": None})
        names_uid = self._backend.definitions.release >= _UIDS_CHECKED
        request = owned(self._backend, call, TOKEN_REQUEST, request, options, keeps_uid=names_uid)
        _check_name(request["metadata"], name)
        account = await self._lookup.find(SERVICE_ACCOUNTS, namespace, name)
        if account is None:
            raise not_found(SERVICE_ACCOUNTS, name)
        if names_uid:
            _check_uid(request["metadata"], account["metadata"])
        complete = partial(_complete, account, self._now(), attested=self._attested)
        await admit_create(self._backend, call, request, options, check=complete)
        spec: dict[str, Any] = request["spec"]
        seconds, audiences = spec["expirationSeconds"], spec["audiences"]
        bound = await self._bound(spec.get("boundObjectRef"), namespace, name)
        if bound is not None and is_legacy(bound, seconds):
            request["status"] = {"token": self._issuer.issue_legacy(account, bound), "expirationTimestamp": None}
            return self._backend.storage.arranged(TOKEN_REQUEST, request)
        node = await self._node_of(bound)
        of_pod = bound is not None and bound["kind"] == "Pod"
        extended = of_pod and seconds == _EXTENDED_FROM and set(audiences) == {ISSUER}
        token, ends, credential = self._issuer.issue(
            account,
            audiences=audiences,
            seconds=_EXTENDED_SECONDS if extended else seconds,
            bound=bound,
            warn_after=seconds if extended else 0,
            node=node,
        )
        if extended:  # its holder is told to come again as if it were not
            ends -= timedelta(seconds=_EXTENDED_SECONDS - seconds)
        call.annotations[_ISSUED] = credential
        request["status"] = {"token": token, "expirationTimestamp": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}
        return self._backend.storage.arranged(TOKEN_REQUEST, request)

    @property
    def _attested(self) -> bool:
        return self._backend.definitions.release >= _ATTESTED

    def _now(self) -> str:
        return self._backend.world.clock.timestamp()

    async def _bound(self, reference: Object | None, namespace: str, name: str) -> Object | None:
        if reference is None:
            return None
        kind, api_version = reference.get("kind", ""), reference.get("apiVersion", "")
        gvr = BOUND.get(kind)
        if gvr is None or "/" in api_version:
            of_webhook = self._attested and is_of_webhook(reference)
            raise bad_request(
                f"cannot bind token to object of type {_shown_kind(api_version, kind)}{_GATE_OFF if of_webhook else ''}"
            )
        where = "" if reference["kind"] == "Node" else namespace
        found = await self._lookup.find(gvr, where, reference.get("name", ""))
        if found is None:
            raise not_found(gvr, reference.get("name", ""))
        if reference["kind"] == "Pod" and (found.get("spec") or {}).get("serviceAccountName") != name:
            raise bad_request(
                f'cannot bind token for serviceaccount "{name}" to pod running with different serviceaccount name.'
            )
        uid = reference.get("uid")
        if uid and uid != found["metadata"]["uid"]:
            raise conflict(
                gvr._replace(resource=kind),
                reference["name"],
                f"the UID in the bound object reference ({uid}) does not match the UID in record. The object might "
                "have been deleted and then recreated",
            )
        return found

    async def _node_of(self, bound: Object | None) -> Object | None:
        """The node that a Pod runs on; its name alone where there is no such node any more."""
        name = (bound.get("spec") or {}).get("nodeName", "") if bound is not None and bound["kind"] == "Pod" else ""
        if not name:
            return None
        return await self._lookup.find(NODES, "", name) or {"metadata": {"name": name}}


def _shown_kind(api_version: str, kind: str) -> str:
    """As Go prints a GroupVersionKind."""
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"


def _check_name(metadata: Object, name: str) -> None:
    """The name may be left out, or is the account's. Raises ApiError 422."""
    if metadata.get("name", name) not in ("", name):
        text = "must match the service account name if specified"
        raise invalid(TOKEN_REQUEST, name, [field_invalid("metadata.name", metadata["name"], text)])


def _check_uid(metadata: Object, account: Object) -> None:
    """A request is for the account of a uid, where it names one; the answer says which it was. Raises ApiError 409."""
    asked, found = metadata.setdefault("uid", account["uid"]), account["uid"]
    if asked != found:
        why = f"the UID in the token request ({asked}) does not match the UID of the service account ({found})"
        raise conflict(_TOKEN_REQUESTS, account["name"], why)


def _complete(account: Object, now: str, request: Object, *, attested: bool) -> None:
    """What a request leaves to the server; it is admitted with all of it. Raises ApiError 422."""
    spec, metadata = request["spec"], request["metadata"]
    spec["audiences"] = spec.get("audiences") or [ISSUER]
    metadata |= {name: account["metadata"][name] for name in ("name", "namespace")}
    metadata["creationTimestamp"] = now
    request["status"] = {"token": "", "expirationTimestamp": None}
    if causes := token_causes(spec, attested=attested):
        raise invalid(TOKEN_REQUEST, "", causes)
