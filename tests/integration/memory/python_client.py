# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The usual calls of Python's kubernetes package: a list, a create, a watch, an update, an error.
#
#   python_client.py KUBECONFIG
import sys

from kubernetes import client, config, watch


def main():
    config.load_kube_config(config_file=sys.argv[1])
    core = client.CoreV1Api()
    print("namespaces:", *(each.metadata.name for each in core.list_namespace().items))
    print("version:", client.VersionApi().get_code().git_version)

    maps = core.list_namespaced_config_map("default")
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="from-python"), data={"key": "value"})
    created = core.create_namespaced_config_map("default", body)
    print("created:", created.metadata.name, created.data)

    # The watch begins before the create, and receives the patches that are made while it is open; one event is larger
    # than one read of the client.
    stream = watch.Watch().stream(
        core.list_namespaced_config_map, "default", resource_version=maps.metadata.resource_version, timeout_seconds=20
    )
    for event in stream:
        found = event["object"]
        print("event:", event["type"], found.metadata.name, found.data if event["type"] == "ADDED" else len(found.data["key"]))
        if event["type"] == "ADDED":
            core.patch_namespaced_config_map("from-python", "default", {"data": {"key": "changed" * 10000}})
            core.patch_namespaced_config_map("from-python", "default", {"data": {"key": "changed"}})
        elif len(found.data["key"]) == 7:
            break
    print("listed:", *(each.metadata.name for each in core.list_namespaced_config_map("default").items))

    try:
        core.create_namespaced_config_map("nowhere", body)
    except client.exceptions.ApiException as error:
        print("refused:", error.status, error.reason)


main()
