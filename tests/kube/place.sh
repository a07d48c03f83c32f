#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where Jobs go on a played cluster that is not theirs alone: pools that others
# fill, pools with taints, pods that say where they run. BUILD: the build
# folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

# Pools by price, the dearest last; the first by name is the dearest, too.
#   gpu     1 a second, GPUs, and their taint
#   mine    2, a taint of the site's own
#   cheap   3
#   able    4
nodes() {
	jq -n 'def node($pool; $n; $taints; $gpus): {metadata: {name: "\($pool)-\($n)", labels: {"lowtide.dev/pool": $pool,
	    "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}}, spec: {taints: $taints},
	    status: {capacity: ({cpu: "64", memory: "512Gi", pods: "110"} + $gpus)}};
	    [(1, 2) as $n | node("gpu"; $n; [{key: "nvidia.com/gpu", value: "present", effect: "NoSchedule"}]; {"nvidia.com/gpu": "8"}),
	    node("mine"; $n; [{key: "dedicated", value: "us", effect: "NoSchedule"}]; {}),
	    node("cheap"; $n; []; {}), node("able"; $n; []; {})]'
}
policy() {
	cat >"$work/policy.next" <<-TEXT
		mode: enforce
		currency: USD
		timezone: UTC
		max_delay: 24h
		sources:
		  day: {adapter: file, quantity: carbon, path: $work/day.csv, value: g}
		partitions:
		  gpu: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600}
		  mine: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 7200}
		  cheap: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 10800}
		  able: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 14400}
	TEXT
	mv "$work/policy.next" "$work/policy.yaml"
}

nodes >"$work/nodes.json"
k_up "$work/kube" --speed 10 --mutate --nodes "$work/nodes.json" || exit 1
k_namespace team-a managed >/dev/null
k_namespace other >/dev/null
l_day 0 9
policy
l_up || exit 1

