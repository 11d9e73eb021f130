"""Hop 02: who is asking. A union of authenticators; the first that knows the credential decides."""

from engine.apiserver.authentication.union import Authenticator, UnionAuthenticator
from engine.apiserver.authentication.user import UserInfo

__all__ = ["Authenticator", "UnionAuthenticator", "UserInfo"]
