"""Words and exit codes that need no server: ours against the real kubectl's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kubectl.oracle import ours, real
from tests.kubectl.parity import normal

MANIFESTS = {
    "mapping.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n bad: y\n",
    "colon.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x: y\n",
    "tab.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n",
    "flow.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x\n",
    "sequence.yaml": "a: [1\nb: 2\n",
    "infinite.yaml": "apiVersion: v1\nkind: Pod\nx: .inf\n",
    "empty.yaml": "",
    "comment.yaml": "# nothing\n---\n# nothing either\n",
}

ARGUMENTS = [
    # flags
    "get --foo",
    "get pods --foo=bar",
    "get -x",
    "get pods -Ax",
    "get pods -n",
    "get pods --sort-by",
    "get pods --no-headers=x",
    "get pods --chunk-size=x",
    "get pods -A=maybe",
    "delete pod x --timeout=5",
    "delete pod x --timeout=abc",
    "scale deployment/x --replicas=x",
    # commands
    "gte",
    "scael",
    "create foo",
    # arguments
    "get",
    "delete",
    "apply",
    "create",
    "replace",
    "label",
    "label pods x",
    "annotate",
    "annotate pods x",
    "patch",
    "patch pod x -p '{}' --type=foo",
    "scale",
    "scale deployment/x --replicas=-1",
    "apply -f x --force-conflicts",
    "apply -f x --server-side --dry-run=client",
    "apply -f x --dry-run=foo",
    "apply -f x --validate=foo",
    "delete pods --all --selector=a=b",
    "delete pods --now --grace-period=3",
    "delete pods --force --grace-period=3",
    "delete pods x -o yaml",
    "get pods --kubeconfig /nonexistent/x",
    "get pods --context foo",
    "get pods",
    "version",
    # manifests
    "apply -f nope.yaml",
    "apply -f mapping.yaml",
    "apply -f colon.yaml",
    "apply -f tab.yaml",
    "apply -f flow.yaml",
    "apply -f sequence.yaml",
    "apply -f infinite.yaml",
    "apply -f empty.yaml",
    "apply -f comment.yaml",
    "apply -f folder",
    "apply -f -",
    "create -f empty.yaml",
    "create -f mapping.yaml",
    "delete -f empty.yaml",
    "delete -f mapping.yaml",
    "get -f mapping.yaml",
    "get -f empty.yaml",
    "replace -f empty.yaml",
    # objects made from flags
    "create deployment",
    "create deployment web",
    "create deployment a b --image=x",
    "create deployment web --image=nginx --dry-run=client",
    "create deployment web --image=nginx --dry-run=client -o yaml",
    "create deployment web --image=nginx --dry-run=client -o name",
    "create deployment web --image=nginx --dry-run=client -o jsonpath={.metadata}",
    "create deployment web --image=nginx --dry-run=client -o jsonpath='{.spec.template.spec.containers[*].name}'",
    "create deployment web --image=nginx --dry-run=client -o jsonpath={.a",
    "create deployment web --image=nginx --dry-run=client -o jsonpath",
    "create deployment web --image=nginx --dry-run=client -o wide",
    "create deployment web --image=nginx --dry-run=client -o bad",
    "create deployment web --image=nginx --dry-run=bad",
    "create deployment web -n foo --image=r/a:1 --image=b@sha256:c --port=80 -r 3 --dry-run=client -o yaml",
    "create deployment web --image=a --dry-run=client -o yaml -- sh -c 'sleep 1'",
    "create deployment web --image=a --image=b --dry-run=client -- sh",
    "create namespace",
    "create namespace x --dry-run=client -o yaml",
    "create ns x -n y --dry-run=client -o yaml",
    "create configmap x --from-literal=a=b --from-literal=c=1 --dry-run=client -o yaml",
    "create configmap x --from-literal=a --dry-run=client",
    "create configmap x --from-file=/nope --dry-run=client",
    "create configmap x --from-file=colon.yaml --dry-run=client -o yaml",
    "create secret generic x --from-literal=a=b --dry-run=client -o yaml",
    "create serviceaccount x --dry-run=client -o yaml",
    "create service clusterip x --tcp=80:8080 --tcp=443:https --dry-run=client -o yaml",
    "create service clusterip x --clusterip=None --dry-run=client -o yaml",
    "create service clusterip x --dry-run=client",
    "create service nodeport x --tcp=80 --node-port=30000 --dry-run=client -o yaml",
    "create service externalname x --external-name=a.b --dry-run=client -o yaml",
    "create job x --image=y --dry-run=client -o yaml -- a b",
    "create cronjob x --image=y --schedule='* * * * *' --dry-run=client -o yaml",
    "create rolebinding r --role=x --user=y --serviceaccount=a:b --dry-run=client -o yaml",
    "create clusterrolebinding r --clusterrole=x --group=y --dry-run=client -o yaml",
    "create quota q --hard=pods=1,cpu=2 --dry-run=client -o yaml",
    "create priorityclass p --value=1 --dry-run=client -o yaml",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in MANIFESTS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What is of the moment, and what only one of the two has to say: kubectl carries kustomize.
def _same(text: str) -> str:
    lines = [line for line in normal(text).splitlines() if not line.startswith(("Kustomize Version", "Client Version"))]
    return "\n".join(lines)


@pytest.mark.parametrize("argv", ARGUMENTS)
async def test_ours_says_what_kubectl_says(argv: str, folder: Path) -> None:
    assert os.getcwd() == str(folder)
    theirs, mine = await real(argv), await ours(argv)
    assert _same(mine.stdout) == _same(theirs.stdout)
    assert _same(mine.stderr) == _same(theirs.stderr)
    assert mine.code == theirs.code
