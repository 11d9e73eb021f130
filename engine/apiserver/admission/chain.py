"""The plugins in their order. Mutating ones run one after the other and see each other's work, once more if a webhook
or policy has changed what those before it have seen; then all are asked whether they accept the result."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from engine.api.errors import ApiError
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin
from engine.apiserver.admission.metrics import ADMIT, VALIDATE, AdmissionMetrics, Unasked
from engine.clock import wall
from engine.metrics import Distribution
from engine.trace import Span

_UNNAMED = Distribution(())  # what is no plugin upstream has no figures there

Grounds = tuple[Hashable, ...]
Verdicts = list[dict[str, Any]]


class _Step(NamedTuple):
    plugin: Plugin
    durations: Distribution
    asked: bool  # one that has nothing to do with the resource is told of only


class _Steps(NamedTuple):
    """The plugins for an operation on a resource; `unasked` counts for those that are not asked, `drawing` is the one
    that draws names."""

    all: tuple[_Step, ...]
    unasked: Unasked
    drawing: Plugin | None

    def count_until(self, refused: Plugin) -> None:
        """Those that are not asked, as far as the plugin that has refused."""
        for plugin, durations, asked in self.all:
            if plugin is refused:
                return
            if not asked:
                durations.observe(0.0)


class AdmissionChain:
    def __init__(self, plugins: Sequence[Plugin], metrics: AdmissionMetrics) -> None:
        self.plugins = tuple(plugins)
        self.metrics = metrics
        self._found: dict[tuple[str, Operation, str], _Steps] = {}

    def _steps(self, kind: str, attributes: Attributes) -> _Steps:
        """The plugins that have to do with an operation on a resource."""
        key = (kind, attributes.operation, attributes.key)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._find(*key)
        return found

    def _find(self, kind: str, operation: Operation, key: str) -> _Steps:
        steps = []
        for plugin in self.plugins:
            if operation not in plugin.operations or not plugin.takes_part(kind):
                continue
            durations = self.metrics.controller(plugin.name, kind, operation) if plugin.name else _UNNAMED
            asked = not plugin.resources or key in plugin.resources
            if asked or plugin.name:
                steps.append(_Step(plugin, durations, asked))
        unasked = self.metrics.unasked([each.durations for each in steps if not each.asked])
        drawing = (each.plugin for each in steps if each.asked and type(each.plugin).draw is not Plugin.draw)
        return _Steps(tuple(steps), unasked, next(drawing, None))

    async def mutate(self, attributes: Attributes, span: Span) -> None:
        """Raises the ApiError of the first plugin that refuses; the span shows each plugin's verdict."""
        verdicts: Verdicts = []
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

    async def _mutate(self, attributes: Attributes, verdicts: Verdicts) -> None:
        steps = self._steps(ADMIT, attributes)
        began = wall()
        for plugin, durations, asked in steps.all:
            if not asked:
                verdicts.append({"name": plugin.name, "verdict": "passed"})
                continue
            verdict = {"name": plugin.name, "verdict": "refused"}
            if plugin.name:
                verdicts.append(verdict)
            try:
                verdict["verdict"] = "changed" if await plugin.mutate(attributes) else "passed"
            except ApiError:
                steps.count_until(plugin)
                self._rejected(plugin, ADMIT, attributes, wall() - began)
                raise
            ended = wall()
            durations.observe(ended - began)
            began = ended
        steps.unasked.add()

    async def grounds(self, attributes: Attributes) -> Grounds | None:
        """What the changes of the plugins to a new Pod follow from; None where that cannot be said, or one refuses."""
        found = []
        try:
            for plugin, _, asked in self._steps(ADMIT, attributes).all:
                if asked:
                    if (ground := await plugin.ground(attributes)) is None:
                        return None
                    found.append(ground)
        except ApiError:
            return None
        return tuple(found)

    async def mutates_alike(self, attributes: Attributes, span: Span, known: Grounds, verdicts: Verdicts) -> bool:
        """Whether the plugins would change a Pod as they did another that says the same, on these grounds and with
        these verdicts. If so it is told of as if they had; if not, also where one refuses, nothing has happened."""
        steps = self._steps(ADMIT, attributes)
        observed: list[tuple[Distribution, float]] = []
        ended = began = wall()
        position = 0
        for plugin, durations, asked in steps.all:
            if not asked:
                continue
            try:
                if await plugin.ground(attributes) != known[position]:
                    return False
            except ApiError:
                return False
            before, ended = ended, wall()
            observed.append((durations, ended - before))
            position += 1
        for durations, seconds in observed:
            durations.observe(seconds)
        steps.unasked.add()
        self.metrics.step(ADMIT, attributes.operation, ended - began)
        span.detail["plugins"] = verdicts
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations
        return True

    def draw(self, attributes: Attributes) -> str:
        """A name as a plugin draws one for what it adds to each new Pod; "" where none does."""
        plugin = self._steps(ADMIT, attributes).drawing
        return plugin.draw() if plugin is not None else ""

    async def validate(self, attributes: Attributes, span: Span) -> None:
        verdicts: Verdicts = []
        span.detail["plugins"] = verdicts
        began, rejected = wall(), True
        try:
            await self._validate(attributes, verdicts)
            rejected = False
        finally:
            self.metrics.step(VALIDATE, attributes.operation, wall() - began, rejected=rejected)
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations

    async def _validate(self, attributes: Attributes, verdicts: Verdicts) -> None:
        steps = self._steps(VALIDATE, attributes)
        began = wall()
        for plugin, durations, asked in steps.all:
            if not asked:
                verdicts.append({"name": plugin.name, "verdict": "accepted"})
                continue
            verdict = {"name": plugin.name, "verdict": "refused"}
            if plugin.name:
                verdicts.append(verdict)
            try:
                await plugin.validate(attributes)
            except ApiError:
                steps.count_until(plugin)
                self._rejected(plugin, VALIDATE, attributes, wall() - began)
                raise
            verdict["verdict"] = "accepted"
            ended = wall()
            durations.observe(ended - began)
            began = ended
        steps.unasked.add()

    def _rejected(self, plugin: Plugin, kind: str, attributes: Attributes, seconds: float) -> None:
        if plugin.name:
            self.metrics.controller(plugin.name, kind, attributes.operation, rejected=True).observe(seconds)
