"""Simulated latency: how long each step would take in a real cluster (design, section 6).

`instant` takes no model time at all. `realistic` draws each latency between the bounds of the design's table of hops.
A custom profile is a YAML mapping of the same names to `[low, high]` in milliseconds; names it lacks are instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from engine.clock import Clock, wall
from engine.rng import Rng
from engine.trace import current_span

# Milliseconds, low and high.
REALISTIC: Mapping[str, tuple[float, float]] = {
    "client": (4, 6),
    "authentication": (1.5, 2.5),
    "authorization": (0.7, 1.3),
    "mutating-admission": (5, 15),
    "schema": (0.7, 1.3),
    "validating-admission": (5, 12),
    "store": (3, 10),
    "watch": (0.1, 0.9),
    "controller": (50, 200),
    "scheduler": (10, 80),
    "network": (50, 500),
    "cri-sandbox": (150, 400),
    "cni-add": (40, 90),
    "cri-create": (30, 80),
    "cri-start": (80, 250),
    "cri-stop": (20, 60),
    "cri-remove": (20, 60),
    "cri-update": (5, 20),
    # An image pull is `image-pull` once plus `image-pull-mib` for every MiB of the image.
    "image-pull": (300, 600),
    "image-pull-mib": (8, 16),
}
PROFILES: Mapping[str, Mapping[str, tuple[float, float]]] = {"instant": {}, "realistic": REALISTIC}


class ProfileError(ValueError):
    """A latency profile that cannot be used; the message names the file and what is wrong with it."""


def load_profile(file: Path) -> dict[str, tuple[float, float]]:
    """Read a custom profile: a YAML mapping of the names of `REALISTIC` to `[low, high]` milliseconds.

    Raises ProfileError.
    """
    try:
        steps = yaml.safe_load(file.read_text())
    except OSError as error:
        raise ProfileError(f"cannot read the latency profile {file}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ProfileError(f"the latency profile {file} is not YAML: {error}") from error
    if not isinstance(steps, dict):
        raise ProfileError(f"the latency profile {file} is not a mapping of steps to [low, high] milliseconds")
    return {str(step): _bounds(file, str(step), bounds) for step, bounds in steps.items()}


def _bounds(file: Path, step: str, bounds: object) -> tuple[float, float]:
    if step not in REALISTIC:
        raise ProfileError(f"{file}: there is no step {step!r}; there are: {', '.join(REALISTIC)}")
    match bounds:
        case [int() | float() as low, int() | float() as high] if 0 <= low <= high:
            return float(low), float(high)
    raise ProfileError(f"{file}: {step} is not [low, high] milliseconds: {bounds!r}")


class Latency:
    """Draws and waits out the simulated latencies of a profile."""

    def __init__(
        self, clock: Clock, rng: Rng, profile: Mapping[str, tuple[float, float]], *, name: str = "custom"
    ) -> None:
        self.name = name
        self._clock = clock
        self._rng = rng
        self._profile = profile

    def draw(self, step: str, times: float = 1.0) -> float:
        """Model seconds for a step, `times` as long as one; 0.0 where the profile has none."""
        bounds = self._profile.get(step)
        return self._rng.uniform(*bounds) * times / 1000 if bounds else 0.0

    def hand_over(self, step: str) -> tuple[float, float] | None:
        """Leave a step to somebody who knows better how long it takes; its bounds in milliseconds, if it has any."""
        bounds = self._profile.get(step)
        self._profile = {name: of for name, of in self._profile.items() if name != step}
        return bounds

    def is_over_at_once(self, step: str) -> bool:
        """Whether `pause` would not wait: the profile has no latency for a step, and the clock runs."""
        return step not in self._profile and self._clock.speed > 0

    async def pause(self, step: str, times: float = 1.0) -> float:
        """Wait a step out on the model clock and book it to the open span and those around it; its model seconds.

        A step that takes no time waits as well while the clock is paused, or a pause would stop nothing of a profile
        without latencies.
        """
        seconds = self.draw(step, times) if step in self._profile else 0.0
        if seconds or not self._clock.speed:
            await self.wait(seconds)
        return seconds

    async def wait(self, seconds: float) -> None:
        """Wait out a latency that was drawn before, booked as in `pause`."""
        span, began = current_span(), wall()
        try:
            await self._clock.reach(self._clock.monotonic() + seconds)
        finally:
            slept = wall() - began
            while span is not None:
                span.model_ms += seconds * 1000
                span.slept_s += slept
                span = span.outer
