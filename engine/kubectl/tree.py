"""All commands, in the order and under the headings in which kubectl lists them; each is loaded when it is used."""

from __future__ import annotations

from dataclasses import replace

from engine.kubectl.command import Command

VERBS = "engine.kubectl.verbs"


def _entry(name: str, short: str, place: str, *aliases: str) -> Command:
    """The entry of a command that is `place`, a module of VERBS and a name in it."""
    return Command(name=name, short=short, module=f"{VERBS}.{place}", aliases=aliases)


SECTIONS = {
    "Basic Commands (Beginner)": (
        _entry("create", "Create a resource from a file or from stdin", "generators:CREATE"),
        _entry(
            "expose",
            "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service",
            "expose:COMMAND",
        ),
        _entry("run", "Run a particular image on the cluster", "run:COMMAND"),
        _entry("set", "Set specific features on objects", "setting:COMMAND"),
    ),
    "Basic Commands (Intermediate)": (
        _entry("explain", "Get documentation for a resource", "explain:COMMAND"),
        _entry("get", "Display one or many resources", "get:COMMAND"),
        _entry("edit", "Edit a resource on the server", "edit:COMMAND"),
        _entry(
            "delete",
            "Delete resources by file names, stdin, resources and names, or by resources and label selector",
            "delete:COMMAND",
        ),
    ),
    "Deploy Commands": (
        _entry("rollout", "Manage the rollout of a resource", "rollout:COMMAND"),
        _entry("scale", "Set a new size for a deployment, replica set, or replication controller", "scale:COMMAND"),
        _entry(
            "autoscale",
            "Auto-scale a deployment, replica set, stateful set, or replication controller",
            "autoscale:COMMAND",
        ),
    ),
    "Cluster Management Commands": (
        _entry("certificate", "Modify certificate resources", "certificate:COMMAND"),
        _entry("cluster-info", "Display cluster information", "cluster_info:COMMAND"),
        _entry("top", "Display resource (CPU/memory) usage", "top:COMMAND"),
        _entry("cordon", "Mark node as unschedulable", "drain:CORDON"),
        _entry("uncordon", "Mark node as schedulable", "drain:UNCORDON"),
        _entry("drain", "Drain node in preparation for maintenance", "drain:DRAIN"),
        _entry("taint", "Update the taints on one or more nodes", "taint:COMMAND"),
    ),
    "Troubleshooting and Debugging Commands": (
        _entry("describe", "Show details of a specific resource or group of resources", "describe:COMMAND"),
        _entry("logs", "Print the logs for a container in a pod", "logs:COMMAND"),
        _entry("attach", "Attach to a running container", "exec:ATTACH"),
        _entry("exec", "Execute a command in a container", "exec:EXEC"),
        _entry("port-forward", "Forward one or more local ports to a pod", "port_forward:COMMAND"),
        _entry("proxy", "Run a proxy to the Kubernetes API server", "proxy:COMMAND"),
        _entry("cp", "Copy files and directories to and from containers", "cp:COMMAND"),
        _entry("auth", "Inspect authorization", "auth:COMMAND"),
        _entry("debug", "Create debugging sessions for troubleshooting workloads and nodes", "debug:COMMAND"),
        _entry("events", "List events", "events:COMMAND"),
    ),
    "Advanced Commands": (
        _entry("diff", "Diff the live version against a would-be applied version", "diff:COMMAND"),
        _entry("apply", "Apply a configuration to a resource by file name or stdin", "apply:COMMAND"),
        _entry("patch", "Update fields of a resource", "patch:COMMAND"),
        _entry("replace", "Replace a resource by file name or stdin", "replace:COMMAND"),
        _entry("wait", "Wait for a specific condition on one or many resources", "wait:COMMAND"),
        _entry("kustomize", "Build a kustomization target from a directory or URL", "kustomize:COMMAND"),
    ),
    "Settings Commands": (
        _entry("label", "Update the labels on a resource", "label:LABEL"),
        _entry("annotate", "Update the annotations on a resource", "label:ANNOTATE"),
        _entry(
            "completion",
            "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)",
            "shell:COMPLETION",
        ),
    ),
    "Other Commands": (
        _entry("api-resources", "Print the supported API resources on the server", "api_resources:RESOURCES"),
        _entry(
            "api-versions",
            'Print the supported API versions on the server, in the form of "group/version"',
            "api_resources:VERSIONS",
        ),
        _entry("config", "Modify kubeconfig files", "config:COMMAND"),
        _entry("kuberc", "Manage kuberc configuration files", "kuberc:COMMAND"),
        _entry("plugin", "Provides utilities for interacting with plugins", "plugin:COMMAND"),
        _entry("version", "Print the client and server version information", "version:COMMAND"),
        replace(_entry("alpha", "Commands for features in alpha", "shell:ALPHA"), hidden=True),
        replace(_entry("options", "Print the list of flags inherited by all commands", "shell:OPTIONS"), hidden=True),
    ),
}
ROOT = Command(
    name="",
    short="Control the Kubernetes cluster",
    usage="[flags]",
    children=tuple(replace(c, section=section) for section, commands in SECTIONS.items() for c in commands),
)