cpus() { echo ".spec.template.spec.containers[0].resources.requests.cpu = \"$1\""; }
home_of() { lowtide explain --json "$1" | jq -r .quote.home; }
hog() { # hog NODE CPUS: somebody else's pod on it
	k_pod other "hog-$1-$RANDOM" ".spec.nodeName = \"$1\" | .spec.containers[0].resources.requests.cpu = \"$2\" |
	    .metadata.annotations[\"test/run-seconds\"] = \"100000\"" | jq -r .metadata.name
}
runs_on() { # runs_on NAME POOL: its pods do, and lowtide put them there
	[ "$(k_get "$(pods_of "team-a/$1")" | jq -c '[.items[] | .spec.nodeName // "" | sub("-[0-9]$"; "")] | unique')" == "[\"$2\"]" ]
}

# Taints
k_job team-a plain "$(wishes cost 600) | $(runs 20)" >/dev/null
passes 'a Job without GPUs or tolerations runs' done_well team-a/plain
passes 'in the cheapest pool whose taints it bears' runs_on plain cheap
k_job team-a tolerant "$(wishes cost 600) | $(runs 20) |
    .spec.template.spec.tolerations = [{key: \"dedicated\", value: \"us\"}]" >/dev/null
passes 'one that bears the taint of a cheaper pool runs' done_well team-a/tolerant
passes 'there' runs_on tolerant mine
k_job team-a training "$(wishes cost 600) | $(runs 20) |
    .spec.template.spec.containers[0].resources.limits = {\"nvidia.com/gpu\": \"1\"} |
    .spec.template.spec.tolerations = [{key: \"nvidia.com/gpu\", operator: \"Exists\"}]" >/dev/null
passes 'one with GPUs runs' done_well team-a/training
passes 'where they are' runs_on training gpu

# Without lowtide: where kube-scheduler would put it, the emptiest node
hogs=$(for n in cheap-1 cheap-2 able-1; do hog $n 20; done)
sleep 1
k_job team-a spread "$(wishes cost 600) | $(runs 20)" >/dev/null
passes 'a Job is planned' planned team-a/spread
is 'its home is the pool of the emptiest node' able "$(home_of team-a/spread)"
passes 'it goes where it is cheaper' done_well team-a/spread
passes 'as there is room' runs_on spread cheap

# A pool that others fill: in each node is some room, in none enough
hogs="$hogs $(for n in cheap-1 cheap-2; do hog $n 20; done)"
sleep 1
k_job team-a large "$(wishes cost 600) | $(cpus 30) | $(runs 20)" >/dev/null
passes 'one that no node of the cheapest pool has room for runs' done_well team-a/large
passes 'in another' runs_on large able
k_job team-a small "$(wishes cost 600) | $(cpus 20) | $(runs 20)" >/dev/null
passes 'and a smaller one runs' done_well team-a/small
passes 'in the cheapest' runs_on small cheap
for name in $hogs; do k_delete "$(pod "other/$name")"; done >/dev/null
sleep 1
k_job team-a again "$(wishes cost 600) | $(cpus 30) | $(runs 20)" >/dev/null
passes 'once those have ended' done_well team-a/again
passes 'there is room again' runs_on again cheap

# Full by its hour
l_day 2 9
l_restart
k_job team-a later "$(wishes carbon 600) | $(cpus 50) | $(runs 20)" >/dev/null
passes 'one that waits for clean hours' planned team-a/later
was=$(note team-a/later pool)
hogs=$(for n in 1 2; do hog "$was-$n" 40; done)
l_ahead 2
passes 'whose pool is full by then runs all the same' done_well team-a/later 30
passes 'in another' runs_on later "$([ "$was" == cheap ] && echo able || echo cheap)"
passes 'told so' within 5 eval 'events_of team-a/later | grep -q LowtideNoRoom'
for name in $hogs; do k_delete "$(pod "other/$name")"; done >/dev/null

# Let go, and no node takes it, for what only kube-scheduler knows
# Its limit is not over where the clock is set ahead.
k_job team-a refused "$(wishes cost 72000) | $(runs 20) | .spec.template.metadata.annotations[\"test/never-on\"] = \"cheap\"" >/dev/null
has_waited() { # its pod, and lowtide put it there
	k_wait 10 "$(pods_of team-a/refused)" 'any(.items[]; .spec.nodeSelector["lowtide.dev/pool"] == "cheap" and
	    any(.status.conditions[]?; .reason == "Unschedulable"))'
}
passes 'one whose pool refuses it waits' has_waited
sleep 2
is 'for as long as a pool may need' false "$(k_get "$(job team-a/refused)" | of .spec.suspend)"
l_ahead 3
passes 'then it is placed anew, and runs' done_well team-a/refused 30
passes 'in another pool' runs_on refused able
passes 'told so' within 5 eval 'events_of team-a/refused | grep -q LowtideUnschedulable'
k_job team-a stays "$(wishes cost 600) | $(runs 20) | .spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"cheap\"} |
    .spec.template.metadata.annotations[\"test/never-on\"] = \"cheap\"" >/dev/null
has_waited_there() { k_wait 10 "$(pods_of team-a/stays)" 'any(.items[].status.conditions[]?; .reason == "Unschedulable")'; }
passes 'one whose user chose the pool' has_waited_there
l_ahead 4
sleep 3
is 'stays there' '[false,{"lowtide.dev/pool":"cheap"}]' "$(k_get "$(job team-a/stays)" | of '[.spec.suspend, .spec.template.spec.nodeSelector]')"

# What says where it runs, and is not understood
k_job team-a apart "$(wishes cost 600) | $(runs 20) | .spec.template.spec.affinity.podAntiAffinity =
    {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: \"kubernetes.io/hostname\"}]}" >/dev/null
passes 'one with a rule of its own runs' done_well team-a/apart
is 'lowtide adds none' '[null,null]' "$(k_get "$(job team-a/apart)" | of '.spec.template.spec | [.nodeSelector, .tolerations]')"
is 'and says so' 1 "$(note team-a/apart plan | grep -c '; its place stays, by its podAntiAffinity$')"
# A pool without a node at the Job's hour
l_day 2 9
l_restart
k_job team-a orphan "$(wishes carbon 600) | $(cpus 50) | $(runs 20)" >/dev/null
passes 'one that waits for clean hours' planned team-a/orphan
was=$(note team-a/orphan pool)
for i in 1 2; do k_delete "/api/v1/nodes/$was-$i"; done >/dev/null
l_ahead 6
passes 'is told that its pool has no node' within 10 eval 'events_of team-a/orphan message | grep -q "has no node now: it is planned again"'
other=$([ "$was" == cheap ] && echo able || echo cheap)
passes 'then it runs' done_well team-a/orphan 30
passes 'elsewhere' runs_on orphan "$other"
is 'as it is planned' "{\"lowtide.dev/pool\":\"$other\"}" "$(k_get "$(job team-a/orphan)" | of .spec.template.spec.nodeSelector)"

doctor() { KUBECONFIG=$work/kubeconfig lowtide doctor --config "$work/policy.yaml" 2>&1; }
is 'doctor says that places are firm' 1 "$(doctor | grep -cE '^ok +place +firm: ')"

# An older server, which keeps the template of what was let go
l_end
k_down
rm -rf "$L/state/"* "$L/run/"*
l_ahead 0
k_up "$work/older" --speed 10 --mutate --nodes "$work/nodes.json" --minor 34
k_namespace team-a managed >/dev/null
l_day 0 9
policy
l_up
is 'doctor says that they are soft' 1 "$(doctor | grep -cE '^note +place +soft: ')"
mine='{weight: 1, preference: {matchExpressions: [{key: "kubernetes.io/os", operator: "Exists"}]}}'
k_job team-a soft "$(wishes cost 600) | $(runs 20) |
    .spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution = [$mine]" >/dev/null
passes 'a Job runs' done_well team-a/soft
passes 'in the cheapest pool' runs_on soft cheap
is 'as a preference beside its own' '[null,1,100,["cheap"]]' "$(k_get "$(job team-a/soft)" | of '.spec.template.spec |
    [.nodeSelector, (.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution |
	.[0].weight, .[1].weight, .[1].preference.matchExpressions[0].values)]')"
k_job team-a elsewhere "$(wishes cost 600) | $(runs 20) | .spec.template.metadata.annotations[\"test/never-on\"] = \"cheap\"" >/dev/null
passes 'one that this pool refuses runs at once' done_well team-a/elsewhere
passes 'in another' runs_on elsewhere able
is_charged() { [ "$(charged "$1")" -gt 0 ]; }
passes 'it is charged' within 40 is_charged team-a/elsewhere
is 'for where it ran' '["able"]' "$(runs_of team-a/elsewhere | of '[.[].partition]')"
k_job team-a covered "$(wishes cost 600) | .metadata.annotations[\"lowtide.dev/pause\"] = \"true\"" >/dev/null
planned team-a/covered
sleep 2
# A CPU and a GiB of a node of 64 and 512, by the weights of docs/model.md, (2a), that costs 4 a
# second, for 600 s and twice the time to end.
is 'of one that is to run in the cheapest' cheap "$(note team-a/covered pool)"
is 'what it may cost elsewhere is held' 1 "$(sqlite3 -readonly "$L/state/ledger.db" \
    "SELECT money_micros >= 4000000 * (0.031611 + 0.004237) / (64 * 0.031611 + 512 * 0.004237) * 660 FROM holds WHERE job_id = $(id_of team-a/covered)")"
the_end
