"""What the options of `ktui up` say of who is asked what one may (pkg/kubeapiserver/options/authorization.go), and of a
server that is asked whose tokens are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.apiserver.authorization.abac import PolicyFileError, read_policies
from engine.apiserver.authorization.modes import mode_errors
from engine.apiserver.config_files import ConfigFileError
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.webhook_credentials import CredentialsError
from engine.config import WebhookFile
from engine.rng import Rng
from ktui.commands import UsageError
from ktui.commands.typed_flags import duration
from ktui.server_flags import ServerFlags

_LEGACY = ("authorization_mode", "authorization_webhook_config_file", "authorization_webhook_version",
           "authorization_webhook_cache_authorized_ttl", "authorization_webhook_cache_unauthorized_ttl")  # fmt: skip
_TOGETHER = (
    "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are "
    "defined"
)


def authorization_fields(options: ServerFlags) -> dict[str, Any]:
    """Raises UsageError."""
    fields: dict[str, Any] = {"token_webhook": _token_webhook(options)}
    policies = _policies(options)
    if options.authorization_config:
        defaults = ServerFlags()
        if any(getattr(options, name) != getattr(defaults, name) for name in _LEGACY):
            raise UsageError(_TOGETHER)
        file = _configuration(options, has_policies=policies is not None)
        return {**fields, "authorization_config": file, "authorization_policy_file": policies}
    modes = tuple(filter(None, options.authorization_mode.split(",")))
    webhook = options.authorization_webhook_config_file
    if errors := mode_errors(modes, policy_file=options.authorization_policy_file, webhook=webhook):
        raise UsageError(", ".join(errors))
    if webhook:
        fields["authorization_webhook"] = _webhook(
            "authorization-webhook-config-file",
            webhook,
            options.authorization_webhook_version,
            "authorizer",
            duration(options, "authorization_webhook_cache_authorized_ttl"),
            duration(options, "authorization_webhook_cache_unauthorized_ttl"),
        )
    return {**fields, "authorization_mode": modes, "authorization_policy_file": policies}


def _policies(options: ServerFlags) -> Path | None:
    if not options.authorization_policy_file:
        return None
    file = Path(options.authorization_policy_file).absolute()
    try:
        read_policies(file)
    except PolicyFileError as error:
        raise UsageError(f"--authorization-policy-file: {error}") from error
    return file


def _configuration(options: ServerFlags, *, has_policies: bool) -> Path:
    from engine.apiserver.authorization.configuration import WEBHOOK, kubeconfig_of, load_configuration  # loads CEL

    file = Path(options.authorization_config).absolute()
    try:
        for each in load_configuration(file)["authorizers"]:
            if each["type"] == WEBHOOK:
                KubeconfigWebhook(kubeconfig_of(each), backoff=0, chance=Rng(0))
            elif each["type"] == "ABAC" and not has_policies:
                raise ConfigFileError("authorizer ABAC needs --authorization-policy-file")
    except (ConfigFileError, CredentialsError) as error:
        raise UsageError(f"--authorization-config: {error}") from error
    return file


def _token_webhook(options: ServerFlags) -> WebhookFile | None:
    file = options.authentication_token_webhook_config_file
    if not file:
        return None
    version, seconds = (
        options.authentication_token_webhook_version,
        duration(options, "authentication_token_webhook_cache_ttl"),
    )
    return _webhook("authentication-token-webhook-config-file", file, version, "authentication", seconds, 0.0)


def _webhook(flag: str, path: str, version: str, what: str, authorized: float, unauthorized: float) -> WebhookFile:
    if version not in ("v1", "v1beta1"):
        named = "webhook authorizer" if what == "authorizer" else "authentication webhook"
        raise UsageError(f'unsupported {named} version "{version}", supported versions are "v1", "v1beta1"')
    file = Path(path).absolute()
    try:
        KubeconfigWebhook(file, backoff=0, chance=Rng(0))
    except CredentialsError as error:
        raise UsageError(f"--{flag}: {error}") from error
    said = {"config_file": file, "version": version, "authorized_ttl": authorized, "unauthorized_ttl": unauthorized}
    return WebhookFile.model_validate(said)
