"""Lines of a log as klog heads them: how severe it is, when, which process, and where upstream writes it."""

from __future__ import annotations

import os
from datetime import datetime


def line(severity: str, now: datetime, place: str, text: str) -> str:
    """Without the end of the line; `severity` is I, W, E or F."""
    return f"{severity}{now:%m%d %H:%M:%S.%f} {os.getpid():7} {place}] {text}"
