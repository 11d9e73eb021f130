"""Prometheus' text format (version 0.0.4), for /metrics of the API server and of kubelets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from engine.api.golang.floats import shown_float
from engine.metrics import Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metric(name: str, kind: str, samples: Sequence[Sample], help: str) -> Iterator[str]:
    """The lines of one metric; none where there are no samples."""
    if not samples:
        return
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
    for labels, value, suffix, taken in samples:
        shown = ",".join([_label(label, text) for label, text in labels.items()])
        # Nearly all are small whole numbers, which are written at once.
        number = str(int(value)) if abs(value) < 1e6 and value == int(value) else shown_float(float(value))
        if taken is not None:
            number = f"{number} {taken}"
        yield f"{name}{suffix}{{{shown}}} {number}" if shown else f"{name}{suffix} {number}"


@lru_cache(maxsize=4096)
def _label(label: str, text: str) -> str:
    """A page has the same few labels thousands of times over, and the next page has them again."""
    return f'{label}="{text.translate(_ESCAPES)}"'
