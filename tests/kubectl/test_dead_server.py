"""Where no server listens, ours says what kubectl says: each line of its log, each word of why, and the exit code."""

from __future__ import annotations

from pathlib import Path

from engine.client.kubeconfig import document_for, write
from tests.client.certificates import Authority
from tests.kubectl.oracle import ours, real
from tests.kubectl.parity import normal
from tests.kubectl.test_parity import SAMPLE

# What a command asks of the server first: what it knows, by one word or by several, by manifests, or its one answer.
COMMANDS = """
get pods
get pods,svc
get pods/x svc/y
get -f WEB
get --raw /
describe pod x
delete -f WEB
apply -f WEB
apply -f WEB --validate=false
apply set-last-applied -f WEB
create -f WEB --dry-run=client
create ns x
create sa x
create secret generic x
create svc clusterip x --tcp=80
create role x --verb=get --resource=pods
create token x
label --local -f WEB a=b
set image deploy/x a=b
rollout status deploy x
run x --image=y --dry-run=client
logs x
cp x:/a b
top pods
cordon x
taint node x a=b:NoSchedule
events
events --for=pod/x
auth can-i get pods
auth whoami
api-resources
api-versions
cluster-info
cluster-info dump
explain pods
diff -f WEB
"""


async def test_no_server_is_told_of_as_kubectl_does(tmp_path: Path) -> None:
    authority, kubeconfig = Authority(), tmp_path / "kubeconfig"
    admin = authority.issue("kubernetes-admin", "system:masters")
    nowhere = "https://127.0.0.1:1"
    write(
        kubeconfig,
        document_for(
            name="test", server=nowhere, ca=authority.certificate, certificate=admin.certificate, key=admin.key
        ),
    )
    different = []
    for line in COMMANDS.split("\n")[1:-1]:
        argv = line.replace("WEB", SAMPLE)
        theirs = await real(argv, kubeconfig=str(kubeconfig))
        mine = await ours(argv, kubeconfig=str(kubeconfig))
        if (theirs.code, theirs.stdout, normal(theirs.stderr)) != (mine.code, mine.stdout, normal(mine.stderr)):
            different.append(f"$ kubectl {argv}\n--- kubectl: {theirs}\n--- ours:    {mine}")
    assert not different, "\n".join(different)
