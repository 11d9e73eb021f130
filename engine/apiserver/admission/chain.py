"""The plugins in their order. Mutating ones run one after the other and see each other's work, once more if a webhook
or policy has changed what those before it have seen; then all are asked whether they accept the result."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin, Watched
from engine.apiserver.admission.metrics import ADMIT, VALIDATE, AdmissionMetrics, Unasked
from engine.apiserver.admission.settled import Alike, Asked, Grounds, Known, Settled, Step, Steps, Verdicts
from engine.apiserver.lookup import KeyState
from engine.clock import wall
from engine.metrics import Distribution
from engine.trace import Span

_UNNAMED = Distribution(())  # what is no plugin upstream has no figures there


class AdmissionChain:
    def __init__(self, plugins: Sequence[Plugin], metrics: AdmissionMetrics) -> None:
        self.plugins = tuple(plugins)
        self.metrics = metrics
        self._named = frozenset[str]().union(*(each.resources for each in self.plugins))
        self._found: dict[tuple[str, Operation, str], Steps] = {}
        self._settled: dict[tuple[str, Operation, str, tuple[Asked, ...]], Unasked] = {}

    def _steps(self, kind: str, attributes: Attributes) -> Steps:
        """The plugins that have to do with an operation on a resource: the same with all that none of them names, of
        which definitions make ever more."""
        key = (kind, attributes.operation, attributes.key if attributes.key in self._named else "")
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._find(*key)
        return found

    def _find(self, kind: str, operation: Operation, key: str) -> Steps:
        steps = []
        for plugin in self.plugins:
            if operation not in plugin.operations or not plugin.takes_part(kind):
                continue
            durations = self.metrics.controller(plugin.name, kind, operation) if plugin.name else _UNNAMED
            asked = not plugin.resources or key in plugin.resources
            if asked or plugin.name:
                steps.append(Step(plugin, durations, asked))
        unasked = self.metrics.unasked([each.durations for each in steps if not each.asked])
        drawing = (each.plugin for each in steps if each.asked and type(each.plugin).draw is not Plugin.draw)
        return Steps(tuple(steps), unasked, next(drawing, None), _until(steps, None))

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

    async def mutates_alike(self, attributes: Attributes, span: Span, known: Known) -> bool:
        """Whether the plugins would change a Pod as they did another that says the same, of which all is `known`. If so
        it is told of as if they had; if not, also where one refuses, nothing has happened."""
        settled = asking = known.admit
        if settled is None or asking is None or not settled.holds:
            settled, asking = self._settle(ADMIT, attributes), self._settle(ADMIT, attributes, anew=True)
        observed: list[tuple[Distribution, float]] = []
        ended = began = wall()
        for plugin, durations, position in asking.asked:
            try:
                if await plugin.ground(attributes) != known.grounds[position]:
                    return False
            except ApiError:
                return False
            before, ended = ended, wall()
            observed.append((durations, ended - before))
        if settled is not asking and settled.holds:
            known.admit = settled
        for durations, seconds in observed:
            durations.observe(seconds)
        asking.passed()
        self.metrics.step(ADMIT, attributes.operation, ended - began)
        span.detail["plugins"] = known.verdicts
        if attributes.annotations:
            span.detail["annotations"] = attributes.annotations
        return True

    def _settle(self, kind: str, attributes: Attributes, *, anew: bool = False) -> Settled:
        """Who has to be asked about each Pod like this one, from now on; `anew` all that have to do with it."""
        caches: dict[int, tuple[Watched, int]] = {}
        asked: list[Asked] = []
        unasked: list[Distribution] = []
        spared: list[Plugin] = []
        position = -1
        for plugin, durations, concerned in self._steps(kind, attributes).all:
            position += concerned
            watched = () if not concerned else None if anew else plugin.follows(attributes, kind)
            if watched is None:
                asked.append(Asked(plugin, durations, position))
                continue
            unasked.append(durations)
            if type(plugin).spare is not Plugin.spare:
                spared.append(plugin)
            caches |= {id(cache): (cache, cache.generation) for cache in watched}
        key = (kind, attributes.operation, attributes.key, tuple(asked))
        counts = self._settled.get(key)
        if counts is None:
            counts = self._settled[key] = self.metrics.unasked(unasked)
        looks = tuple(cache.looks for cache, _ in caches.values() if isinstance(cache, KeyState))
        return Settled(tuple(caches.values()), tuple(asked), counts, looks, tuple(spared))

    def draw(self, attributes: Attributes) -> str:
        """A name as a plugin draws one for what it adds to each new Pod; "" where none does."""
        plugin = self._steps(ADMIT, attributes).drawing
        return plugin.draw() if plugin is not None else ""

    async def validate(self, attributes: Attributes, span: Span, alike: Alike | None = None) -> None:
        """What is settled of a Pod that is `alike` others is not asked again."""
        verdicts: Verdicts = []
        span.detail["plugins"] = verdicts
        began, rejected = wall(), True
        try:
            if alike is None:
                await self._validate(attributes, verdicts)
            elif (settled := alike.known.validate) is not None and settled.holds:
                if settled.asked:
                    attributes.object = alike.read()
                await self._validate_alike(attributes, span, settled)
            else:
                attributes.object = alike.read()
                settled = self._settle(VALIDATE, attributes)
                await self._validate(attributes, verdicts)
                if settled.holds:
                    alike.known.validate = settled
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

    async def _validate_alike(self, attributes: Attributes, span: Span, settled: Settled) -> None:
        steps = self._steps(VALIDATE, attributes)
        began = wall()
        for plugin, durations, _ in settled.asked:
            try:
                await plugin.validate(attributes)
            except ApiError:
                span.detail["plugins"] = _until(steps.all, plugin)
                steps.count_until(plugin, settled.asked)
                for each in steps.until(plugin):
                    if each in settled.spared:
                        each.spare(attributes)
                settled.look()
                self._rejected(plugin, VALIDATE, attributes, wall() - began)
                raise
            ended = wall()
            durations.observe(ended - began)
            began = ended
        for plugin in settled.spared:
            plugin.spare(attributes)
        span.detail["plugins"] = steps.accepted
        settled.passed()

    def _rejected(self, plugin: Plugin, kind: str, attributes: Attributes, seconds: float) -> None:
        if plugin.name:
            self.metrics.controller(plugin.name, kind, attributes.operation, rejected=True).observe(seconds)


def _until(steps: Sequence[Step], refused: Plugin | None) -> Verdicts:
    """The verdicts of plugins that accept, as far as one that has refused, if any has."""
    verdicts: Verdicts = []
    for plugin, _, _ in steps:
        if plugin.name:
            verdicts.append({"name": plugin.name, "verdict": "refused" if plugin is refused else "accepted"})
        if plugin is refused:
            break
    return verdicts
