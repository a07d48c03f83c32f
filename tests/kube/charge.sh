#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What pods are charged on nodes of all sizes, against what the API server says
# of the pods and of their own nodes. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

# One pool of three machine types, as Karpenter makes them, and 7.91 CPUs that
# are no whole number
machines='[["large","1930m","7Gi"],["big","95690m","370Gi"],["odd","7910m","29123456Ki"]]'
k_up "$work/kube" --speed 10 >/dev/null || exit 1
k_get /api/v1/nodes | jq --argjson of "$machines" '.items[0] as $n | $of | map(. as $x | $n |
    .metadata = {name: $x[0], labels: {"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.\($x[0])",
	"karpenter.sh/capacity-type": "on-demand", "kubernetes.io/hostname": $x[0]}} | .spec = {} |
    .status.allocatable = {cpu: $x[1], memory: $x[2], pods: "110"} | .status.capacity = .status.allocatable)' >"$work/nodes.json"
k_down
k_up "$work/kube" --speed 10 --mutate --nodes "$work/nodes.json" || exit 1
k_namespace team-a managed >/dev/null
l_day 0 9
l_policy 'budgets: [{team: team-a, period: month, amount: 100000000}]'
sed -i 's/^  ondemand: .*/  general: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600}/; /^  spot: /d' "$work/policy.yaml"
l_up || exit 1

# Micros of the pods of a Job: a node costs a USD a second, a pod's part of it is
# by what its CPUs and GiB are worth, (2a) of docs/model.md.
worth='def cpus: if endswith("m") then rtrimstr("m") | tonumber / 1000 else tonumber end;
    def gib: if endswith("Gi") then rtrimstr("Gi") | tonumber elif endswith("Mi") then rtrimstr("Mi") | tonumber / 1024
	else rtrimstr("Ki") | tonumber / 1048576 end;
    def worth: 0.031611 * (.cpu | cpus) + 0.004237 * (.memory | gib);
    def at: fromdateiso8601;'
owed() {
	jq -s "$worth"' (.[0].items | map({key: .metadata.name, value: (.status.allocatable | worth)}) | from_entries) as $node |
	    [.[1].items[] | select(.status.startTime) |
		((.status.containerStatuses[0].state.terminated.finishedAt | at) - (.status.startTime | at)) * 1000000 *
		(.spec.containers[0].resources.requests | worth) / $node[.spec.nodeName]] | add // 0' \
	    <(k_get /api/v1/nodes) <(k_get "$(pods_of "$1")")
}
# Rounded with a carry: of all that ran in a pool half a micro, of a Job one.
is_owed() {
	jq -en --argjson got "$(charged "$1")" --argjson want "$(owed "$1")" '$want > 0 and ($got - $want | fabs) <= 1'
}
on() { echo ".spec.template.spec.nodeSelector = {\"kubernetes.io/hostname\": \"$1\"}"; }
asks() { echo ".spec.template.spec.containers[0].resources.requests = {cpu: \"$1\", memory: \"$2\"}"; }
pods() { echo ".spec.parallelism = $1 | .spec.completions = $1"; }

k_job team-a tenths "$(limit 600) | $(pods 20) | $(on big) | $(asks 100m 64Mi) | $(runs 100)" >/dev/null
k_job team-a wholes "$(limit 600) | $(pods 20) | $(on big) | $(asks 1 640Mi) | $(runs 100)" >/dev/null
k_job team-a small "$(limit 600) | $(on large) | $(asks 1 1Gi) | $(runs 100)" >/dev/null
k_job team-a large "$(limit 600) | $(on big) | $(asks 1 1Gi) | $(runs 100)" >/dev/null
k_job team-a cpus "$(limit 600) | $(on odd) | $(asks 7119m 512Mi) | $(runs 100)" >/dev/null
k_job team-a memory "$(limit 600) | $(on odd) | $(asks 700m 26211110Ki) | $(runs 100)" >/dev/null
all='tenths wholes small large cpus memory'
for name in $all; do passes "$name runs" done_well team-a/$name 30; done
l_restart
for name in $all; do passes "$name is charged for its part of its own node" within 40 is_owed team-a/$name; done
seconds() { # seconds NAMESPACE/NAME: of all its pods
	k_get "$(pods_of "$1")" | jq 'def at: fromdateiso8601; [.items[] |
	    ((.status.containerStatuses[0].state.terminated.finishedAt | at) - (.status.startTime | at))] | add'
}
rate() { jq -n "$(charged "$1") / $(seconds "$1") * 1000 | floor"; }
is 'twenty tenths of a CPU cost a tenth of twenty CPUs' true \
    "$(jq -n "($(rate team-a/wholes) / $(rate team-a/tenths) - 10) | fabs < 0.001")"
