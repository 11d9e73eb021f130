"""What the options of `ktui up` say of tokens of other issuers (pkg/kubeapiserver/options/authentication.go)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.api.golang.text import quoted
from engine.apiserver.authentication.tokens import ISSUER
from engine.apiserver.config_files import ConfigFileError
from ktui.commands import UsageError
from ktui.server_flags import ServerFlags

_OIDC = "oidc_"


def jwt_fields(options: ServerFlags) -> dict[str, Any]:
    """Raises UsageError."""
    defaults = ServerFlags()
    names = [name for name in ServerFlags.__dataclass_fields__ if name.startswith(_OIDC)]
    given = any(getattr(options, name) != getattr(defaults, name) for name in names)
    if options.authentication_config:
        if given:
            raise UsageError("authentication-config file and oidc-* flags are mutually exclusive")
        return {"authentication_config": _configuration(options)}
    if not given:
        return {}
    if not (options.oidc_issuer_url and options.oidc_client_id):
        raise UsageError("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
    from engine.apiserver.authentication.jwt.configuration import check_configuration  # which loads CEL
    from engine.apiserver.authentication.jwt.provider import ALGORITHMS

    said, algorithms = _authenticator(options), tuple(options.oidc_signing_algs.split(","))
    try:
        check_configuration({"jwt": [said]}, issuers=(ISSUER,))
    except ConfigFileError as error:
        raise UsageError(str(error)) from error
    if (odd := next((each for each in algorithms if each not in ALGORITHMS), None)) is not None:
        raise UsageError(f"oidc: unsupported signing alg: {quoted(odd)}")
    return {"oidc": said, "oidc_signing_algs": algorithms}


def _configuration(options: ServerFlags) -> Path:
    from engine.apiserver.authentication.jwt.configuration import load_configuration

    file = Path(options.authentication_config).absolute()
    try:
        found = load_configuration(file, issuers=(ISSUER,))
    except ConfigFileError as error:
        raise UsageError(f"--authentication-config: {error}") from error
    if found.get("anonymous") is not None and options.anonymous_auth != "true":
        raise UsageError(
            "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in "
            "authentication configuration file"
        )
    for each in found.get("jwt") or ():
        if selector := each["issuer"].get("egressSelectorType"):
            why = f"oidc: egress lookup required with egress selector type {quoted(selector)}"
            raise UsageError(f"--authentication-config: {why}")
    return file


def _authenticator(options: ServerFlags) -> dict[str, Any]:
    prefix = options.oidc_username_prefix
    if not prefix and options.oidc_username_claim != "email":
        prefix = f"{options.oidc_issuer_url}#"
    elif prefix == "-":
        prefix = ""
    issuer: dict[str, Any] = {"url": options.oidc_issuer_url, "audiences": [options.oidc_client_id]}
    if options.oidc_ca_file:
        file = Path(options.oidc_ca_file).absolute()
        try:
            issuer["certificateAuthority"] = file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
            raise UsageError(f"--oidc-ca-file: open {file}: {why}") from error
    mappings: dict[str, Any] = {"username": {"claim": options.oidc_username_claim, "prefix": prefix}}
    if options.oidc_groups_claim:
        mappings["groups"] = {"claim": options.oidc_groups_claim, "prefix": options.oidc_groups_prefix}
    rules = []
    for pair in filter(None, options.oidc_required_claim.split(",")):
        claim, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--oidc-required-claim: malformed pair, expect string=string: {pair}")
        rules.append({"claim": claim.strip(), "requiredValue": value.strip()})
    return {"issuer": issuer, "claimMappings": mappings, "claimValidationRules": rules}
