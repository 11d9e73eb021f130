"""Who may ask for what: the authenticators and the authorizers of an API server, in their order (pkg/kubeapiserver
authenticator/config.go, authorizer/config.go)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.api.resources import ResourceRegistry
from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, ROLE_BINDINGS, ROLES, Object
from engine.apiserver.authentication import Authenticator, UnionAuthenticator
from engine.apiserver.authentication.bootstrap_tokens import BootstrapTokenAuthenticator
from engine.apiserver.authentication.legacy_tokens import LegacyTokens
from engine.apiserver.authentication.request_header import RequestHeaderAuthenticator
from engine.apiserver.authentication.token_file import TokenFileAuthenticator, read_tokens
from engine.apiserver.authentication.tokens import ISSUER, ServiceAccountAuthenticator, TokenIssuer
from engine.apiserver.authentication.webhook_tokens import WebhookTokenAuthenticator
from engine.apiserver.authentication.x509 import X509Authenticator
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.authorization.abac import AbacAuthorizer, read_policies
from engine.apiserver.authorization.always import AlwaysAllow, AlwaysDeny
from engine.apiserver.authorization.attributes import Authorizer
from engine.apiserver.authorization.authorizers import ConfiguredAuthorizers
from engine.apiserver.authorization.nodes import NodeAuthorizer
from engine.apiserver.authorization.policy_objects import node_rules
from engine.apiserver.authorization.rbac import RBACAuthorizer
from engine.apiserver.authorization.union import PrivilegedGroups
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.config_files import ConfigFileError
from engine.apiserver.identity_lease import apiserver_id
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.loopback import Loopback
from engine.apiserver.metrics.certificate_metrics import certificate_lifetimes
from engine.apiserver.metrics.reload_metrics import ReloadMetrics
from engine.apiserver.metrics.token_metrics import TokenMetrics
from engine.apiserver.storage import StorageLookup
from engine.clock import Clock
from engine.config import ClusterConfig, WebhookFile
from engine.metrics import Family
from engine.rng import Rng
from engine.tasks import Supervisor

if TYPE_CHECKING:
    from engine.apiserver.authentication.jwt.authenticators import JwtAuthenticators
    from engine.apiserver.authorization.webhook import WebhookSettings
    from engine.apiserver.authorization.webhook_metrics import WebhookMetrics

_BACKOFF = 0.5  # seconds before a webhook that failed is asked again (DefaultAuthWebhookRetryBackoff)


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
        chance: Rng,
        loopback: Loopback,
        authenticators: Sequence[Authenticator],
    ) -> None:
        """`cache` gives a resource's; `authenticators` come after those there always are. Raises TokenFileError,
        ConfigFileError, PolicyFileError, CredentialsError."""
        self._clock = clock
        self._chance = chance
        self.token_metrics = TokenMetrics()
        self.certificate_lifetimes = certificate_lifetimes()
        legacy = LegacyTokens(lookup, loopback, clock, self.token_metrics, release=release)
        self.tokens = ServiceAccountAuthenticator(issuer, lookup, legacy, self.token_metrics)
        self.authentication_reloads = ReloadMetrics("authentication", apiserver_id(config.name))
        configured = self._configured(config)
        self.jwt = self._jwt(configured, config, clock)
        said = configured.get("anonymous")
        # Who is nobody in particular is not let do everything (BuiltInAuthenticationOptions, ApplyAuthorization).
        by_modes = config.authorization_config is None
        allowed = config.anonymous_auth and not (by_modes and "AlwaysAllow" in config.authorization_mode)
        anonymous = allowed if said is None else bool(said.get("enabled"))
        paths = [each.get("path") or "" for each in (said or {}).get("conditions") or ()]
        self.anonymous = anonymous and not paths  # everywhere
        from_file = config.token_auth_file
        others = (
            *([TokenFileAuthenticator(read_tokens(from_file))] if from_file is not None else ()),
            BootstrapTokenAuthenticator(lookup, clock),
            *([self.jwt] if self.jwt is not None else ()),
            *([self._token_webhook(config.token_webhook)] if config.token_webhook is not None else ()),
            *authenticators,
        )
        certificates = X509Authenticator(release, Clock(), self.certificate_lifetimes)
        headers = config.request_headers
        proxies = (RequestHeaderAuthenticator(headers),) if headers.client_ca else ()
        self.authenticator = UnionAuthenticator(
            (*proxies, certificates, self.tokens, *others), anonymous=anonymous, paths=paths
        )
        self.further = UnionAuthenticator(others, anonymous=False)
        self.rbac = RBACAuthorizer(
            roles=cache(ROLES),
            role_bindings=cache(ROLE_BINDINGS),
            cluster_roles=cache(CLUSTER_ROLES),
            cluster_role_bindings=cache(CLUSTER_ROLE_BINDINGS),
        )
        file = config.authorization_policy_file
        self.abac = AbacAuthorizer(read_policies(file)) if file is not None else None
        self._webhook_metrics: WebhookMetrics | None = None
        self.authorization_reloads = ReloadMetrics("authorization", apiserver_id(config.name))
        modes: dict[str, Authorizer] = {
            **({"ABAC": self.abac} if self.abac is not None else {}),
            "Node": NodeAuthorizer(caches, lookup, resources, rules=node_rules(release)),
            "RBAC": self.rbac,
            "AlwaysAllow": AlwaysAllow(),
            "AlwaysDeny": AlwaysDeny(),
        }
        self._by_mode = modes
        self.authorizer = self._authorizers(config)
        self.modes = config.authorization_mode  # which reviews of all that one may go by
        if isinstance(self.authorizer, ConfiguredAuthorizers):
            self.modes = tuple(self.authorizer.types)

    def _authorizers(self, config: ClusterConfig) -> UnionAuthorizer:
        if config.authorization_config is not None:
            reloads = self.authorization_reloads
            return ConfiguredAuthorizers(config.authorization_config, self._authorizer, reloads)
        asked = config.authorization_webhook
        if asked is not None:
            from engine.apiserver.authorization.webhook import WebhookSettings

            settings = WebhookSettings("webhook", asked.version, asked.authorized_ttl, asked.unauthorized_ttl)
            self._by_mode["Webhook"] = self._webhook(asked.config_file, settings)
        return UnionAuthorizer((PrivilegedGroups(), *(self._by_mode[mode] for mode in config.authorization_mode)))

    def _authorizer(self, said: Object) -> Authorizer:
        """Of an AuthorizationConfiguration. Raises ConfigFileError, CredentialsError."""
        if said["type"] != "Webhook":
            if (found := self._by_mode.get(said["type"])) is None:
                raise ConfigFileError(f"authorizer {said['type']} needs --authorization-policy-file")
            return found
        from engine.apiserver.authorization.configuration import kubeconfig_of, settings_of

        return self._webhook(kubeconfig_of(said), settings_of(said))

    def _webhook(self, kubeconfig: Path, settings: WebhookSettings) -> Authorizer:
        """Raises CredentialsError."""
        from engine.apiserver.authorization.webhook import WebhookAuthorizer
        from engine.apiserver.authorization.webhook_metrics import WebhookMetrics

        if self._webhook_metrics is None:
            self._webhook_metrics = WebhookMetrics()
        asked = KubeconfigWebhook(kubeconfig, backoff=_BACKOFF, chance=self._chance)
        return WebhookAuthorizer(asked, settings, self._clock, self._webhook_metrics)

    def _token_webhook(self, asked: WebhookFile) -> Authenticator:
        """Raises CredentialsError."""
        webhook = KubeconfigWebhook(asked.config_file, backoff=_BACKOFF, chance=self._chance)
        seconds = asked.authorized_ttl
        return WebhookTokenAuthenticator(webhook, ISSUER, self._clock, version=asked.version, seconds=seconds)

    def further_families(self) -> tuple[Family, ...]:
        """For /metrics, of webhooks that are asked what one may, and of other issuers."""
        configured = isinstance(self.authorizer, ConfiguredAuthorizers)
        reloads = self.authorization_reloads.families() if configured else ()
        issuers = self.jwt.metrics.families() if self.jwt is not None else ()
        return (*reloads, *issuers, *(self._webhook_metrics.families() if self._webhook_metrics is not None else ()))

    @staticmethod
    def _configured(config: ClusterConfig) -> Object:
        """An AuthenticationConfiguration, as a file has it or flags say."""
        if config.authentication_config is not None:
            from engine.apiserver.authentication.jwt.configuration import load_configuration

            return load_configuration(config.authentication_config, issuers=(ISSUER,))
        return {"jwt": [config.oidc]} if config.oidc is not None else {}

    def _jwt(self, found: Object, config: ClusterConfig, clock: Clock) -> JwtAuthenticators | None:
        file = config.authentication_config
        if file is None and not found:
            return None
        # With it comes CEL, which takes a while to load.
        from engine.apiserver.authentication.jwt.authenticators import JwtAuthenticators
        from engine.apiserver.authentication.jwt.provider import ALGORITHMS

        algorithms = ALGORITHMS if file is not None else config.oidc_signing_algs
        return JwtAuthenticators(
            found,
            clock,
            algorithms,
            file=file,
            issuers=(ISSUER,),
            metrics=self.authentication_reloads,
            identity=apiserver_id(config.name),
        )

    def start(self, tasks: Supervisor) -> None:
        if self.jwt is not None:
            self.jwt.start(tasks)
