"""The plugins in their order. Mutating ones run one after the other and see each other's work, once more if a webhook
or policy has changed what those before it have seen; then all are asked whether they accept the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.apiserver.admission.attributes import Attributes, Plugin
from engine.trace import Span


class AdmissionChain:
    def __init__(self, plugins: Sequence[Plugin]) -> None:
        self.plugins = tuple(plugins)
        self._mutating = tuple(p for p in self.plugins if type(p).mutate is not Plugin.mutate)
        self._validating = tuple(p for p in self.plugins if type(p).validate is not Plugin.validate)

    async def mutate(self, attributes: Attributes, span: Span) -> None:
        """Raises the ApiError of the first plugin that refuses; the span shows each plugin's verdict."""
        verdicts: list[dict[str, Any]] = []
        span.detail["plugins"] = verdicts
        if attributes.dry_run:
            span.detail["dryRun"] = True
        await self._mutate(attributes, verdicts)
        if attributes.wants_reinvocation:
            attributes.reinvoked = True
            await self._mutate(attributes, verdicts)
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations

    async def _mutate(self, attributes: Attributes, verdicts: list[dict[str, Any]]) -> None:
        for plugin in self._mutating:
            verdict = {"name": plugin.name, "verdict": "refused"}
            verdicts.append(verdict)
            verdict["verdict"] = "changed" if await plugin.mutate(attributes) else "passed"

    async def validate(self, attributes: Attributes, span: Span) -> None:
        verdicts: list[dict[str, Any]] = []
        span.detail["plugins"] = verdicts
        for plugin in self._validating:
            verdict = {"name": plugin.name, "verdict": "refused"}
            if plugin.name:
                verdicts.append(verdict)
            await plugin.validate(attributes)
            verdict["verdict"] = "accepted"
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations
