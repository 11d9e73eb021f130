"""Tokens of service accounts that lie in Secrets, and what says when one of them was last used.

Source: pkg/serviceaccount/legacy.go and pkg/controlplane/controller/legacytokentracking (KEP-2799): a token that nobody
uses for a year is first marked as invalid and deleted after another.
"""

from __future__ import annotations

import re
from datetime import date, datetime

from engine.api.types import Object

TOKEN_SECRET = "kubernetes.io/service-account-token"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"
LAST_USED_LABEL = "kubernetes.io/legacy-token-last-used"
INVALID_SINCE_LABEL = "kubernetes.io/legacy-token-invalid-since"
# The ConfigMap in kube-system, and its key, that says since when uses are noted.
TRACKING_CONFIG_MAP = "kube-apiserver-legacy-service-account-token-tracking"
TRACKING_SINCE = "since"

LEGACY_SECONDS = 1 << 32  # how long such a token is asked for, the longest that there is: it has no end

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_legacy(bound: Object, seconds: int) -> bool:
    """Whether who asks for a token that is bound to an object wants one for a Secret to hold. Upstream's controller of
    such Secrets signs them itself; here it asks."""
    return seconds == LEGACY_SECONDS and bound["kind"] == "Secret" and bound.get("type") == TOKEN_SECRET


def written_date(at: datetime | date) -> str:
    """A day as labels and the ConfigMap have it; of two such texts the lesser is the earlier day."""
    return f"{at:%Y-%m-%d}"


def read_date(text: str | None) -> date | None:
    """None for what is no day, written as `written_date` does."""
    if text is None or not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def is_auto_generated(secret: str, account: Object) -> bool:
    """Whether an account lists the Secret of a name, as those were that were made for it unasked until 1.24."""
    return any(each.get("name") == secret for each in account.get("secrets") or ())
