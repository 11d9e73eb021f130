"""The kernel that every simulated node runs: what its Node object says, and what `uname` says in its containers."""

from __future__ import annotations

RELEASE = "6.12.0-simulated"
VERSION = "#1 SMP PREEMPT_DYNAMIC"
