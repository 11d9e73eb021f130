"""The audit log: who asked for what, when, and what came of it, as an audit.k8s.io/v1 Policy wants it told."""

from engine.apiserver.audit.auditor import Auditor, Trail
from engine.apiserver.audit.policy import AuditPolicy
from engine.apiserver.audit.policy_file import AuditPolicyError, load_policy

__all__ = ["AuditPolicy", "AuditPolicyError", "Auditor", "Trail", "load_policy"]
