"""Flags that many commands share. Names and defaults as in kubectl (cli-runtime pkg/genericclioptions, cmd/util)."""

from __future__ import annotations

from engine.kubectl.flags import Flag, Type

GLOBAL = (
    Flag("as", help="Username to impersonate for the operation."),
    Flag("as-group", Type.ARRAY, help="Group to impersonate for the operation; may be repeated."),
    Flag("as-uid", help="UID to impersonate for the operation."),
    Flag("as-user-extra", Type.ARRAY, help="User extras to impersonate for the operation."),
    Flag("cache-dir", help="Where discovery is cached."),
    Flag("certificate-authority", help="A file with the certificates of the authority."),
    Flag("client-certificate", help="A file with a client certificate."),
    Flag("client-key", help="A file with the client certificate's key."),
    Flag("cluster", help="The kubeconfig's cluster to use."),
    Flag("context", help="The kubeconfig's context to use."),
    Flag("disable-compression", Type.BOOL, help="Do not ask for compressed answers."),
    Flag("help", Type.BOOL, short="h", help="Show the command's help."),
    Flag("insecure-skip-tls-verify", Type.BOOL, help="Do not check the server's certificate."),
    Flag("kubeconfig", help="The kubeconfig file to use."),
    Flag("kuberc", help="The preferences file to use."),
    Flag("log-flush-frequency", Type.DURATION, default=5.0, help="How often the log is written out."),
    Flag("match-server-version", Type.BOOL, help="Require the server's version to match the client's."),
    Flag("namespace", short="n", help="The namespace to work in."),
    Flag("password", help="Password for basic authentication."),
    Flag("profile", default="none", help="Name of a profile to capture."),
    Flag("profile-output", default="profile.pprof", help="File of the profile."),
    Flag("request-timeout", default="0", help="How long to wait for one request."),
    Flag("server", short="s", help="Address and port of the API server."),
    Flag("tls-server-name", help="The name to check the server's certificate for."),
    Flag("token", help="Bearer token for the API server."),
    Flag("user", help="The kubeconfig's user to use."),
    Flag("username", help="Username for basic authentication."),
    Flag("v", Type.INT32, short="v", help="Verbosity of the log."),
    Flag("vmodule", help="Verbosity by file."),
    Flag("warnings-as-errors", Type.BOOL, help="Leave with an error when the server sends a warning."),
)

PRINT = (
    Flag("output", short="o", help="Output format: json, yaml, name, jsonpath, ..."),
    Flag("allow-missing-template-keys", Type.BOOL, default=True, help="Print nothing for fields that are missing."),
    Flag("show-managed-fields", Type.BOOL, help="Keep managedFields in what is printed."),
    Flag("template", help="The template of the output format."),
)


FILENAME = Flag("filename", Type.STRINGS, short="f", help="Files, folders or URLs that hold the resources.")


def filename(*, recursive: bool = False, kustomize: bool = True) -> tuple[Flag, ...]:
    """-f, -R and -k."""
    flags = (
        FILENAME,
        Flag("recursive", Type.BOOL, default=recursive, short="R", help="Descend into folders."),
    )
    return (*flags, Flag("kustomize", short="k", help="A folder with a kustomization.")) if kustomize else flags


SELECTOR = (Flag("selector", short="l", help="Label selector."),)
FIELD_SELECTOR = (Flag("field-selector", help="Field selector."),)
ALL = (Flag("all", Type.BOOL, help="Select all resources of the types."),)
ALL_NAMESPACES = (Flag("all-namespaces", Type.BOOL, short="A", help="Across all namespaces."),)
DRY_RUN = (Flag("dry-run", default="none", bare="unchanged", help='"none", "server" or "client".'),)
VALIDATE = (Flag("validate", default="strict", bare="strict", help='"strict", "warn" or "ignore".'),)
SAVE_CONFIG = (Flag("save-config", Type.BOOL, help="Keep the configuration in the object's annotation."),)


def field_manager(default: str) -> tuple[Flag, ...]:
    return (Flag("field-manager", default=default, help="The manager that owns the fields that are set."),)


def deletion(*, wait: bool) -> tuple[Flag, ...]:
    return (
        Flag("cascade", default="background", bare="background", help='"background", "orphan" or "foreground".'),
        Flag("force", Type.BOOL, help="Delete at once, without waiting for graceful ends."),
        Flag("grace-period", Type.INT, default=-1, help="Seconds that a resource is given to end."),
        Flag("timeout", Type.DURATION, help="How long to wait for the end; 0 takes it from the object."),
        Flag("wait", Type.BOOL, default=wait, help="Wait until the resources are gone."),
    )
