#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# GPUs in parts and by claims: what pods are held for and charged, whichever way
# they ask, against sums of the parts by hand. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

# Nodes of 8 A100, each given to pods in another way: 96 CPUs and 1152 GiB
gpus='[["whole",{"nvidia.com/gpu":"8"},{}],
    ["mixed",{"nvidia.com/gpu":"0","nvidia.com/mig-1g.10gb":"28","nvidia.com/mig-3g.40gb":"8"},{}],
    ["single",{"nvidia.com/gpu":"56"},{"nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}],
    ["sliced",{"nvidia.com/gpu":"32"},{"nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB-SHARED","nvidia.com/gpu.replicas":"4"}],
    ["shared",{"nvidia.com/gpu":"0","nvidia.com/gpu.shared":"32"},{"nvidia.com/gpu.replicas":"4"}],
    ["claimed",{},{}]]'
k_up "$work/kube" --speed 10 >/dev/null || exit 1
k_get /api/v1/nodes | jq --argjson of "$gpus" '.items[0] as $n | $of | map(. as $x | $n |
    .metadata = {name: $x[0], labels: ({"lowtide.dev/pool": $x[0], "kubernetes.io/hostname": $x[0],
	"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"} + $x[2])} | .spec = {} |
    .status.allocatable = {cpu: "96", memory: "1152Gi", pods: "110"} + $x[1] | .status.capacity = .status.allocatable)' >"$work/nodes.json"
k_down
k_up "$work/kube" --speed 10 --mutate --nodes "$work/nodes.json" || exit 1
k_namespace team-a managed >/dev/null
D=/apis/resource.k8s.io/v1
class() { # class NAME SELECTOR [EXTENDED]
	jq -n '{kind: "DeviceClass", apiVersion: "resource.k8s.io/v1", metadata: {name: $ARGS.positional[0]},
	    spec: {selectors: [{cel: {expression: $ARGS.positional[1]}}]}} |
	    if $ARGS.positional[2] then .spec.extendedResourceName = $ARGS.positional[2] else . end' --args "$@" |
	    k_post $D/deviceclasses >/dev/null
}
driver="device.driver == 'gpu.nvidia.com'" type="device.attributes['gpu.nvidia.com'].type"
class gpu.nvidia.com "$driver && $type == 'gpu'" example.com/a100
class mig.nvidia.com "$driver && $type == 'mig'"
class fpga.example.org "device.driver == 'fpga.example.org'"
class either.example.org "$driver || device.driver == 'fpga.example.org'"
# 8 GPUs, of which the last may be cut
jq -n '{kind: "ResourceSlice", apiVersion: "resource.k8s.io/v1", metadata: {name: "claimed-gpu"},
    spec: {driver: "gpu.nvidia.com", nodeName: "claimed", pool: {name: "claimed", generation: 1, resourceSliceCount: 1},
	devices: ([range(8) | {name: "gpu-\(.)", attributes: {type: {string: "gpu"}, productName: {string: "NVIDIA A100-SXM4-80GB"}}}] +
	[range(7) | {name: "gpu-7-mig-\(.)", attributes: {type: {string: "mig"}, profile: {string: "1g.10gb"},
	    productName: {string: "NVIDIA A100-SXM4-80GB"}}}])}}' | k_post $D/resourceslices >/dev/null
jq -n '{kind: "ResourceSlice", apiVersion: "resource.k8s.io/v1", metadata: {name: "claimed-fpga"},
    spec: {driver: "fpga.example.org", nodeName: "claimed", pool: {name: "claimed", generation: 1, resourceSliceCount: 1},
	devices: [{name: "fpga-0"}]}}' | k_post $D/resourceslices >/dev/null
l_day 0 9
l_policy 'budgets: [{team: team-a, period: month, amount: 100000000}]'
sed -i '/^  ondemand: /d; /^  spot: /d' "$work/policy.yaml"
for node in whole mixed single sliced shared claimed; do
	echo "  $node: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600}" >>"$work/pools"
done
sed -i "/^partitions:/r $work/pools" "$work/policy.yaml"
l_up || exit 1

