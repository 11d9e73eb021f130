"""What every component is given: time, chance, simulated latency, the tracer and the place to show its inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.clock import Clock
from engine.disks import Disks
from engine.latency import PROFILES, Latency
from engine.rng import Rng
from engine.streaming import Streams
from engine.trace import Tracer
from engine.views import Views


@dataclass(frozen=True, slots=True)
class World:
    clock: Clock
    rng: Rng
    tracer: Tracer
    latency: Latency
    views: Views
    streams: Streams = field(default_factory=Streams)
    disks: Disks = field(default_factory=Disks)

    @classmethod
    def create(
        cls,
        *,
        clock: Clock | None = None,
        seed: int | str | None = None,
        profile: str = "instant",
        latencies: Mapping[str, tuple[float, float]] | None = None,
    ) -> World:
        """A world of its own. `latencies` is a custom profile and then stands in place of the named one."""
        clock = clock or Clock()
        rng = Rng(seed)
        return cls(
            clock=clock,
            rng=rng,
            tracer=Tracer(clock, rng.stream("trace")),
            latency=Latency(
                clock,
                rng.stream("latency"),
                PROFILES[profile] if latencies is None else latencies,
                name=profile if latencies is None else "custom",
            ),
            views=Views(),
        )
