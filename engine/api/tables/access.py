"""The tables of bindings, certificates and admission: who may do what, and what is checked (printers.go)."""

from __future__ import annotations

from engine.api.duration import human_duration
from engine.api.shown_selector import shown_selector
from engine.api.tables.columns import AGE, NAME, Column, Field, KindTable, Row, kind_table


def _role(row: Row) -> str:
    role = row.object.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _subjects(row: Row, kind: str) -> str:
    subjects = [item for item in row.object.get("subjects") or () if item.get("kind") == kind]
    if kind == "ServiceAccount":
        return ", ".join(f"{item.get('namespace', '')}/{item.get('name', '')}" for item in subjects)
    return ", ".join(item.get("name", "") for item in subjects)


def _bindings(definition: str, noun: str) -> KindTable[Row]:
    return kind_table(
        NAME,
        Column("Role", _role, Field(definition, "roleRef")),
        AGE,
        Column("Users", lambda row: _subjects(row, "User"), f"Users in the {noun}", priority=1),
        Column("Groups", lambda row: _subjects(row, "Group"), f"Groups in the {noun}", priority=1),
        Column(
            "ServiceAccounts",
            lambda row: _subjects(row, "ServiceAccount"),
            f"ServiceAccounts in the {noun}",
            priority=1,
        ),
    )


ROLE_BINDINGS = _bindings("api.rbac.v1.RoleBinding", "roleBinding")
CLUSTER_ROLE_BINDINGS = _bindings("api.rbac.v1.ClusterRoleBinding", "clusterRoleBinding")


def _request_condition(row: Row) -> str:
    kinds = {item.get("type") for item in row.status.get("conditions") or ()}
    status = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    failed = ",Failed" if "Failed" in kinds else ""
    issued = ",Issued" if row.status.get("certificate") else ""
    return f"{status}{failed}{issued}"


def _requested_duration(row: Row) -> str:
    seconds = row.spec.get("expirationSeconds")
    return "<none>" if seconds is None else human_duration(seconds)


_REQUEST = "api.certificates.v1.CertificateSigningRequestSpec"
CERTIFICATE_SIGNING_REQUESTS = kind_table(
    NAME,
    AGE,
    Column("SignerName", lambda row: row.spec.get("signerName") or "<none>", Field(_REQUEST, "signerName")),
    Column("Requestor", lambda row: row.spec.get("username", ""), Field(_REQUEST, "request")),
    Column("RequestedDuration", _requested_duration, Field(_REQUEST, "expirationSeconds")),
    Column(
        "Condition",
        _request_condition,
        Field("api.certificates.v1.CertificateSigningRequestStatus", "conditions"),
    ),
)

CLUSTER_TRUST_BUNDLES = kind_table(
    NAME,
    Column(
        "SignerName",
        lambda row: row.spec.get("signerName") or "<none>",
        Field("api.certificates.v1beta1.ClusterTrustBundleSpec", "signerName"),
    ),
)

_POD_REQUEST = "api.certificates.v1.PodCertificateRequestSpec"


def _pod_request_field(name: str, field: str) -> Column[Row]:
    return Column(name, lambda row: row.spec.get(field, ""), Field(_POD_REQUEST, field))


def _pod_request_state(row: Row) -> str:
    """The last of the conditions that end a request; one that has none of them waits."""
    kinds = [item.get("type") for item in row.status.get("conditions") or ()]
    return next((kind for kind in reversed(kinds) if kind in ("Issued", "Denied", "Failed")), "Pending")


POD_CERTIFICATE_REQUESTS = kind_table(
    NAME,
    _pod_request_field("PodName", "podName"),
    _pod_request_field("ServiceAccountName", "serviceAccountName"),
    _pod_request_field("NodeName", "nodeName"),
    _pod_request_field("SignerName", "signerName"),
    Column("State", _pod_request_state, "Is the request Pending, Issued, Denied, or Failed?"),
)

_WEBHOOKS: Column[Row] = Column(
    "Webhooks",
    lambda row: len(row.object.get("webhooks") or ()),
    "Webhooks indicates the number of webhooks registered in this configuration",
    type="integer",
)
WEBHOOK_CONFIGURATIONS = kind_table(NAME, _WEBHOOKS, AGE)


def _param_kind(row: Row) -> str:
    kind = row.spec.get("paramKind")
    return "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


_PARAM_KIND: Column[Row] = Column(
    "ParamKind", _param_kind, "ParamKind specifies the kind of resources used to parameterize this policy"
)
VALIDATING_ADMISSION_POLICIES = kind_table(
    NAME,
    Column(
        "Validations",
        lambda row: len(row.spec.get("validations") or ()),
        "Validations indicates the number of validation rules defined in this configuration",
        type="integer",
    ),
    _PARAM_KIND,
    AGE,
)
MUTATING_ADMISSION_POLICIES = kind_table(
    NAME,
    Column(
        "Mutations",
        lambda row: len(row.spec.get("mutations") or ()),
        "Mutation indicates the number of mutations rules defined in this configuration",
        type="integer",
    ),
    _PARAM_KIND,
    AGE,
)


def _param_ref(row: Row) -> str:
    """The parameter; without a namespace it may be in any, which shows as `*`."""
    reference = row.spec.get("paramRef")
    if reference is None:
        return "<unset>"
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return shown_selector(reference["selector"]) if reference.get("selector") is not None else "<unset>"


ADMISSION_POLICY_BINDINGS = kind_table(
    NAME,
    Column(
        "PolicyName",
        lambda row: row.spec.get("policyName", ""),
        "PolicyName indicates the policy definition which the policy binding binded to",
    ),
    Column("ParamRef", _param_ref, "ParamRef indicates the param resource which sets the configration param"),
    AGE,
)
