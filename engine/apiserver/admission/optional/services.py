"""DenyServiceExternalIPs: no Service gets an external address that it has not had (CVE-2020-8554).

Source: plugin/pkg/admission/network/denyserviceexternalips.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Plugin, denied


class DenyServiceExternalIPs(Plugin):
    name = "DenyServiceExternalIPs"
    operations = WRITES
    default = False

    async def validate(self, attributes: Attributes) -> None:
        if attributes.key == "services" and not _addresses(attributes.object) <= _addresses(attributes.old):
            raise denied(attributes, "Use of external IPs is denied by admission control")


def _addresses(service: Object | None) -> set[str]:
    return set(((service or {}).get("spec") or {}).get("externalIPs") or ())
