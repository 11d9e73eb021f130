"""Who may approve, sign and attest for a signer, and what nobody may ask of the API server's own signer.

Source: plugin/pkg/admission/certificates (approval, signing, ctbattest, subjectrestriction) and pkg/certauthorization.
"""

from __future__ import annotations

from base64 import b64decode
from typing import ClassVar

from cryptography import x509
from cryptography.x509.oid import NameOID

from engine.api.errors import field_forbidden, invalid
from engine.api.types import Object
from engine.apiserver.admission.attributes import CREATES, UPDATES, WRITES, Attributes, Operation, Plugin, denied
from engine.apiserver.authentication.user import SYSTEM_MASTERS
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict

_GROUP = "certificates.k8s.io"
_REQUESTS = f"certificatesigningrequests.{_GROUP}"
_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"


class _Signers(Plugin):
    """Asks whether the user has `verb` on the signer: on itself by name, or on all of its domain."""

    verb: ClassVar[str] = ""

    def __init__(self, authorizer: UnionAuthorizer) -> None:
        self._authorizer = authorizer

    async def _may(self, attributes: Attributes, signer: str) -> bool:
        for name in (signer, f"{signer.partition('/')[0]}/*"):
            question = Question(attributes.user, self.verb, _GROUP, "*", "signers", name=name)
            if (await self._authorizer.authorize(question)).decision.verdict is Verdict.ALLOW:
                return True
        return False


class CertificateApproval(_Signers):
    name = "CertificateApproval"
    resources = frozenset((f"{_REQUESTS}/approval",))
    operations = UPDATES
    verb = "approve"

    async def validate(self, attributes: Attributes) -> None:
        if attributes.key != f"{_REQUESTS}/approval" or attributes.old is None:
            return
        signer = _signer(attributes.old)  # of the stored object: the request may not change it
        if not await self._may(attributes, signer):
            raise denied(attributes, f'user not permitted to approve requests with signerName "{signer}"')


class CertificateSigning(_Signers):
    name = "CertificateSigning"
    resources = frozenset((f"{_REQUESTS}/status",))
    operations = UPDATES
    verb = "sign"

    async def validate(self, attributes: Attributes) -> None:
        old, new = attributes.old, attributes.object
        if attributes.key != f"{_REQUESTS}/status" or old is None or new is None:
            return
        before, after = old.get("status") or {}, new.get("status") or {}
        if all((before.get(field) or None) == (after.get(field) or None) for field in ("certificate", "conditions")):
            return
        signer = _signer(old)
        if not await self._may(attributes, signer):
            raise denied(attributes, f'user not permitted to sign requests with signerName "{signer}"')


class PodCertificateSigning(_Signers):
    """Upstream checks this in the registry (podcertificaterequest/strategy.go): it is no plugin, and has no name."""

    resources = frozenset((f"podcertificaterequests.{_GROUP}/status",))
    verb = "sign"

    async def validate(self, attributes: Attributes) -> None:
        old, new = attributes.old, attributes.object
        if attributes.key != f"podcertificaterequests.{_GROUP}/status" or old is None or new is None:
            return
        if (old.get("status") or {}) == (new.get("status") or {}):
            return
        signer, user = _signer(old), attributes.user.name
        if not await self._may(attributes, signer):
            detail = f'User "{user}" is not permitted to "sign" for signer "{signer}"'
            raise invalid(attributes.resource.gvk, attributes.name, [field_forbidden("spec.signerName", detail)])


class ClusterTrustBundleAttest(_Signers):
    name = "ClusterTrustBundleAttest"
    resources = frozenset((f"clustertrustbundles.{_GROUP}",))
    operations = WRITES
    verb = "attest"

    async def validate(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old
        if attributes.key != f"clustertrustbundles.{_GROUP}" or new is None:
            return
        signer = _signer(new)
        if not signer or (old is not None and new.get("spec") == old.get("spec") and _only_collected(new, old)):
            return
        if not await self._may(attributes, signer):
            raise denied(attributes, f'user not permitted to attest for signerName "{signer}"')


class CertificateSubjectRestriction(Plugin):
    """Nobody asks for a client certificate of the group that may do everything."""

    name = "CertificateSubjectRestriction"
    resources = frozenset((_REQUESTS,))
    operations = CREATES

    async def validate(self, attributes: Attributes) -> None:
        new = attributes.object
        if attributes.key != _REQUESTS or attributes.operation is not Operation.CREATE or new is None:
            return
        if _signer(new) != _CLIENT_SIGNER:
            return
        if SYSTEM_MASTERS in _organizations(attributes, (new.get("spec") or {}).get("request", "")):
            raise denied(
                attributes,
                f"use of {_CLIENT_SIGNER} signer with {SYSTEM_MASTERS} group is not allowed",
            )


def _organizations(attributes: Attributes, request: str) -> list[str]:
    try:
        text = b64decode(request, validate=True)
        parsed = x509.load_pem_x509_csr(text)
    except ValueError as error:
        raise denied(attributes, f"failed to parse CSR: {error}") from None
    return [str(each.value) for each in parsed.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def _signer(obj: Object) -> str:
    return str((obj.get("spec") or {}).get("signerName") or "")


def _only_collected(new: Object, old: Object) -> bool:
    """Whether of the metadata only what the garbage collector writes is another."""
    left_out = ("ownerReferences", "finalizers", "resourceVersion", "managedFields")
    mine, theirs = new["metadata"], old["metadata"]
    return all(mine.get(field) == theirs.get(field) for field in {**mine, **theirs} if field not in left_out)
