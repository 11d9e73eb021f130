"""The flags of a kube-apiserver that `ktui up` takes under their own names, all texts: defined once, for the command
line, for who starts an engine and for who configures a cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Annotated, Any

import typer

_FILE = "FILE"


def _flag(metavar: str, told: str, default: str = "") -> str:
    return field(default=default, metadata={"metavar": metavar, "help": told})


@dataclass(frozen=True, slots=True)
class ServerFlags:
    audit_policy_file: str = _flag(_FILE, "An audit policy (audit.k8s.io/v1): which requests are told of.")
    audit_log_path: str = _flag(_FILE, "Where they are told of, as lines of JSON; - for standard output.")
    audit_webhook_config_file: str = _flag(_FILE, "A kubeconfig: of a server that is told of them as well.")
    audit_webhook_mode: str = _flag("MODE", "batch, or blocking, or blocking-strict.", "batch")
    audit_webhook_batch_buffer_size: str = _flag("N", "How many events may wait.", "10000")
    audit_webhook_batch_max_size: str = _flag("N", "How many are sent at once.", "400")
    audit_webhook_batch_max_wait: str = _flag("DURATION", "After which fewer are sent.", "30s")
    audit_webhook_batch_throttle_enable: str = _flag("BOOL", "Whether the rate of batches is limited.", "true")
    audit_webhook_batch_throttle_qps: str = _flag("N", "Batches in a second.", "10")
    audit_webhook_batch_throttle_burst: str = _flag("N", "Batches at once.", "15")
    audit_webhook_initial_backoff: str = _flag("DURATION", "Before what failed is sent again.", "10s")
    audit_webhook_truncate_enabled: str = _flag("BOOL", "Whether large events are shortened.", "false")
    audit_webhook_truncate_max_batch_size: str = _flag("BYTES", "Of what is sent at once.", "10485760")
    audit_webhook_truncate_max_event_size: str = _flag("BYTES", "Of one event.", "102400")
    audit_webhook_version: str = _flag("VERSION", "In which they are told.", "audit.k8s.io/v1")
    enable_admission_plugins: str = _flag("NAMES", "Besides those that are on by default, as in AlwaysPullImages.")
    disable_admission_plugins: str = _flag("NAMES", "Of those that are on by default, as in PodSecurity,Priority.")
    admission_control_config_file: str = _flag(_FILE, "An AdmissionConfiguration: of PodSecurity, webhooks and others.")
    authorization_mode: str = _flag(
        "MODES", "Who is asked what one may: of Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny.", "Node,RBAC"
    )
    authorization_config: str = _flag(_FILE, "An AuthorizationConfiguration, which says it instead.")
    authorization_policy_file: str = _flag(_FILE, "Policies of ABAC, one a line.")
    authorization_webhook_config_file: str = _flag(_FILE, "A kubeconfig: of the server that Webhook asks.")
    authorization_webhook_version: str = _flag("VERSION", "Of the reviews it is sent: v1 or v1beta1.", "v1beta1")
    authorization_webhook_cache_authorized_ttl: str = _flag("DURATION", "How long a yes of it holds.", "5m0s")
    authorization_webhook_cache_unauthorized_ttl: str = _flag("DURATION", "How long a no of it holds.", "30s")
    authentication_token_webhook_config_file: str = _flag(_FILE, "A kubeconfig: of a server that knows tokens.")
    authentication_token_webhook_version: str = _flag("VERSION", "Of the reviews it is sent.", "v1beta1")
    authentication_token_webhook_cache_ttl: str = _flag("DURATION", "How long a yes of it holds.", "2m0s")
    anonymous_auth: str = _flag("BOOL", "Whether who shows no credential is anonymous; false refuses them.", "true")
    authentication_config: str = _flag(_FILE, "An AuthenticationConfiguration: issuers of JWTs, and who is anonymous.")
    oidc_issuer_url: str = _flag("URL", "Of an issuer of tokens; https only.")
    oidc_client_id: str = _flag("ID", "Whom its tokens must be for.")
    oidc_ca_file: str = _flag(_FILE, "CA of that issuer. Default: those of this machine.")
    oidc_username_claim: str = _flag("CLAIM", "Which tells the user's name.", "sub")
    oidc_username_prefix: str = _flag(
        "PREFIX", "Put before it; - for none. Default: the issuer's URL and #, unless the claim is email."
    )
    oidc_groups_claim: str = _flag("CLAIM", "Which tells the groups.")
    oidc_groups_prefix: str = _flag("PREFIX", "Put before them.")
    oidc_required_claim: str = _flag("CLAIMS", "What tokens must say, as in hd=example.com, with commas.")
    oidc_signing_algs: str = _flag("NAMES", "By which they may be signed.", "RS256")
    token_auth_file: str = _flag(_FILE, 'Tokens of users, as lines of token,name,uid,"group1,group2".')
    cors_allowed_origins: str = _flag(
        "PATTERNS", "Origins whose web pages may read answers, as in '//localhost(:|$)', with commas."
    )
    requestheader_client_ca_file: str = _flag(
        _FILE, "CA of proxies that say in headers for whom they ask. Default: the cluster's own front-proxy-ca."
    )
    requestheader_allowed_names: str = _flag(
        "NAMES", "Common names of such proxies; none allows all of that CA.", "front-proxy-client"
    )
    requestheader_username_headers: str = _flag("HEADERS", "Where proxies tell who asks.", "X-Remote-User")
    requestheader_uid_headers: str = _flag("HEADERS", "Where they tell the UID, as in X-Remote-Uid.")
    requestheader_group_headers: str = _flag("HEADERS", "Where they tell the groups.", "X-Remote-Group")
    requestheader_extra_headers_prefix: str = _flag(
        "PREFIXES", "How headers begin by which they tell more.", "X-Remote-Extra-"
    )
    proxy_client_cert_file: str = _flag(
        _FILE, "Shown to aggregated API servers. Default: the cluster's own front-proxy-client."
    )
    proxy_client_key_file: str = _flag(_FILE, "Key of that certificate.")

    def flags_given(self) -> Iterator[str]:
        """Those that are not as they are without, as words of a command line."""
        for each in fields(ServerFlags):
            if (value := getattr(self, each.name)) != each.default:
                yield f"--{each.name.replace('_', '-')}={value}"


def with_server_flags(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes them in place of its `**` parameter, as options of the command line."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    place = next(at for at, each in enumerate(own) if each.name == "store")
    given = [_parameter(each) for each in fields(ServerFlags)]
    parameters = [*own[:place], *given, *own[place:]]
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__dict__["__signature__"] = signature.replace(parameters=keywords)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(each: Field[Any]) -> inspect.Parameter:
    option = typer.Option(**each.metadata)
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=Annotated[str, option]
    )
