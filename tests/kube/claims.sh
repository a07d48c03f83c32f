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
the_end
