"""What the options of `ktui up` say of auditing (apiserver pkg/server/options/audit.go)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.api.golang.text import quoted
from engine.apiserver.audit import AuditPolicyError, load_policy
from engine.apiserver.audit.policy import API_VERSION
from engine.apiserver.audit.webhook import BATCH, MODES
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.webhook_credentials import CredentialsError
from engine.config import AuditWebhookConfig
from engine.rng import Rng
from ktui.commands import UsageError
from ktui.commands.typed_flags import boolean, duration, integer, number
from ktui.server_flags import ServerFlags

_WEBHOOK = "audit_webhook_"


def audit_fields(options: ServerFlags) -> dict[str, Any]:
    """Raises UsageError for a policy that the server would not start with, and for what has no effect without one."""
    policy, log = options.audit_policy_file, options.audit_log_path
    webhook = audit_webhook(options)
    if not policy:
        for flag, given in (("audit-log-path", log), ("audit-webhook-config-file", webhook)):
            if given:
                raise UsageError(f"--{flag}: nothing is told without a policy: add --audit-policy-file")
        return {}
    try:
        load_policy(Path(policy))
    except AuditPolicyError as error:
        raise UsageError(f"--audit-policy-file: {error}") from error
    return {
        "audit_policy_file": Path(policy).absolute(),
        "audit_log_path": str(Path(log).absolute()) if log not in ("", "-") else log,
        "audit_webhook": webhook,
    }


def audit_webhook(options: ServerFlags) -> AuditWebhookConfig | None:
    """Raises UsageError."""
    if not options.audit_webhook_config_file:
        return None
    file = Path(options.audit_webhook_config_file).absolute()
    config = AuditWebhookConfig.model_construct(
        config_file=file,
        mode=options.audit_webhook_mode,
        initial_backoff=duration(options, f"{_WEBHOOK}initial_backoff"),
        batch_buffer_size=integer(options, f"{_WEBHOOK}batch_buffer_size"),
        batch_max_size=integer(options, f"{_WEBHOOK}batch_max_size"),
        batch_max_wait=duration(options, f"{_WEBHOOK}batch_max_wait"),
        batch_throttle_enable=boolean(options, f"{_WEBHOOK}batch_throttle_enable"),
        batch_throttle_qps=number(options, f"{_WEBHOOK}batch_throttle_qps"),
        batch_throttle_burst=integer(options, f"{_WEBHOOK}batch_throttle_burst"),
        truncate_enabled=boolean(options, f"{_WEBHOOK}truncate_enabled"),
        truncate_max_batch_size=integer(options, f"{_WEBHOOK}truncate_max_batch_size"),
        truncate_max_event_size=integer(options, f"{_WEBHOOK}truncate_max_event_size"),
    )
    if errors := [*_batch_errors(config), *_truncate_errors(config), *_version_errors(options.audit_webhook_version)]:
        raise UsageError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    try:
        KubeconfigWebhook(file, backoff=0, chance=Rng(0))
    except CredentialsError as error:
        raise UsageError(f"--audit-webhook-config-file: initializing audit webhook: {error}") from error
    return AuditWebhookConfig.model_validate(config.model_dump())


def _batch_errors(config: AuditWebhookConfig) -> list[str]:
    """The first of what is wrong, as upstream tells no more."""
    if config.mode not in MODES:
        return [f"invalid audit webhook mode {config.mode}, allowed modes are {quoted(','.join(MODES))}"]
    if config.mode != BATCH:
        return []
    checked: list[tuple[str, float]] = [
        ("buffer size", config.batch_buffer_size),
        ("max batch size", config.batch_max_size),
    ]
    if config.batch_throttle_enable:
        checked += [("throttle QPS", config.batch_throttle_qps), ("throttle burst", config.batch_throttle_burst)]
    wrong = [
        f"invalid audit batch webhook {what} {value:g}, must be a positive number"
        for what, value in checked
        if value <= 0
    ]
    return wrong[:1]


def _truncate_errors(config: AuditWebhookConfig) -> list[str]:
    event, batch = config.truncate_max_event_size, config.truncate_max_batch_size
    if event <= 0:
        return [f"invalid audit truncate webhook max event size {event}, must be a positive number"]
    if batch < event:
        return [f"invalid audit truncate webhook max batch size {batch}, must be greater than max event size ({event})"]
    return []


def _version_errors(version: str) -> list[str]:
    if version.count("/") > 1:
        return [f"unexpected GroupVersion string: {version}"]
    return [] if version == API_VERSION else [f"invalid group version, allowed versions are [{quoted(API_VERSION)}]"]
