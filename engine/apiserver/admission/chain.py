"""The plugins in their order. Mutating ones run one after the other and see each other's work, once more if a webhook
or policy has changed what those before it have seen; then all are asked whether they accept the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.api.errors import ApiError
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin
from engine.apiserver.admission.metrics import ADMIT, VALIDATE, AdmissionMetrics
from engine.clock import wall
from engine.metrics import Distribution
from engine.trace import Span

_UNNAMED = Distribution(())  # what is no plugin upstream has no figures there


class _Step(NamedTuple):
    plugin: Plugin
    durations: Distribution


class AdmissionChain:
    def __init__(self, plugins: Sequence[Plugin], metrics: AdmissionMetrics) -> None:
        self.plugins = tuple(plugins)
        self.metrics = metrics
        self._mutating = {each: self._steps(ADMIT, each) for each in Operation}
        self._validating = {each: self._steps(VALIDATE, each) for each in Operation}

    def _steps(self, kind: str, operation: Operation) -> tuple[_Step, ...]:
        """The plugins that have to do with an operation."""
        own = [plugin for plugin in self.plugins if operation in plugin.operations and plugin.takes_part(kind)]
        return tuple(
            _Step(plugin, self.metrics.controller(plugin.name, kind, operation) if plugin.name else _UNNAMED)
            for plugin in own
        )

    async def mutate(self, attributes: Attributes, span: Span) -> None:
        """Raises the ApiError of the first plugin that refuses; the span shows each plugin's verdict."""
        verdicts: list[dict[str, Any]] = []
        span.detail["plugins"] = verdicts
        if attributes.dry_run:
            span.detail["dryRun"] = True
        began, rejected = wall(), True
        try:
            await self._mutate(attributes, verdicts)
            if attributes.wants_reinvocation:
                attributes.reinvoked = True
                await self._mutate(attributes, verdicts)
            rejected = False
        finally:
            self.metrics.step(ADMIT, attributes.operation, wall() - began, rejected=rejected)
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations

    async def _mutate(self, attributes: Attributes, verdicts: list[dict[str, Any]]) -> None:
        began = wall()
        for plugin, durations in self._mutating[attributes.operation]:
            verdict = {"name": plugin.name, "verdict": "refused"}
            if plugin.name:
                verdicts.append(verdict)
            try:
                verdict["verdict"] = "changed" if await plugin.mutate(attributes) else "passed"
            except ApiError:
                self._rejected(plugin, ADMIT, attributes, wall() - began)
                raise
            ended = wall()
            durations.observe(ended - began)
            began = ended

    async def validate(self, attributes: Attributes, span: Span) -> None:
        verdicts: list[dict[str, Any]] = []
        span.detail["plugins"] = verdicts
        began, rejected = wall(), True
        try:
            await self._validate(attributes, verdicts)
            rejected = False
        finally:
            self.metrics.step(VALIDATE, attributes.operation, wall() - began, rejected=rejected)
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations

    async def _validate(self, attributes: Attributes, verdicts: list[dict[str, Any]]) -> None:
        began = wall()
        for plugin, durations in self._validating[attributes.operation]:
            verdict = {"name": plugin.name, "verdict": "refused"}
            if plugin.name:
                verdicts.append(verdict)
            try:
                await plugin.validate(attributes)
            except ApiError:
                self._rejected(plugin, VALIDATE, attributes, wall() - began)
                raise
            verdict["verdict"] = "accepted"
            ended = wall()
            durations.observe(ended - began)
            began = ended

    def _rejected(self, plugin: Plugin, kind: str, attributes: Attributes, seconds: float) -> None:
        if plugin.name:
            self.metrics.controller(plugin.name, kind, attributes.operation, rejected=True).observe(seconds)
