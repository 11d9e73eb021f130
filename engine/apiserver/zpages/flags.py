"""The flags of a kube-apiserver that would serve as this one does, with their values as pflag prints them.

Only those that this server knows of: what stands here is true of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine.apiserver.authentication.tokens import ISSUER
from engine.apiserver.fairness.levels import SEATS
from engine.apiserver.services.service_pools import NODE_PORTS, PortRange
from engine.config import AuditWebhookConfig, ClusterConfig, WebhookFile
from engine.folder import ClusterFolder

_MUTATING = 200


def flags(config: ClusterConfig, *, secure_port: int) -> dict[str, str]:
    endpoints = config.etcd_endpoints if config.store == "etcd" else ()
    sizes = (f"{resource}#{size}" for resource, size in sorted(config.watch_cache_sizes.items()))
    return {
        "admission-control-config-file": str(config.admission_control_config_file or ""),
        "advertise-address": config.host,
        "allow-privileged": "true",
        "anonymous-auth": str(config.anonymous_auth).lower(),
        "audit-log-path": config.audit_log_path,
        "audit-policy-file": str(config.audit_policy_file or ""),
        "audit-webhook-config-file": _file_of(config.audit_webhook),
        "audit-webhook-mode": config.audit_webhook.mode if config.audit_webhook else "batch",
        "authentication-config": str(config.authentication_config or ""),
        "authentication-token-webhook-config-file": str(
            config.token_webhook.config_file if config.token_webhook else ""
        ),
        "authorization-config": str(config.authorization_config or ""),
        "authorization-mode": _list(() if config.authorization_config is not None else config.authorization_mode),
        "authorization-policy-file": str(config.authorization_policy_file or ""),
        "authorization-webhook-config-file": _file_of(config.authorization_webhook),
        "cors-allowed-origins": _list(config.cors_allowed_origins),
        "default-watch-cache-size": str(config.watch_cache_size),
        "disable-admission-plugins": _list(config.disable_admission_plugins),
        "enable-admission-plugins": _list(config.enable_admission_plugins),
        "enable-bootstrap-token-auth": "true",
        "enable-priority-and-fairness": "true",
        "etcd-cafile": str(config.etcd_cafile or ""),
        "etcd-certfile": str(config.etcd_certfile or ""),
        "etcd-keyfile": str(config.etcd_keyfile or ""),
        "etcd-servers": _list(endpoints),
        "event-ttl": "1h0m0s",
        "max-mutating-requests-inflight": str(_MUTATING),
        "max-requests-inflight": str(SEATS - _MUTATING),
        "profiling": "false",
        "secure-port": str(secure_port),
        **_proxies(config),
        "service-account-issuer": _list((ISSUER,)),
        "service-cluster-ip-range": config.service_cidr,
        "service-node-port-range": PortRange(NODE_PORTS).span,
        "token-auth-file": str(config.token_auth_file or ""),
        "watch-cache": "true",
        "watch-cache-sizes": _list(sizes),
    }


def _proxies(config: ClusterConfig) -> dict[str, str]:
    headers = config.request_headers
    if not headers.client_ca:
        return {}
    pki = ClusterFolder(config.data_folder).pki if config.data_folder is not None else Path()
    return {
        "proxy-client-cert-file": str(config.proxy_client_cert_file or pki / "front-proxy-client.crt"),
        "proxy-client-key-file": str(config.proxy_client_key_file or pki / "front-proxy-client.key"),
        "requestheader-allowed-names": _list(headers.allowed_names),
        "requestheader-client-ca-file": str(headers.client_ca_file or pki / "front-proxy-ca.crt"),
        "requestheader-extra-headers-prefix": _list(headers.extra_headers_prefix),
        "requestheader-group-headers": _list(headers.group_headers),
        "requestheader-uid-headers": _list(headers.uid_headers),
        "requestheader-username-headers": _list(headers.username_headers),
    }


def _file_of(webhook: WebhookFile | AuditWebhookConfig | None) -> str:
    return str(webhook.config_file) if webhook is not None else ""


def _list(values: Iterable[str]) -> str:
    return f"[{','.join(values)}]"
