"""What the usage lines of `create`'s commands say after the command (kubectl pkg/cmd/create)."""

from __future__ import annotations

_DRY_RUN = "[--dry-run=server|client|none]"
_SUBJECTS = "[--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname]"
_RULE = "--verb=verb --resource=resource.group"
_FILES = "[--from-file=[key=]source]"
_TCP = "[--tcp=port:targetPort]"

USAGE = {
    "clusterip": f"NAME [--tcp=<port>:<targetPort>] {_DRY_RUN}",
    "clusterrole": f"NAME {_RULE} [--resource-name=resourcename] {_DRY_RUN}",
    "clusterrolebinding": f"NAME --clusterrole=NAME {_SUBJECTS} {_DRY_RUN}",
    "configmap": f"NAME {_FILES} [--from-literal=key1=value1] {_DRY_RUN}",
    "cronjob": "NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...] [flags]",
    "deployment": "NAME --image=image -- [COMMAND] [args...]",
    "docker-registry": (
        "NAME --docker-username=user --docker-password=password --docker-email=email [--docker-server=string] "
        f"{_FILES} {_DRY_RUN}"
    ),
    "externalname": f"NAME --external-name external.name {_DRY_RUN}",
    "generic": f"NAME [--type=string] {_FILES} [--from-literal=key1=value1] {_DRY_RUN}",
    "ingress": "NAME --rule=host/path=service:port[,tls[=secret]] ",
    "job": "NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]",
    "loadbalancer": f"NAME {_TCP} {_DRY_RUN}",
    "namespace": f"NAME {_DRY_RUN}",
    "nodeport": f"NAME {_TCP} {_DRY_RUN}",
    "poddisruptionbudget": f"NAME --selector=SELECTOR --min-available=N {_DRY_RUN}",
    "priorityclass": f"NAME --value=VALUE --global-default=BOOL {_DRY_RUN}",
    "quota": f"NAME [--hard=key1=value1,key2=value2] [--scopes=Scope1,Scope2] {_DRY_RUN}",
    "role": f"NAME {_RULE}/subresource [--resource-name=resourcename] {_DRY_RUN}",
    "rolebinding": f"NAME --clusterrole=NAME|--role=NAME {_SUBJECTS} {_DRY_RUN}",
    "serviceaccount": f"NAME {_DRY_RUN}",
    "tls": f"NAME --cert=path/to/cert/file --key=path/to/key/file {_DRY_RUN}",
}
