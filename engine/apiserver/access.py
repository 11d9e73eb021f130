"""Who may ask for what: the authenticators and the authorizers of an API server, in their order (pkg/kubeapiserver
authenticator/config.go, authorizer/config.go)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.api.resources import ResourceRegistry
from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, ROLE_BINDINGS, ROLES
from engine.apiserver.authentication import Authenticator, UnionAuthenticator
from engine.apiserver.authentication.bootstrap_tokens import BootstrapTokenAuthenticator
from engine.apiserver.authentication.legacy_tokens import LegacyTokens
from engine.apiserver.authentication.request_header import RequestHeaderAuthenticator
from engine.apiserver.authentication.token_file import TokenFileAuthenticator, read_tokens
from engine.apiserver.authentication.tokens import ServiceAccountAuthenticator, TokenIssuer
from engine.apiserver.authentication.x509 import X509Authenticator
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.authorization.always import AlwaysAllow, AlwaysDeny
from engine.apiserver.authorization.attributes import Authorizer
from engine.apiserver.authorization.nodes import NodeAuthorizer
from engine.apiserver.authorization.policy_objects import node_rules
from engine.apiserver.authorization.rbac import RBACAuthorizer
from engine.apiserver.authorization.union import PrivilegedGroups
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.apiserver.metrics.certificate_metrics import certificate_lifetimes
from engine.apiserver.metrics.token_metrics import TokenMetrics
from engine.apiserver.storage import StorageLookup
from engine.clock import Clock
from engine.config import ClusterConfig


class Access:
    """`authenticator` is asked of every request; `tokens` are those that this server signs, `further` what else a
    bearer token may be. `rbac` is the one of the authorizers that reviews ask for all that somebody may."""

    def __init__(
        self,
        caches: WatchCaches,
        lookup: StorageLookup,
        resources: ResourceRegistry,
        *,
        cache: Callable[[GVR], WatchCache],
        config: ClusterConfig,
        release: tuple[int, int],
        clock: Clock,
        issuer: TokenIssuer,
        loopback: Loopback,
        authenticators: Sequence[Authenticator],
    ) -> None:
        """`cache` gives a resource's; `authenticators` come after those there always are. Raises TokenFileError."""
        self.token_metrics = TokenMetrics()
        self.certificate_lifetimes = certificate_lifetimes()
        legacy = LegacyTokens(lookup, loopback, clock, self.token_metrics, release=release)
        self.tokens = ServiceAccountAuthenticator(issuer, lookup, legacy, self.token_metrics)
        from_file = config.token_auth_file
        others = (
            *([TokenFileAuthenticator(read_tokens(from_file))] if from_file is not None else ()),
            BootstrapTokenAuthenticator(lookup, clock),
            *authenticators,
        )
        certificates = X509Authenticator(release, Clock(), self.certificate_lifetimes)
        headers = config.request_headers
        proxies = (RequestHeaderAuthenticator(headers),) if headers.client_ca else ()
        self.authenticator = UnionAuthenticator(
            (*proxies, certificates, self.tokens, *others), anonymous=config.anonymous_auth
        )
        self.further = UnionAuthenticator(others, anonymous=False)
        self.rbac = RBACAuthorizer(
            roles=cache(ROLES),
            role_bindings=cache(ROLE_BINDINGS),
            cluster_roles=cache(CLUSTER_ROLES),
            cluster_role_bindings=cache(CLUSTER_ROLE_BINDINGS),
        )
        modes: dict[str, Authorizer] = {
            "Node": NodeAuthorizer(caches, lookup, resources, rules=node_rules(release)),
            "RBAC": self.rbac,
            "AlwaysAllow": AlwaysAllow(),
            "AlwaysDeny": AlwaysDeny(),
        }
        chosen = (modes[mode] for mode in config.authorization_mode)
        self.authorizer = UnionAuthorizer((PrivilegedGroups(), *chosen))
