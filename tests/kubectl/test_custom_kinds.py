"""What kubectl says of custom resources where it has no Go type for them, in the words of kubectl 1.37."""

from __future__ import annotations

import io
import re
from pathlib import Path

from engine.kubectl.main import run
from tests.kubectl.served import served

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.x.example.com}
spec:
  group: x.example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
WIDGETS = """
apiVersion: x.example.com/v1
kind: Widget
metadata: {name: a}
spec: {num: 2, mixed: 1, flag: true, key: a2}
---
apiVersion: x.example.com/v1
kind: Widget
metadata: {name: b}
spec: {num: 1, mixed: 1.5, flag: false, list: [1], key: a10}
---
apiVersion: x.example.com/v1
kind: Widget
metadata: {name: c}
spec: {num: 3, list: [2]}
"""
# Short names that others have as well, one of them a singular.
OTHERS = """
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pods.y.example.com}
spec:
  group: y.example.com
  scope: Namespaced
  names: {plural: pods, kind: Pod, shortNames: [po]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: services.a.example.com}
spec:
  group: a.example.com
  scope: Cluster
  names: {plural: services, singular: svc, kind: Service, shortNames: [svc]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""
SHORT = 'Warning: short name "po" could also match lower priority resource pods.y.example.com\n'
SCHEME = 'in scheme "pkg/scheme/scheme.go:28"\n'
UNKNOWN = f'no kind "Widget" is registered for version "x.example.com/v1" {SCHEME}'
UNKNOWN_LIST = f'no kind "WidgetList" is registered for version "x.example.com/v1" {SCHEME}'
UNREADABLE = f'unable to decode "widgets.yaml": {UNKNOWN}'
FATAL = "F sorter.go:329] "
SORTED_BY = "in *unstructured.Unstructured is an unsortable type: interface, err: unsortable"
HEAD = re.compile(r"^F\d{4} [\d:.]+ +\d+ ")  # what klog begins a line with
MERGED = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml\n"
SAID = {
    "rollout restart widget/a": f"error: {UNKNOWN}",
    "rollout restart widget a b": UNKNOWN * 2,
    "rollout restart widgets": UNKNOWN_LIST,
    "rollout status widgets": f"error: {UNKNOWN_LIST}",
    "rollout undo -f widgets.yaml": UNREADABLE * 3,
    "set env widget/a A=b": f"error: {UNKNOWN}",
    "set env widget/nope A=b": 'Error from server (NotFound): widgets.x.example.com "nope" not found\n',
    "set image -f widgets.yaml a=b --local": UNREADABLE * 3,
    "set env crd/widgets.x.example.com A=b": (
        f'error: no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1" {SCHEME}'
    ),
    "expose widget a --port=80": f"error: {UNKNOWN}",
    "logs widget/a": f"error: {UNKNOWN}",
    "exec widget/a -- ls": f"error: {UNKNOWN}",
    "exec -f widgets.yaml -- ls": f"error: {UNREADABLE}",
    "port-forward widget/a 80": f"error: {UNKNOWN}".replace(
        "pkg/scheme/scheme.go:28", "k8s.io/client-go/kubernetes/scheme/register.go:84"
    ),
    "debug widget/a --image=x": f"error: {UNKNOWN}",
    "debug -f widgets.yaml --image=x": f"error: {UNREADABLE}",
    "cordon widget/a": f"error: {UNKNOWN}",
    "create job j --from=widget/a": f"error: {UNKNOWN}",
    "auth reconcile -f widgets.yaml": UNREADABLE * 3,
    "patch widget a -p {}": (
        "error: application/strategic-merge-patch+json is not supported by x.example.com/v1, Kind=Widget: the body of "
        f"the request was in an unknown format - accepted media types include: {MERGED}"
    ),
    "get po": f"{SHORT}No resources found in default namespace.\n",
    "get po.y.example.com": "No resources found in default namespace.\n",
    "describe po x": f'{SHORT * 2}Error from server (NotFound): pods "x" not found\n',
    "get svc": "No resources found\n",
    "get widgets -o name --sort-by=.spec.num": (
        "widget.x.example.com/b\nwidget.x.example.com/a\nwidget.x.example.com/c\n"
    ),
    "get widgets -o name --sort-by=.spec.key": (
        "widget.x.example.com/c\nwidget.x.example.com/a\nwidget.x.example.com/b\n"
    ),
    "get widgets -o name --sort-by=.spec.nope.no": (
        'error: couldn\'t find any field with path "{.spec.nope.no}" in the list of objects\n'
    ),
    "get widget a -o name --sort-by=.spec.nope": "widget.x.example.com/a\n",
    "get widgets -o name --sort-by=.spec.flag": f"{FATAL}Field {{.spec.flag}} {SORTED_BY} type: bool\n",
    "get widgets -o name --sort-by=.spec.list": f"{FATAL}Field {{.spec.list}} {SORTED_BY} type: []interface {{}}\n",
    "get widgets -o name --sort-by=.spec.mixed": f"{FATAL}Field {{.spec.mixed}} {SORTED_BY} interface: interface\n",
}


async def _printed(kubeconfig: str, command: str) -> str:
    stdout, stderr = io.StringIO(), io.StringIO()
    environment = {"KUBECONFIG": kubeconfig, "HOME": str(Path(kubeconfig).parent)}
    await run(command.split(), stdin=io.StringIO(), stdout=stdout, stderr=stderr, environment=environment)
    return stdout.getvalue() + stderr.getvalue()


async def test_kinds_without_a_type(tmp_path: Path) -> None:
    definition, widgets = tmp_path / "definition.yaml", tmp_path / "widgets.yaml"
    definition.write_text(DEFINITION + OTHERS)
    widgets.write_text(WIDGETS)
    async with served(tmp_path) as front:
        for file in (definition, widgets):
            await _printed(front.kubeconfig, f"apply -f {file}")
        for command, said in SAID.items():
            told = await _printed(front.kubeconfig, command.replace("widgets.yaml", str(widgets)))
            told = HEAD.sub("F ", told.replace(str(widgets), "widgets.yaml"))
            assert told == said, command
