"""AlwaysAdmit and AlwaysDeny (plugin/pkg/admission/admit and deny)."""

from __future__ import annotations

from engine.apiserver.admission.attributes import Attributes, Plugin, denied


class AlwaysAdmit(Plugin):
    """Has no say."""

    name = "AlwaysAdmit"
    default = False

    async def mutate(self, attributes: Attributes) -> bool:
        return False

    async def validate(self, attributes: Attributes) -> None:
        """Accept."""


class AlwaysDeny(Plugin):
    name = "AlwaysDeny"
    default = False

    async def mutate(self, attributes: Attributes) -> bool:
        raise denied(attributes, "admission control is denying all modifications")

    async def validate(self, attributes: Attributes) -> None:
        raise denied(attributes, "admission control is denying all modifications")
