"""Hop 03: may they. Authorizers in order; the first that allows or denies decides."""

from engine.apiserver.authorization.attributes import Attributes, Authorizer, Decision, Verdict
from engine.apiserver.authorization.union import AccessDenied, UnionAuthorizer, forbidden

__all__ = ["AccessDenied", "Attributes", "Authorizer", "Decision", "UnionAuthorizer", "Verdict", "forbidden"]
