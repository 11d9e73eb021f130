"""The Pod Security Standards: levels, the labels that choose them, and the checks (pod-security-admission)."""

from engine.api.pod_security.configuration import Configuration
from engine.api.pod_security.evaluation import Result, evaluate
from engine.api.pod_security.policy import PREFIX, PRIVILEGED, LevelVersion, Policy, policy_of

__all__ = ["PREFIX", "PRIVILEGED", "Configuration", "LevelVersion", "Policy", "Result", "evaluate", "policy_of"]