on() { echo ".spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"$1\"}"; }
asks() { echo ".spec.template.spec.containers[0].resources = {requests: {cpu: \"1\", memory: \"1Gi\"}, limits: {\"nvidia.com/$1\": \"$2\"}}"; }
# Micros of a second: a pod of a CPU, a GiB and so many GPUs, on a node that has
# so many, each a USD a second; its weights are those of docs/model.md, (2a).
a_second() {
	jq -n "def worth(cpus; gib; gpus): 0.031611 * cpus + 0.004237 * gib + 0.95 * gpus;
	    1000000 * worth(1; 1; $1) / worth(96; 1152; $2)"
}
seconds() {
	k_get "$(pods_of "$1")" | jq 'def at: fromdateiso8601; [.items[] |
	    ((.status.containerStatuses[0].state.terminated.finishedAt | at) - (.status.startTime | at))] | add'
}
is_for() { # is_for NAME PART ALL: charged so
	jq -en --argjson got "$(charged "team-a/$1")" --argjson s "$(seconds "team-a/$1")" --argjson each "$(a_second "$2" "$3")" \
	    '$s > 0 and ($got - $s * $each | fabs) <= 1'
}
held() { sqlite3 -readonly "$L/state/ledger.db" "SELECT money_micros FROM holds WHERE job_id = $(id_of "team-a/$1")"; }
# Of 600 s, of 60 s that its pod may take to end and be replaced, and the margin of 5 %.
is_held() { # is_held NAME PART ALL
	jq -en --argjson got "$(held "$1")" --argjson each "$(a_second "$2" "$3")" '$got > 0 and ($got - 693 * $each | fabs) <= 693'
}

third=$(jq -n '428571 / 1000000') seventh=$(jq -n '142857 / 1000000')
mixed=$(jq -n '(28 * 142857 + 8 * 428571) / 1000000') single=$(jq -n '56 * 142857 / 1000000')
# NAME NODE RESOURCE COUNT PART ALL: parts of GPUs
ways="gpu whole gpu 1 1 8
slice mixed mig-1g.10gb 1 $seventh $mixed
three mixed mig-3g.40gb 1 $third $mixed
alike single gpu 1 $seventh $single
replica sliced gpu 1 0.25 8
renamed shared gpu.shared 1 0.25 8"
while read -r name node resource count _; do
	k_job team-a "$name" "$(limit 600) | $(on "$node") | $(asks "$resource" "$count") | $(runs 100)" >/dev/null
done <<<"$ways"
while read -r name _; do passes "$name is planned" planned team-a/$name; done <<<"$ways"
while read -r name _ _ _ part all; do passes "$name is held for at its part of a GPU" is_held "$name" "$part" "$all"; done <<<"$ways"
while read -r name _; do passes "$name runs" done_well "team-a/$name" 30; done <<<"$ways"
l_restart
while read -r name _ _ _ part all; do
	passes "$name is charged for its part of a GPU" within 40 is_for "$name" "$part" "$all"
done <<<"$ways"

# Slices of all sizes on one node come to the node, however they are mixed
k_job team-a small "$(limit 600) | $(on mixed) | .spec.parallelism = 28 | .spec.completions = 28 | $(asks mig-1g.10gb 1) | $(runs 100)" >/dev/null
k_job team-a large "$(limit 600) | $(on mixed) | .spec.parallelism = 8 | .spec.completions = 8 | $(asks mig-3g.40gb 1) | $(runs 100)" >/dev/null
for name in small large; do passes "pods of all slices run, $name" done_well team-a/$name 30; done
l_restart
for name in small large; do passes "and are charged, $name" within 40 eval "[ \"\$(charged team-a/$name)\" -gt 0 ]"; done
is 'their GPUs come to those of the node' true \
    "$(jq -n "($(charged team-a/small) / $(seconds team-a/small) * 28 + $(charged team-a/large) / $(seconds team-a/large) * 8) as \$all |
	($(a_second 0 "$mixed") * 36) as \$cpus | (\$all - \$cpus) / 1000000 * (0.031611 * 96 + 0.004237 * 1152 + 0.95 * $mixed) /
	(0.95 * $mixed) | (. - 1 | fabs) < 0.00001")"

