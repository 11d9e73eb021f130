"""What a policy is told of its expressions."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from engine.controllers.policystatus import POLICIES
from engine.world import World
from tests.api.crd.samples import definition
from tests.controllers.cluster import TestCluster, running

DEPLOYMENTS: Object = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments", "deployments/scale"]}
CRON_TABS: Object = {"apiGroups": ["stable.example.com"], "apiVersions": ["v1", "v2"], "resources": ["crontabs"]}
EVENTS: Object = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["events"]}
MANY: Object = {
    "apiGroups": [""], "apiVersions": ["v1"],
    "resources": ["configmaps", "endpoints", "limitranges", "nodes", "persistentvolumeclaims", "persistentvolumes",
                  "pods", "podtemplates", "replicationcontrollers", "resourcequotas", "secrets", "services"],
}  # fmt: skip
ANY: Object = {"apiGroups": ["*"], "apiVersions": ["v1"], "resources": ["pods"]}


async def status_of(cluster: TestCluster, name: str, rules: list[Object], **spec: object) -> Object:
    matched = [{**rule, "operations": ["*"]} for rule in rules]
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {"matchConstraints": {"resourceRules": matched}, **spec},
    }
    await cluster.admin.create(POLICIES, policy)

    async def observed() -> Object | None:
        found = await cluster.admin.get(POLICIES, name)
        status: Object = found.get("status") or {}
        return status if status.get("observedGeneration") == found["metadata"]["generation"] else None

    found: Object = await cluster.eventually("the status is written", observed)
    return found


async def test_expressions_are_checked_against_the_kinds_that_they_are_about(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(
            CUSTOM_RESOURCE_DEFINITIONS, definition({"type": "object", "properties": {"size": {"type": "integer"}}})
        )
        right = await status_of(
            cluster,
            "right",
            [DEPLOYMENTS],
            variables=[
                {"name": "limits", "expression": "object.spec.template.spec.containers.map(c, c.resources.limits)"}
            ],
            validations=[{"expression": "object.spec.replicas < 5 && variables.limits.all(l, 'cpu' in l)"}],
        )
        assert right == {"observedGeneration": 1, "typeChecking": {}}
        owners = (await cluster.admin.get(POLICIES, "right"))["metadata"]["managedFields"]
        [owner] = [each for each in owners if each.get("subresource") == "status"]
        assert (owner["manager"], owner["operation"]) == ("validatingadmissionpolicy-status", "Apply")
        wrong = await status_of(
            cluster,
            "wrong",
            [DEPLOYMENTS, CRON_TABS],
            validations=[{"expression": "object.spec.size > 1", "messageExpression": "string(object.metadata.name)"}],
        )
        assert wrong["typeChecking"]["expressionWarnings"] == [
            {
                "fieldRef": "spec.validations[0].expression",
                "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'size'\n"
                " | object.spec.size > 1\n | ...........^\n",
            }
        ]
        any_kind = await status_of(cluster, "any", [ANY], validations=[{"expression": "object.nope == 1"}])
        assert any_kind["typeChecking"] == {}


async def test_which_kinds_rules_name_and_what_an_authorizer_is_while_they_are_checked(world: World) -> None:
    """A resource without a group may be of any, ten kinds of a rule are looked at, and all rules before it; the
    authorizer of the request's own resource is not declared (typechecking.go)."""
    async with running(world) as cluster:
        nope: Object = {"validations": [{"expression": "object.nope == 1"}]}

        async def warned(name: str, *rules: Object, **spec: Any) -> list[str]:
            status = await status_of(cluster, name, [*rules], **(spec or nope))
            found = status["typeChecking"].get("expressionWarnings") or []
            return [line for each in found for line in each["warning"].splitlines() if "Kind=" in line]

        kinds = [line.partition(": ")[0] for line in await warned("events", EVENTS)]
        assert kinds == ["/v1, Kind=Event", "events.k8s.io/v1, Kind=Event"]
        kinds = [line.partition(": ")[0] for line in await warned("many", DEPLOYMENTS, MANY, CRON_TABS)]
        assert (len(kinds), kinds[0], kinds[-1]) == (11, "/v1, Kind=ConfigMap", "apps/v1, Kind=Deployment")
        check = {"validations": [{"expression": "authorizer.requestResource.check('get').allowed()"}]}
        assert await warned("check", DEPLOYMENTS, **check) == [
            "apps/v1, Kind=Deployment: ERROR: <input>:1:11: type 'kubernetes.authorization.Authorizer' does not "
            "support field selection"
        ]


DEFINITIONS: Object = {
    "apiGroups": ["apiextensions.k8s.io"], "apiVersions": ["v1"], "resources": ["customresourcedefinitions"],
}  # fmt: skip
SCHEMA = "object.spec.versions[0].schema.openAPIV3Schema"


async def test_what_the_types_of_kinds_do_not_say(world: World) -> None:
    """Quantities are of no type, definitions within themselves are objects without fields (typeresolution_test.go;
    resolver/refs.go; Quantity.OpenAPIV3OneOfTypes)."""
    rules = {
        "Deployment": {
            "object.spec.template.spec.containers.all(c, has(c.resources) && size(c.resources.claims) == 0)": "",
            "object.spec.template.spec.containers.all(c, c.ports.all(p, p.containerPort < 1024))": "",
            "type(object.spec.strategy.rollingUpdate.maxSurge) == int": "",
            "object.spec.template.spec.containers.all(c, 'cpu' in c.resources.limits)": "undefined field 'limits'",
            "object.spec.template.spec.volumes.all(v, v.emptyDir.sizeLimit == '1')": "undefined field 'sizeLimit'",
            "object.spec.replicas == '1'": "found no matching overload for '_==_' applied to '(int, string)'",
        },
        "CustomResourceDefinition": {
            f"{SCHEMA}.type == 'object' && has({SCHEMA}.not) && size({SCHEMA}.properties) > 0": "",
            f"{SCHEMA}.not.type == 'object'": "undefined field 'type'",
            f"{SCHEMA}.allOf.all(each, each.type == 'object')": "undefined field 'type'",
            f"has({SCHEMA}.items)": "undefined field 'items'",
        },
    }
    async with running(world) as cluster:
        for (kind, expected), rule in zip(rules.items(), (DEPLOYMENTS, DEFINITIONS), strict=True):
            validations = [{"expression": each} for each in expected]
            status = await status_of(cluster, kind.lower(), [rule], validations=validations)
            found = {each["fieldRef"]: each["warning"] for each in status["typeChecking"].get("expressionWarnings", ())}
            for index, (expression, told) in enumerate(expected.items()):
                warning = found.get(f"spec.validations[{index}].expression", "")
                assert (told in warning) if told else not warning, (expression, warning)
