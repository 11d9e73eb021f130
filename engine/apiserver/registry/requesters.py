"""Who asks for a certificate: a CertificateSigningRequest says it of the user of its request, whatever it came with.

Source of the behaviour: pkg/registry/certificates/certificates/strategy.go, PrepareForCreate.
"""

from __future__ import annotations

from engine.api.resource_table import CERTIFICATES
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.authentication.user import UserInfo

_FIELDS = ("username", "uid", "groups", "extra")


def name_requester(info: ResourceInfo, obj: Object, user: UserInfo) -> None:
    if (info.gvr.group, info.kind) != (CERTIFICATES, "CertificateSigningRequest"):
        return
    spec = obj.setdefault("spec", {})
    for field in _FIELDS:
        spec.pop(field, None)
    spec.update(user.to_json())
