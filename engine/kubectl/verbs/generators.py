"""`create KIND NAME`: objects made from flags.

Source of the behaviour: kubectl pkg/cmd/create (create_deployment.go and its sisters). Fields that Go's types always
write, empty as they are, are written here too.
"""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from typing import Any

from engine.api.quantity import Quantity, QuantityError
from engine.api.types import Object
from engine.api.validation.text import dns_subdomain, port_name
from engine.kubectl.arguments import split_arguments
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT
from engine.kubectl.name_hash import with_hash
from engine.kubectl.random_letters import random_letters
from engine.kubectl.scheme import check_registered
from engine.kubectl.session import Session
from engine.kubectl.verbs import access_rules, create, ingress_rules, secrets
from engine.kubectl.verbs.create import COMMON, Build, acting, create_built, named
from engine.kubectl.verbs.data_sources import literals
from engine.kubectl.verbs.generator_usage import USAGE
from engine.kubectl.verbs.token import create_token

RBAC = "rbac.authorization.k8s.io"


def _object(api_version: str, kind: str, name: str, **fields: Any) -> Object:
    metadata: dict[str, Any] = {"name": name} if name else {}
    if labels := fields.pop("labels", None):
        metadata["labels"] = labels
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _words_after_dash(session: Session) -> list[str]:
    return session.arguments[session.dash :] if session.dash >= 0 else []


def container_name(image: str) -> str:
    """The last part of the image's path, without tag and digest; unique by letters where it had to be changed."""
    name = image.rsplit("/", 1)[-1].split("@")[0].split(":")[0]
    return f"{re.sub('[_.]', '-', name)}-{random_letters()}" if re.search("[_.]", name) else name


def _deployment(session: Session, name: str) -> Object:
    images, command = session.flags.many("image"), _words_after_dash(session)
    if len(images) > 1 and command:
        raise CommandError("cannot specify multiple --image options and command")
    containers: list[Object] = []
    for image in images:
        container: Object = {"name": container_name(image), "image": image, "resources": {}}
        if command:
            container["command"] = command
        containers.append(container)
    if (port := session.flags.number("port")) >= 0 and containers:
        containers[0]["ports"] = [{"containerPort": port}]
    labels = {"app": name}
    spec = {
        "replicas": session.flags.number("replicas"),
        "selector": {"matchLabels": labels},
        "strategy": {},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }
    return _object("apps/v1", "Deployment", name, labels=labels, spec=spec, status={})


def _namespace(session: Session, name: str) -> Object:
    return _object("v1", "Namespace", name, spec={}, status={})


def _service_account(session: Session, name: str) -> Object:
    return _object("v1", "ServiceAccount", name)


async def _job(session: Session, name: str) -> None:
    image, source = session.flags.text("image"), session.flags.text("from")
    if bool(image) == bool(source):
        raise CommandError("either --image or --from must be specified")
    if source and _words_after_dash(session):
        raise CommandError("cannot specify --from and command")
    await create_built(session, await _job_of(session, name, source) if source else _plain_job(session, name))


def _plain_job(session: Session, name: str) -> Object:
    return _object("batch/v1", "Job", name, spec={"template": _job_template(session, name, "Never")}, status={})


