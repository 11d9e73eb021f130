"""How long a change of one Pod may wait for more (as --endpointslice-updates-batch-period lets upstream wait).

What a reconcile costs grows with the Pods that it looks at. Where there are many, their changes are taken up together:
else a rollout of n Pods would cost n * n.
"""

from __future__ import annotations

AT_ONCE = 20
SECONDS_FOR_EACH = 0.001
LONGEST = 1.0


def batch_period(pods: int) -> float:
    """Seconds to wait after a change of one of so many Pods; a few are looked at without delay."""
    return min(pods * SECONDS_FOR_EACH, LONGEST) if pods > AT_ONCE else 0.0