is 'a pod is charged less on the larger machine' true "$(jq -n "$(rate team-a/small) > 40 * $(rate team-a/large)")"
both=$(jq -n "$(rate team-a/cpus) + $(rate team-a/memory)")
is 'what fills CPUs and what fills memory come to nine tenths and the rest of both, not to 1.8' true \
    "$(jq -n "$both > 0.9e9 and $both <= 1e9")"
is 'what the report tells of CPUs stays whole' 20 "$(runs_of team-a/tenths | jq '[.[].cpus] | add')"
is 'the share is in what explains it' 1 "$(lowtide explain team-a/small | grep -c 'share 0\.[0-9]*, COMPLETED')"

# Parts of the pool that the policy prices by their machine, and how they are sold
parts() {
	sed -i "s|^  general: .*|  general: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600}\n\
  general/m5.big: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: $1}\n\
  general/m5.odd/on-demand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: $2}\n\
  general/m5.odd/spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 1}|" "$work/policy.yaml"
}
parts 180000 360
l_restart
k_job team-a dear "$(limit 600) | $(on big) | $(asks 1 1Gi) | $(runs 100)" >/dev/null
k_job team-a cheap "$(limit 600) | $(on odd) | $(asks 1 1Gi) | $(runs 100)" >/dev/null
k_job team-a rest "$(limit 600) | $(on large) | $(asks 1 1Gi) | $(runs 100)" >/dev/null
k_job team-a any "$(limit 600) | .spec.template.spec.nodeSelector = {\"karpenter.sh/nodepool\": \"general\"} | $(asks 1 1Gi) | $(runs 100)" >/dev/null
k_job team-a best "$(wishes cost 600) | $(asks 1 1Gi) | $(runs 100)" >/dev/null
for name in dear cheap rest any best; do passes "$name runs" done_well team-a/$name 30; done
is 'one is put on the machines that cost least, by their labels' \
    '{"karpenter.sh/capacity-type":"on-demand","karpenter.sh/nodepool":"general","node.kubernetes.io/instance-type":"m5.odd"}' \
    "$(k_get "$(job team-a/best)" | jq -cS .spec.template.spec.nodeSelector)"
held() { sqlite3 -readonly "$L/state/ledger.db" "SELECT money_micros FROM holds WHERE job_id = $(id_of "$1")"; }
is 'one that may run on any of them is held for by the dearest part' "$(held team-a/dear)" "$(held team-a/any)"
l_restart
was() { # was NAME TIMES: charged so many times what its share of a USD a second is
	jq -en --argjson got "$(charged "team-a/$1")" --argjson want "$(owed "team-a/$1")" \
	    '$want > 0 and ($got - $want * '"$2"' | fabs) <= 1'
}
passes 'the dear part costs its price' within 40 was dear 50
passes 'the cheap one, too' within 40 was cheap 0.1
passes 'and the rest that of the pool' within 40 was rest 1
is 'the part that runs are of' '["general/m5.big"]["general/m5.odd/on-demand"]["general"]' \
    "$(for name in dear cheap rest; do runs_of team-a/$name | jq -c '[.[].partition]'; done | tr -d '\n')"
sed -i '/^  general\//d' "$work/policy.yaml"
l_restart

