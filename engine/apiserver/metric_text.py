"""Prometheus' text format (version 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.metrics import Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metric(name: str, kind: str, samples: Sequence[Sample], help: str) -> Iterator[str]:
    """The lines of one metric; none where there are no samples."""
    if not samples:
        return
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
    for labels, value, suffix in samples:
        shown = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items())
        yield f"{name}{suffix}{{{shown}}} {value}" if shown else f"{name}{suffix} {value}"
