#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pools that have no node now, and bring some once pods want them, as an
# autoscaler's do: here the test is the autoscaler. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

# Pools by price: none comes to "ghost", "burst" was never there.
#   ghost   1 a second
#   burst   2, by the policy: 16 CPUs, ARM, a taint for spot nodes
#   spot    3, a taint for spot nodes
#   able    4
node() { # node POOL NUMBER CPUS ARCH TAINTED
	jq -n --arg pool "$1" --arg n "$2" --arg cpus "$3" --arg arch "$4" --argjson tainted "$5" '{kind: "Node", apiVersion: "v1",
	    metadata: {name: "\($pool)-\($n)", labels: {"lowtide.dev/pool": $pool, "kubernetes.io/os": "linux", "kubernetes.io/arch": $arch,
		"node.kubernetes.io/instance-type": "m.\($cpus)"}},
	    spec: {taints: (if $tainted then [{key: "lowtide.dev/spot", value: "true", effect: "NoSchedule"}] else [] end)},
	    status: ({cpu: $cpus, memory: "512Gi", pods: "110"} as $has | {capacity: $has, allocatable: $has,
		conditions: [{type: "Ready", status: "True"}]})}'
}
comes() { node "$@" | k_post /api/v1/nodes >/dev/null; }
goes() { k_delete "/api/v1/nodes/$1" >/dev/null; }
policy() { # policy TEXT: of ghost, burst and spot beside their prices
	cat >"$work/policy.next" <<-TEXT
		mode: enforce
		currency: USD
		timezone: UTC
		max_delay: 24h
		sources:
		  day: {adapter: file, quantity: carbon, path: $work/day.csv, value: g}
		partitions:
		  able: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 14400}
		$1
	TEXT
	mv "$work/policy.next" "$work/policy.yaml"
}
price() { echo "  $1: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: $2$3}"; }
spot() { price spot 10800 "$1"; }

jq -s . <(node spot 1 64 amd64 true) <(node able 1 64 amd64 false) <(node able 2 64 amd64 false) >"$work/nodes.json"
k_up "$work/kube" --speed 10 --mutate --nodes "$work/nodes.json" || exit 1
k_namespace team-a managed >/dev/null
k_namespace other >/dev/null
l_day 0 9
policy "$(spot ', target: yes')"
l_up || exit 1

