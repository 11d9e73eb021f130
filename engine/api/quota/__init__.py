"""What objects take of a ResourceQuota (pkg/quota/v1): pure functions that admission and the controller share."""

from engine.api.pod_amounts import parsed
from engine.api.quota.amounts import Amounts, added, exceeded, grown, masked, shown
from engine.api.quota.constraints import missing_requests
from engine.api.quota.scopes import is_terminating, matches, matching_terms, terms
from engine.api.quota.usage import COMPUTE, concerns, usage

__all__ = [
    "COMPUTE",
    "Amounts",
    "added",
    "concerns",
    "exceeded",
    "grown",
    "is_terminating",
    "masked",
    "matches",
    "matching_terms",
    "missing_requests",
    "parsed",
    "shown",
    "terms",
    "usage",
]