async def _job_of(session: Session, name: str, source: str) -> Object:
    """A Job as the CronJob that `--from` names would make it."""
    pairs, types, _ = split_arguments([source], session.program)
    for word in types:
        await session.resolve(word)
        raise CommandError("resource(s) were provided, but no name was specified")
    resource = await session.resolve(pairs[0][0])
    cron_job = await session.get(resource, pairs[0][1], session.namespace)
    check_registered(resource.gvk)
    if cron_job["kind"] != "CronJob":
        raise CommandError(f"unknown object type *{resource.gvr.version}.{cron_job['kind']}")
    metadata, template = cron_job["metadata"], cron_job["spec"]["jobTemplate"]
    owner = {
        "apiVersion": "batch/v1",
        "controller": True,
        "kind": "CronJob",
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    job = _object("batch/v1", "Job", name, spec=template["spec"], status={})
    annotations = {"cronjob.kubernetes.io/instantiate": "manual", **(template["metadata"].get("annotations") or {})}
    job["metadata"].update(annotations=annotations, ownerReferences=[owner])
    if labels := template["metadata"].get("labels"):
        job["metadata"]["labels"] = labels
    return job


def _cron_job(session: Session, name: str) -> Object:
    restart = session.flags.text("restart") or "OnFailure"
    template = {"metadata": {"name": name}, "spec": {"template": _job_template(session, name, restart)}}
    spec = {"jobTemplate": template, "schedule": session.flags.text("schedule")}
    return _object("batch/v1", "CronJob", name, spec=spec, status={})


def _job_template(session: Session, name: str, restart: str) -> Object:
    image = session.flags.text("image")
    container: Object = {"name": name, **({"image": image} if image else {}), "resources": {}}
    if command := _words_after_dash(session):
        container["command"] = command
    return {"metadata": {}, "spec": {"containers": [container], "restartPolicy": restart}}


# -- configuration


def _config_map(session: Session, name: str) -> Object:
    fields: dict[str, Any] = {}
    for key, value in literals(session, "ConfigMap", name).items():
        try:
            fields.setdefault("data", {})[key] = value.decode()
        except UnicodeDecodeError:
            fields.setdefault("binaryData", {})[key] = base64.b64encode(value).decode()
    return _hashed(session, _object("v1", "ConfigMap", name, **fields))


def _secret(session: Session, name: str) -> Object:
    fields: dict[str, Any] = {}
    if data := literals(session, "Secret", name):
        fields["data"] = {key: base64.b64encode(value).decode() for key, value in data.items()}
    if kind := session.flags.text("type"):
        fields["type"] = kind
    return _hashed(session, _object("v1", "Secret", name, **fields))


def _hashed(session: Session, obj: Object) -> Object:
    return with_hash(obj) if session.flags.on("append-hash") else obj


# -- services


def service_ports(specs: list[str]) -> list[Object]:
    """The ports of `--tcp PORT[:TARGET]`. Raises CommandError."""
    ports: list[Object] = []
    for spec in specs:
        port, colon, target = spec.partition(":")
        if not port.isdigit() or int(port) > 65535:
            why = "value out of range" if port.isdigit() else "invalid syntax"
            raise CommandError(f'strconv.ParseUint: parsing "{port}": {why}')
        value = _target_port(target.partition(":")[0]) if colon else int(port)
        ports.append({"name": spec.replace(":", "-"), "port": int(port), "protocol": "TCP", "targetPort": value})
    return ports


def _target_port(text: str) -> int | str:
    """A number or a port's name. Raises CommandError."""
    if re.fullmatch(r"[+-]?\d+", text):
        if not 1 <= int(text) <= 65535:
            raise CommandError("must be between 1 and 65535, inclusive")
        return int(text)
    problems = port_name(text)
    if problems:
        raise CommandError(",".join(problems))
    return text


def _service(kind: str) -> Build:
    def build(session: Session, name: str) -> Object:
        flags = session.flags
        if kind == "ExternalName" and dns_subdomain(flags.text("external-name")):
            raise CommandError(f"invalid service external name {flags.text('external-name')}")
        labels = {"app": name}
        spec: Object = {"selector": labels, "type": kind}
        if ports := service_ports(flags.many("tcp")):
            spec["ports"] = ports
        cluster_ip = flags.text("clusterip") if "clusterip" in flags else ""
        if cluster_ip:
            spec["clusterIP"] = cluster_ip
        if kind == "ExternalName":
            spec["externalName"] = flags.text("external-name")
        elif not ports and cluster_ip != "None":
            raise CommandError("at least one tcp port specifier must be provided")
        if kind == "NodePort" and flags.number("node-port"):
            for port in ports:
                port["nodePort"] = flags.number("node-port")
        return _object("v1", "Service", name, labels=labels, spec=spec, status={"loadBalancer": {}})

    return build


# -- access


def _binding(kind: str) -> Build:
    def build(session: Session, name: str) -> Object:
        flags = session.flags
        role = flags.text("role") if "role" in flags else ""
        cluster_role = flags.text("clusterrole")
        if kind == "RoleBinding" and bool(role) == bool(cluster_role):
            raise CommandError("exactly one of clusterrole or role must be specified")
        subjects: list[Object] = [{"apiGroup": RBAC, "kind": "User", "name": user} for user in flags.many("user")]
        subjects += [{"apiGroup": RBAC, "kind": "Group", "name": group} for group in flags.many("group")]
        for account in flags.many("serviceaccount"):
            namespace, colon, account_name = account.partition(":")
            if not colon or not namespace or not account_name or ":" in account_name:
                raise CommandError("serviceaccount must be <namespace>:<name>")
            subjects.append({"kind": "ServiceAccount", "name": account_name, "namespace": namespace})
        reference = {
            "apiGroup": RBAC,
            "kind": "Role" if role else "ClusterRole",
            "name": role or cluster_role,
        }
        fields: dict[str, Any] = {"roleRef": reference}
        if subjects:
            fields["subjects"] = subjects
        return _object(f"{RBAC}/v1", kind, name, **fields)

    return build


def _priority_class(session: Session, name: str) -> Object:
    fields: dict[str, Any] = {
        "preemptionPolicy": session.flags.text("preemption-policy"),
        "value": session.flags.number("value"),
    }
    if text := session.flags.text("description"):
        fields["description"] = text
    if session.flags.on("global-default"):
        fields["globalDefault"] = True
    return _object("scheduling.k8s.io/v1", "PriorityClass", name, **fields)


def _quota(session: Session, name: str) -> Object:
    spec: Object = {}
    hard: dict[str, str] = {}
    for part in filter(None, session.flags.text("hard").split(",")):
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            raise CommandError(f"Invalid argument syntax {part}, expected <resource>=<value>")
        try:
            Quantity.parse(value)
        except QuantityError as error:
            raise CommandError(str(error)) from error
        hard[key] = value
    if hard:
        spec["hard"] = hard
    if scopes := session.flags.text("scopes"):
        spec["scopes"] = scopes.split(",")
        if "" in spec["scopes"]:
            raise CommandError('invalid resource quota scope ""')
    return _object("v1", "ResourceQuota", name, spec=spec, status={})


# Those that refuse an empty name themselves.
_NEED_A_NAME = (
    *("configmap", "docker-registry", "generic", "namespace"),
    *("poddisruptionbudget", "quota", "rolebinding", "serviceaccount"),
)


def _command(name: str, kind: str, build: Build, *flags: Flag, aliases: tuple[str, ...] = ()) -> Command:
    article = "an" if kind[0] in "AEIOU" else "a"
    return Command(
        name=name,
        short=f"Create {article} {kind}",
        usage=USAGE[name],
        run=named(build, needs_name=name in _NEED_A_NAME),
        flags=(*COMMON, *flags),
        aliases=aliases,
    )


_DATA = (
    Flag("from-literal", Type.ARRAY, help="A key and its value, KEY=VALUE."),
    Flag("from-file", Type.STRINGS, help="A file or folder, [KEY=]PATH."),
    Flag("from-env-file", Type.STRINGS, help="A file of lines KEY=VALUE."),
    Flag("append-hash", Type.BOOL, help="Add a hash of the content to the name."),
)
_IMAGE = Flag("image", required=True, help="The image to run.")
_EXTERNAL_NAME = Flag("external-name", required=True, help="The name outside that the service stands for.")
_TCP = Flag("tcp", Type.STRINGS, help="A port and its target, PORT[:TARGET].")
_BOUND = Flag("clusterrole", required=True, help="The ClusterRole to bind.")
_SUBJECTS = (
    Flag("user", Type.ARRAY, help="A user to bind it to."),
    Flag("group", Type.ARRAY, help="A group to bind it to."),
    Flag("serviceaccount", Type.ARRAY, help="A service account to bind it to, NAMESPACE:NAME."),
)

SERVICE = Command(
    name="service",
    short="Create a service using a specified subcommand",
    usage="[flags]",
    aliases=("svc",),
    children=(
        _command("clusterip", "ClusterIP service", _service("ClusterIP"), _TCP, Flag("clusterip")),
        _command(
            "externalname", "ExternalName service", _service("ExternalName"), _TCP, Flag("external-name", required=True)
        ),
        _command("loadbalancer", "LoadBalancer service", _service("LoadBalancer"), _TCP),
        _command("nodeport", "NodePort service", _service("NodePort"), _TCP, Flag("node-port", Type.INT)),
    ),
)
_VERB = Flag("verb", Type.STRINGS, help="A verb that the rule allows.")
_RULE = (
    _VERB,
    Flag("resource", Type.STRINGS, help="A resource that the rule is about, RESOURCE[.GROUP][/SUBRESOURCE]."),
    Flag("resource-name", Type.ARRAY, help="A single object that the rule is about."),
)
COMMANDS = (
    Command(
        name="clusterrole",
        short="Create a cluster role",
        usage=USAGE["clusterrole"],
        run=acting(access_rules.create_cluster_role, needs_name=True),
        flags=(
            *COMMON,
            *_RULE,
            Flag("aggregation-rule", Type.PAIRS, help="Labels of the cluster roles to take together."),
            Flag("non-resource-url", Type.STRINGS, help="A path that the rule is about."),
        ),
    ),
    _command("clusterrolebinding", "cluster role binding", _binding("ClusterRoleBinding"), _BOUND, *_SUBJECTS),
    _command("configmap", "config map", _config_map, *_DATA, aliases=("cm",)),
    _command(
        "cronjob", "cron job", _cron_job, _IMAGE, Flag("schedule", required=True), Flag("restart"), aliases=("cj",)
    ),
    _command(
        "deployment",
        "deployment with the specified name",
        _deployment,
        Flag("image", Type.STRINGS, required=True, help="The image of each container."),
        Flag("port", Type.INT32, default=-1, help="The first container's port."),
        Flag("replicas", Type.INT32, default=1, short="r", help="How many replicas."),
        aliases=("deploy",),
    ),
    _command(
        "ingress",
        "ingress with the specified name",
        ingress_rules.ingress,
        Flag("annotation", Type.ARRAY, help="An annotation, KEY=VALUE."),
        Flag("class", help="The IngressClass."),
        Flag("default-backend", help="Where all else goes, SERVICE:PORT."),
        Flag("rule", Type.ARRAY, help="HOST/PATH=SERVICE:PORT[,tls[=SECRET]]."),
        aliases=("ing",),
    ),
    Command(
        name="job",
        short="Create a job with the specified name",
        usage=USAGE["job"],
        run=acting(_job),
        flags=(
            *COMMON,
            Flag("from", help="The CronJob to make a Job of, cronjob/NAME."),
            Flag("image", help="The image to run."),
        ),
    ),
    _command("namespace", "namespace with the specified name", _namespace, aliases=("ns",)),
    _command(
        "poddisruptionbudget",
        "pod disruption budget with the specified name",
        ingress_rules.disruption_budget,
        Flag("max-unavailable", help="How many may be away, a number or a share."),
        Flag("min-available", help="How many must be there, a number or a share."),
        Flag("selector", help="The Pods that it is about."),
        aliases=("pdb",),
    ),
    _command(
        "priorityclass",
        "priority class with the specified name",
        _priority_class,
        Flag("value", Type.INT32),
        Flag("description"),
        Flag("global-default", Type.BOOL),
        Flag("preemption-policy", default="PreemptLowerPriority"),
        aliases=("pc",),
    ),
    _command(
        "quota", "quota with the specified name", _quota, Flag("hard"), Flag("scopes"), aliases=("resourcequota",)
    ),
    Command(
        name="role",
        short="Create a role with single rule",
        usage=USAGE["role"],
        run=acting(access_rules.create_role, needs_name=True),
        flags=(*COMMON, *_RULE),
    ),
    _command(
        "rolebinding",
        "role binding",
        _binding("RoleBinding"),
        Flag("role"),
        replace(_BOUND, required=False),
        *_SUBJECTS,
    ),
    Command(
        name="secret",
        short="Create a secret using a specified subcommand",
        usage="(docker-registry | generic | tls)",
        children=(
            _command(
                "docker-registry",
                "secret for use with a Docker registry",
                secrets.docker_registry,
                *secrets.DOCKER_FLAGS,
            ),
            _command("generic", "secret from files or literals", _secret, *_DATA, Flag("type")),
            _command("tls", "TLS secret", secrets.tls, *secrets.TLS_FLAGS),
        ),
    ),
    SERVICE,
    _command("serviceaccount", "service account with the specified name", _service_account, aliases=("sa",)),
    Command(
        name="token",
        short="Request a service account token",
        usage="SERVICE_ACCOUNT_NAME",
        run=acting(create_token),
        flags=(
            *PRINT,
            Flag("audience", Type.ARRAY, help="Who the token is for."),
            Flag("bound-object-kind", help="The kind of the object that the token lives as long as."),
            Flag("bound-object-name", help="That object's name."),
            Flag("bound-object-uid", help="That object's uid."),
            Flag("duration", Type.DURATION, help="How long the token is to be good."),
        ),
    ),
)
CREATE = Command(
    name="create",
    short="Create a resource from a file or from stdin",
    usage="-f FILENAME",
    run=create.run,
    flags=create.FLAGS,
    children=COMMANDS,
    examples=("create -f web.yaml", "create deployment web --image=nginx:1.27 --replicas=3"),
)