cpus() { echo ".spec.template.spec.containers[0].resources.requests.cpu = \"$1\""; }
home_of() { lowtide explain --json "$1" | jq -r .quote.home; }
reject_of() { lowtide explain "$1" | grep -c "$2.*no node there now"; }
unschedulable() { # unschedulable NAME POOL: its pod waits for a node of that pool
	k_wait 10 "$(pods_of "team-a/$1")" "any(.items[]; .spec.nodeSelector[\"lowtide.dev/pool\"] == \"$2\" and
	    any(.status.conditions[]?; .reason == \"Unschedulable\"))"
}
runs_on() { # runs_on NAME NODE...
	local name=$1
	shift
	[ "$(k_get "$(pods_of "team-a/$name")" | jq -r '[.items[].spec.nodeName // "none"] | unique | join(" ")')" == "$*" ]
}

# Its last node is known over a restart
sleep 1
goes spot-1
sleep 1
l_restart
is 'what a node of the pool was is kept' 'spot-64-1' "$(sqlite3 -readonly "$L/state/kube.db" \
    "SELECT json_extract(node, '\$.metadata.labels.\"lowtide.dev/pool\"') || '-' || json_extract(node, '\$.status.allocatable.cpu') || '-' ||
	json_array_length(node, '\$.spec.taints') FROM nodes WHERE kind LIKE 'spot %'")"
k_job team-a first "$(wishes cost 600) | $(runs 20)" >/dev/null
passes 'a Job is put into a pool that has no node' unschedulable first spot
is 'with what its nodes want' '["lowtide.dev/spot"]' "$(k_get "$(job team-a/first)" | of '[.spec.template.spec.tolerations[].key]')"
is 'whose home is where there is a node with room' able "$(home_of team-a/first)"
comes spot 2 64 amd64 true
passes 'it runs once a node comes' done_well team-a/first
passes 'there' runs_on first spot-2
k_job team-a wide "$(wishes cost 600) | $(cpus 40) | .spec.parallelism = 3 | .spec.completions = 3 | $(runs 20)" >/dev/null
passes 'one that wants more nodes than there are waits for them' unschedulable wide spot
comes spot 3 64 amd64 true
comes spot 4 64 amd64 true
passes 'and runs' k_wait 15 "$(job team-a/wide)" '.status.succeeded == 3'
passes 'in that pool' runs_on wide spot-2 spot-3 spot-4
for i in 2 3 4; do goes spot-$i; done

# No node comes
k_job team-a refused "$(wishes cost 36000) | $(runs 20)" >/dev/null
passes 'one for which no node comes' unschedulable refused spot
l_seconds_ahead 600
sleep 3
is 'waits for as long as an autoscaler may need' false "$(k_get "$(job team-a/refused)" | of .spec.suspend)"
l_seconds_ahead 1000
passes 'then it is planned anew, and runs' done_well team-a/refused 30
passes 'elsewhere' runs_on refused able-1
is 'told so, once' 1 "$(events_of team-a/refused | of '[.[] | select(. == "LowtideUnschedulable")] | length')"

# Where the scheduler would have put it
k_pod other hog-1 '.spec.nodeName = "able-1" | .spec.containers[0].resources.requests.cpu = "60" | .metadata.annotations["test/run-seconds"] = "100000"' >/dev/null
k_pod other hog-2 '.spec.nodeName = "able-2" | .spec.containers[0].resources.requests.cpu = "60" | .metadata.annotations["test/run-seconds"] = "100000"' >/dev/null
sleep 1
tolerant='.spec.template.spec.tolerations = [{key: "lowtide.dev/spot", operator: "Exists"}]'
k_job team-a crowded "$(wishes cost 600) | $(cpus 20) | $tolerant | $(runs 20)" >/dev/null
passes 'where no node has room, and one of a pool without nodes would' unschedulable crowded spot
is 'that pool is its home' spot "$(home_of team-a/crowded)"
comes spot 5 64 amd64 true
passes 'it runs' done_well team-a/crowded
goes spot-5
for i in 1 2; do k_delete "$K_CORE/other/pods/hog-$i" >/dev/null; done

# As the policy says
policy "$(spot '')
$(price ghost 3600 ', target: yes')"
l_restart
k_job team-a closed "$(wishes cost 600) | $(runs 20)" >/dev/null
passes 'where the policy does not say that it scales, a Job runs' done_well team-a/closed
passes 'elsewhere' runs_on closed able-1
passes 'and explain says why' [ "$(reject_of team-a/closed spot)" -ge 1 ]
passes 'of one whose nodes are not known, too' [ "$(reject_of team-a/closed ghost)" -ge 1 ]
policy "$(spot ', target: yes')
$(price burst 7200 ', target: yes, node: {cpus: 16, memory: 64GiB, count: 2, labels: "kubernetes.io/arch=arm64", taints: "lowtide.dev/spot=true:NoSchedule"}')"
l_restart
k_job team-a arm "$(wishes cost 600) | $(runs 20) | .spec.template.spec.nodeSelector = {\"kubernetes.io/arch\": \"arm64\"}" >/dev/null
passes 'a pool that the policy writes is chosen by its labels' unschedulable arm burst
k_job team-a big "$(wishes cost 600) | $(cpus 20) | $(runs 20)" >/dev/null
passes 'and not where its nodes are too small' unschedulable big spot
k_job team-a many "$(wishes cost 600) | $(cpus 10) | .spec.parallelism = 3 | .spec.completions = 3 | $(runs 20)" >/dev/null
passes 'or too few' unschedulable many spot
comes burst 1 16 arm64 true
comes spot 6 64 amd64 true
for name in arm big many; do passes "$name runs" done_well team-a/$name; done
goes burst-1

# doctor
policy "$(spot ', target: yes')
$(price burst 7200 '')
$(price ghost 3600 ', target: yes')
$(price nowhere 3600 '')"
goes spot-6
l_restart
doctor() { KUBECONFIG=$work/kubeconfig lowtide doctor --config "$work/policy.yaml" 2>&1; }
says() { doctor | grep -cE "^$1 +pools +$2"; }
is 'doctor tells of a pool that brings nodes' 1 "$(says ok 'pool spot has no node now: it brings some')"
is 'of one that is not said to' 1 "$(says note 'pool burst has no node now: no Job is sent to it')"
is 'of one whose nodes are not known' 1 "$(says warning 'pool ghost has no node now, and what one would be is not known')"
is 'and of one that may be misspelt' 1 "$(says warning "the policy's partition nowhere: no node is in a pool of that name")"
is 'nothing is mixed' 0 "$(says warning 'pool [a-z]* has nodes of several machines')"
comes able 3 32 amd64 false
is_mixed() { [ "$(says warning 'pool able has nodes of several machines, or sold in several ways, under one price')" == 1 ]; }
passes 'until a pool has two kinds of machines' within 15 is_mixed
goes able-3

# Gone at its hour
policy "$(spot '')"
comes spot 7 64 amd64 true
l_restart
k_job team-a orphan "$(wishes cost 600) | $(runs 20) | .metadata.annotations[\"lowtide.dev/pause\"] = \"true\"" >/dev/null
passes 'one that waits is planned' planned team-a/orphan
is 'for a pool that does not scale' spot "$(note team-a/orphan pool)"
goes spot-7
k_patch "$(job team-a/orphan)" merge '{"metadata": {"annotations": {"lowtide.dev/pause": null}}}' >/dev/null
passes 'whose node is gone by then is told so' within 10 eval 'events_of team-a/orphan message | grep -q "pool spot has no node now: it is planned again"'
passes 'it runs' done_well team-a/orphan 30
is 'by a new plan' able "$(note team-a/orphan pool)"
is 'with the labels of that' '{"lowtide.dev/pool":"able"}' "$(k_get "$(job team-a/orphan)" | of .spec.template.spec.nodeSelector)"
the_end
