"""RBAC objects as such: what rules grant, and what brings a role or a binding to grant at least what it should.

Pure: the API server's checks of escalation and its bootstrap policy share it with `kubectl auth reconcile`.
"""

from engine.api.rbac.coverage import uncovered
from engine.api.rbac.reconciliation import AUTOUPDATE, Plan, reconciled_binding, reconciled_role

__all__ = ["AUTOUPDATE", "Plan", "reconciled_binding", "reconciled_role", "uncovered"]