# A node that is gone: what ran there is charged by what it had
k_job team-a gone "$(limit 600) | .spec.backoffLimit = 0 | $(on odd) | $(asks 2 1Gi) | $(runs 1000)" >/dev/null
passes 'one runs' k_wait 20 "$(job team-a/gone)" '.status.ready == 1'
was=$(k_get /api/v1/nodes)
sleep 1.1
k_delete /api/v1/nodes/odd >/dev/null
passes 'its node goes' k_wait 10 "$(job team-a/gone)" 'any(.status.conditions[]?; .type == "Failed")'
lost() {
	local want
	want=$(jq -s "$worth"' (.[0].items[] | select(.metadata.name == "odd") | .status.allocatable | worth) as $node | .[1].items[0] |
	    ((.status.conditions[] | select(.type == "DisruptionTarget") | .lastTransitionTime | at) - (.status.startTime | at)) *
	    1000000 * (.spec.containers[0].resources.requests | worth) / $node' <(echo "$was") <(k_get "$(pods_of team-a/gone)"))
	jq -en --argjson got "$(charged team-a/gone)" --argjson want "$want" '$want > 0 and ($got - $want | fabs) <= 1'
}
l_restart
passes 'and it is charged by what that had' within 40 lost

# A hold is never below its charge
above() {
	sqlite3 -readonly "$L/state/ledger.db" \
	    "SELECT count(*) FROM runs WHERE over_reason != ''"
}
is 'nothing was charged above its hold' 0 "$(above)"

# Random pods on random nodes, on a cluster of its own: what they are charged and
# what nobody requested come to what the nodes cost
l_end
k_down
rm -rf "$L/state/"* "$L/run/"*
k_up "$work/random" --speed 10 --mutate --nodes "$work/nodes.json"
k_namespace team-a managed >/dev/null
l_up
nodes=(large big odd)
RANDOM=44
for i in $(seq 1 24); do
	k_job team-a "any-$i" "$(limit 600) | $(on "${nodes[RANDOM % 3]}") | $(asks $((RANDOM % 190 + 1))m $((RANDOM % 700 + 1))Mi) |
	    $(runs $((RANDOM % 200 + 20)))" >/dev/null
done
ended() { k_get "$K_JOBS/team-a/jobs" | jq -e '[.items[] | select(.status.completionTime)] | length == 24'; }
passes 'random pods run' within 40 ended
l_ahead 3
l_restart
settled() { [ "$(lowtide report --json --runs | jq '.runs | length')" -eq 24 ]; }
passes 'and are charged' within 40 settled
lowtide report --unused --json >"$work/unused.json"
row='.unused.partitions[] | select(.partition == "general")'
is 'used is what they were charged' "$(lowtide report --json --runs | jq '[.runs[].money_micros] | add')" \
    "$(jq "$row | .used_micros" "$work/unused.json")"
is 'paid is each node, at a USD a second, used or not' true \
    "$(jq "$row | .paid_node_s > 3 * 3 * 3600 - 60 and .paid_micros == .paid_node_s * 1000000" "$work/unused.json")"
# Node by node, what is left of its seconds once its pods' are taken off.
left=$(jq -s "$worth"' .[0].items as $nodes | .[1].items as $pods | (.[2] | '"$row"' | .paid_node_s / 3) as $s |
    [$nodes[] | . as $node | $s - ([$pods[] | select(.spec.nodeName == $node.metadata.name) |
	((.status.containerStatuses[0].state.terminated.finishedAt | at) - (.status.startTime | at)) *
	(.spec.containers[0].resources.requests | worth) / ($node.status.allocatable | worth)] | add // 0)] | add * 1000000' \
    <(k_get /api/v1/nodes) <(k_get $K_CORE/team-a/pods) "$work/unused.json")
is 'the rest is what nobody requested, node by node, to the micro' true \
    "$(jq "$row"' | (.unused_micros - '"$left"' | fabs) <= 1' "$work/unused.json")"
unallocated() { lowtide report --format focus | grep -c 'Unallocated'; }
sed -i '1i billed: yes\nissuer: Example\nbilling_account: {id: hpc, name: HPC}' "$work/policy.yaml"
l_restart
is 'in a bill of the site nothing of that, where a cloud bills the nodes' 0 "$(unallocated)"
sed -i 's/^  general: {/  general: {owned: true, electricity_price_per_kwh: 0.2, /' "$work/policy.yaml"
l_restart
passes 'and a row of the site'\''s own nodes' within 10 eval '[ "$(unallocated)" -eq 1 ]'
is 'which is told of all pools' 'Nodes of all pools, paid whether used or not, USD' "$(lowtide report --unused | grep '^Nodes of')"
the_end
