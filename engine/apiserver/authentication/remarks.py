"""What an authenticator has to say besides who asks: upstream it goes into the context of the request."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Remarks:
    """`warnings` are for the client, `annotations` for the audit log. Both are added to."""

    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