# By claims: templates, one that two pods share, alternatives, and the extended
# resources that stand for a class
claim() { # claim KIND NAME REQUEST
	jq -n --arg kind "$1" --arg name "$2" "{devices: {requests: [{name: \"it\"} + $3]}} as \$spec |
	    {kind: \$kind, apiVersion: \"resource.k8s.io/v1\", metadata: {name: \$name},
	    spec: (if \$kind == \"ResourceClaim\" then \$spec else {spec: \$spec} end)}" |
	    k_post "$D/namespaces/team-a/$(tr '[:upper:]' '[:lower:]' <<<"$1")s" >/dev/null
}
exactly() { echo "{exactly: {deviceClassName: \"$1\", allocationMode: \"ExactCount\", count: $2}}"; }
by() { # by FIELD NAME
	echo "$(on claimed) | .spec.template.spec.resourceClaims = [{name: \"gpus\", $1: \"$2\"}] |
	    .spec.template.spec.containers[0].resources = {requests: {cpu: \"1\", memory: \"1Gi\"}, claims: [{name: \"gpus\"}]}"
}
claim ResourceClaimTemplate two "$(exactly gpu.nvidia.com 2)"
claim ResourceClaimTemplate slice "$(exactly mig.nvidia.com 1) |
    .exactly.selectors = [{cel: {expression: \"device.attributes['gpu.nvidia.com'].profile == '1g.10gb'\"}}]"
claim ResourceClaimTemplate first "{firstAvailable: [{name: \"four\", deviceClassName: \"gpu.nvidia.com\", count: 4},
    {name: \"one\", deviceClassName: \"gpu.nvidia.com\"}]}"
claim ResourceClaim shared "$(exactly gpu.nvidia.com 1)"
claim ResourceClaimTemplate fpga "$(exactly fpga.example.org 1)"
claim ResourceClaimTemplate either "$(exactly either.example.org 1)"
claim ResourceClaimTemplate all "{exactly: {deviceClassName: \"gpu.nvidia.com\", allocationMode: \"All\"}}"
extended() {
	echo "$(on claimed) | .spec.template.spec.containers[0].resources = {requests: {cpu: \"1\", memory: \"1Gi\"}, limits: {\"$1\": \"1\"}}"
}
k_job team-a by-two "$(limit 600) | $(by resourceClaimTemplateName two) | $(runs 100)" >/dev/null
k_job team-a by-slice "$(limit 600) | $(by resourceClaimTemplateName slice) | $(runs 100)" >/dev/null
k_job team-a by-first "$(limit 600) | $(by resourceClaimTemplateName first) | $(runs 100)" >/dev/null
k_job team-a by-name "$(limit 600) | $(extended example.com/a100) | $(runs 100)" >/dev/null
k_job team-a by-class "$(limit 600) | $(extended deviceclass.resource.kubernetes.io/gpu.nvidia.com) | $(runs 100)" >/dev/null
claims='by-two 2 2
by-slice 0.142857 0.142857
by-first 4 1
by-name 1 1
by-class 1 1'
while read -r name _; do passes "$name is planned" planned team-a/$name; done <<<"$claims"
while read -r name most _; do passes "$name is held for by what it asks for at most" is_held "$name" "$most" 8; done <<<"$claims"
while read -r name _; do passes "$name runs" done_well "team-a/$name" 30; done <<<"$claims"
k_job team-a shared "$(limit 600) | .spec.parallelism = 2 | .spec.completions = 2 | $(by resourceClaimName shared) | $(runs 100)" >/dev/null
passes 'pods that share a claim run' k_wait 30 "$(job team-a/shared)" '.status.succeeded == 2'
l_restart
while read -r name _ part; do
	passes "$name is charged for the devices that it got" within 40 is_for "$name" "$part" 8
done <<<"$claims"
passes 'each that shares a claim has its part of it' within 40 is_for shared 0.5 8

# What is not understood counts for nothing less: it waits, and why is told
for name in fpga either all none; do
	k_job team-a "by-$name" "$(limit 600) | $(by resourceClaimTemplateName $name) | $(runs 20)" >/dev/null
	passes "$name is not understood: it waits" k_wait 10 "$(job team-a/by-$name)" '.metadata.annotations["lowtide.dev/hold"] != null and .spec.suspend'
done
is 'what of it is told' 'waits: claim gpus: not known is DeviceClass fpga.example.org, so nobody knows what it may cost of the budget of team-a; its place stays, by its resources.claims' \
    "$(note team-a/by-fpga plan)"
is 'a class that may be another device, too' 1 "$(note team-a/by-either plan | grep -c 'DeviceClass either.example.org')"
is 'all that there is' 1 "$(note team-a/by-all plan | grep -c 'allocationMode All')"
is 'a template that is not there' 1 "$(note team-a/by-none plan | grep -c 'claim gpus: it can.t be read')"
# Somebody starts it all the same: it is charged all of its node
k_patch "$(job team-a/by-fpga)" merge '{"spec": {"suspend": false}}' >/dev/null
passes 'one that somebody starts runs' done_well team-a/by-fpga 30
# One whose template comes later is looked at again
claim ResourceClaimTemplate none "$(exactly gpu.nvidia.com 1)"
l_ahead 1
passes 'a template that comes later is found, and held for' within 30 is_held by-none 1 8
passes 'and what it is for runs' done_well team-a/by-none 30
l_restart
all_of_it() { jq -en "$(charged team-a/by-fpga) as \$got | \$got > 0 and \$got == $(seconds team-a/by-fpga) * 1000000"; }
passes 'what is not understood is charged as all of its node' within 40 all_of_it

# A claim that went with its pod while lowtide was away: by its template
l_end
k_job team-a away "$(limit 600) | $(by resourceClaimTemplateName two) | $(runs 100)" >/dev/null
k_patch "$(job team-a/away)" merge '{"spec": {"suspend": false}}' >/dev/null
passes 'one runs that nobody watches' done_well team-a/away 30
k_delete "$D/namespaces/team-a/resourceclaims/$(k_get "$(pods_of team-a/away)" |
    jq -r '.items[0].status.resourceClaimStatuses[0].resourceClaimName')" >/dev/null
l_up
passes 'and is charged for what it asked for' within 40 is_for away 2 8
the_end
