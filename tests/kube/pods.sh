#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods of no Job (Deployments, StatefulSets, DaemonSets, operators') on a played
# Kubernetes cluster: charged hour by hour while they run, against what the API
# server says of them and of their nodes. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/first" >/dev/null || exit 1
k_get /api/v1/nodes | jq '[.items[]] | . + [.[0] | .metadata = {name: "bare-1",
    labels: {"lowtide.dev/pool": "bare", "kubernetes.io/hostname": "bare-1"}}]' >"$work/nodes.json"
k_down
k_up "$work/kube" --mutate --nodes "$work/nodes.json" || exit 1
for team in team-a team-b; do k_namespace $team managed; done >/dev/null
k_namespace plain >/dev/null
l_day 0 90
l_policy 'budgets:
  - {team: team-a, period: month, amount: 100000000}
  - {team: team-b, period: month, amount: 7000, on_exceed: hold}'
l_up || exit 1

# own NAMESPACE POD KIND OWNER [FILTER]: a pod of that owner, in pool ondemand
own() {
	k_pod "$1" "$2" "$(runs 100000000 | sed 's/spec.template.//') |
	    .metadata.ownerReferences = [{apiVersion: \"apps/v1\", kind: \"$3\", name: \"$4\", controller: true,
		uid: \"00000000-0000-4000-8000-00000000000${#4}\"}] |
	    .spec.nodeSelector = {\"lowtide.dev/pool\": \"ondemand\"} | ${5:-.}" >/dev/null
}
hash() { echo ".metadata.labels = {\"pod-template-hash\": \"$1\"}"; }
asks() { echo ".spec.containers[0].resources.requests = {cpu: \"$1\", memory: \"$2\"}"; }
k_watch 1000000 "$K_CORE/team-a/pods?resourceVersion=0" >"$work/watched" 2>/dev/null &
watcher=$!
for i in 1 2 3; do own team-a web-5d4f8-$i ReplicaSet web-5d4f8 "$(hash 5d4f8)"; done
own team-a db-0 StatefulSet db "$(asks 2500m 3Gi)"
own team-a agent-x DaemonSet agent "del(.spec.containers[0].resources)"
own team-a ray-head RayCluster ray "$(asks 4 8Gi) | .spec.containers[0].resources.limits = {\"nvidia.com/gpu\": \"1\"}"
own team-a odd-1 DaemonSet odd '.spec.nodeSelector = {"lowtide.dev/pool": "bare"}'
own team-b api-1 StatefulSet api
own plain out-1 StatefulSet out
all_run() { k_get "/api/v1/pods" | jq -e '[.items[] | select(.status.phase == "Running")] | length == '"$1"; }
passes 'all pods run' within 20 all_run 9

# The last hour that can be known to be over, and what these pods are owed until
# then, or until they ended: by the API server's words of each, once.
until_then() { echo $((($(now) - 60) / 3600 * 3600)); }
owes() { # owes OWNER [UNTIL]: micros; pods that are gone as they were last
	jq -s --arg owner "$1" --argjson until "${2:-$(until_then)}" "${OWED%%\[.items*}"'
	    [.[] | .object] | group_by(.metadata.uid) | map(last) | map(select(.metadata.ownerReferences[0].name | startswith($owner)) |
		((.status.containerStatuses[0].state.terminated.finishedAt // null) as $gone |
		    if $gone then $gone | at else $until end) as $to |
		([$to - (.status.startTime | at), 0] | max) * (.spec.nodeName | price) *
		(.spec.containers[0].resources | (.requests // {cpu: "100m", memory: "200Mi"}) + (.limits // {}) | worth)) |
	    add // 0 | . + 0.5 | floor' <(grep -a '"object"' "$work/watched")
}
# A row's share is of 10^-12 of a node, rounded down.
is_near() { jq -en --argjson got "$1" --argjson want "$2" '$want > 0 and ($got - $want | fabs) <= 1 + $want / 10000000000'; }
is_charged() { # is_charged NAMESPACE/KIND/NAME OWNER [UNTIL]
	is_near "$(charged "$1")" "$(owes "$2" "${3-}")"
}
l_ahead 1
passes 'pods of a Deployment are charged for the hour that is over' within 100 is_charged team-a/deployment/web web
passes 'of a StatefulSet' within 20 is_charged team-a/statefulset/db db
passes 'of an operator, with a GPU' within 20 is_charged team-a/raycluster/ray ray
passes 'of a DaemonSet that requests nothing as 100m and 200Mi' within 20 is_charged team-a/daemonset/agent agent
is 'those that take no part are not' '' "$(id_of plain/statefulset/out)"
row='[.[] | {name, state, money_micros}]'
is 'on a node without a price it is a row without one' '[{"name":"daemonset/odd","state":"RUNNING","money_micros":null}]' \
    "$(runs_of team-a/daemonset/odd | jq -c "$row")"
is 'one row is for pods that are alike' true "$(runs_of team-a/deployment/web | jq 'length <= 3 and ([.[].cpus] | add) == 3')"
is 'a report of runs has their owner' 1 "$(lowtide report --runs | grep -c 'statefulset/db')"
is 'explain finds it by its name alone' 1 "$(lowtide explain team-a/db | grep -c 'RUNNING')"
is 'and with its kind' 1 "$(lowtide explain team-a/statefulset/db | grep -c 'RUNNING')"

is 'jobs says whose they are' '["team-a/daemonset/agent",1]["team-a/daemonset/odd",1]["team-a/deployment/web",3]["team-a/raycluster/ray",1]["team-a/statefulset/db",1]["team-b/statefulset/api",1]' \
    "$(lowtide jobs --json | jq -c '.unheld[] | [.id, .pods]' | tr -d '\n')"
is 'as a table' 1 "$(lowtide jobs | grep -c '^team-a/deployment/web  *team-a  *ondemand  *3$')"
is 'and status how many' 1 "$(lowtide status | grep -c '8 pods of no Job run: charged each hour, and nothing is held for them')"
doctor() { KUBECONFIG=$work/kubeconfig lowtide doctor --config "$work/policy.yaml" 2>&1; }
is 'doctor says how many a budget does not hold, and whose are most' \
    "8 pods of no Job run in teams with a budget, which does not hold them: $(k_get /api/v1/pods | jq -r '
	[.items[] | select(.metadata.namespace != "plain") | .metadata as $m |
	    "\($m.namespace)/\($m.ownerReferences[0] | if .kind == "ReplicaSet" then "deployment/" + (.name | sub("-[^-]*$"; ""))
		else (.kind | ascii_downcase) + "/" + .name end)"] | group_by(.) | map([length, .[0]])[] | select(.[0] > 1) |
	"\(.[1]) (\(.[0]))"')" \
    "$(doctor | grep -o '[0-9]* pods of no Job run[^:]*: [^,]*')"
is 'and all their owners' 5 "$(doctor | grep 'pods of no Job run' | grep -o 'team-[ab]/[a-z]*/[a-z]* ([0-9]*)' | wc -l)"

# Killed, again and again: each second is charged once
l_ahead 4
for _ in 1 2 3 4; do
	sleep 1
	l_end KILL
	l_up || exit 1
done
for name in deployment/web statefulset/db raycluster/ray; do
	passes "$name is charged once whatever is killed" within 100 is_charged team-a/$name "${name#*/}"
done

# A rollout: what is deleted ends, what replaces it is the same Deployment's
own team-a web-7c9aa-1 ReplicaSet web-7c9aa "$(hash 7c9aa)"
passes 'another template'\''s pod runs' within 20 all_run 10
k_delete "$(pod team-a/web-5d4f8-1)" >/dev/null
passes 'one of the old ends' within 60 all_run 9
l_ahead 6
passes 'both are charged by their times' within 100 is_charged team-a/deployment/web web
is 'under one name' '["deployment/web"]' "$(runs_of team-a/deployment/web | jq -c '[.[].name] | unique')"

# It counts: what is left is not enough for a Job
k_job team-b late "$(limit 60) | $(runs 20)" >/dev/null
passes 'a Job waits for the budget that they took' k_wait 30 "$(job team-b/late)" '.metadata.annotations["lowtide.dev/hold"] == "budget"'

# Gone while nobody watched
heard() { sqlite3 -readonly "$L/state/kube.db" 'SELECT utc_s FROM heard'; }
l_end
last=$(heard)
k_delete "$(pod team-a/db-0)" >/dev/null
passes 'a pod ends while lowtide is down' within 60 all_run 8
l_ahead 8
l_up || exit 1
start=$(jq -rs '[.[] | .object | select(.metadata.name == "db-0") | .status.startTime | select(.)] | last | fromdateiso8601' \
    <(grep -a '"object"' "$work/watched"))
until_heard() { is_near "$(charged team-a/statefulset/db)" $(((last - start) * 50 * (31611 * 5 + 4237 * 6) / 2)); }
passes 'it is charged to when it was seen last' within 60 until_heard
is 'as estimated' 1 "$(sqlite3 -readonly "$L/state/kube.db" "SELECT sum(estimated) FROM runs WHERE name = 'statefulset/db'")"
passes 'those that ran on are charged for all of it' within 100 is_charged team-a/raycluster/ray ray

# The label goes, and comes again
label() { k_patch /api/v1/namespaces/team-a merge "{\"metadata\":{\"labels\":{\"lowtide.dev/managed\":$1}}}" >/dev/null; }
seconds() { runs_of team-a/raycluster/ray | jq 'def at: fromdateiso8601; [.[] | (.end | at) - (.start | at)] | add'; }
from=$(now)
label null
is_left() { [ "$(sqlite3 -readonly "$L/state/kube.db" "SELECT count(*) FROM runs WHERE parts = 1 AND end = 0 AND team = 'team-a'")" == 0 ]; }
passes 'a namespace that takes part no more is left' within 20 is_left
ray=$(jq -rs '[.[] | .object | select(.metadata.name == "ray-head") | .status.startTime | select(.)] | last | fromdateiso8601' \
    <(grep -a '"object"' "$work/watched"))
left() { local s; s=$(seconds); [ "$s" -ge $((from - ray)) ] && [ "$s" -le $((from - ray + 20)) ]; }
passes 'and charged until then' within 30 left
was=$(seconds)
l_ahead 10
sleep 1
from=$(now)
label '"true"'
passes 'it takes part again' within 30 eval '! is_left'
l_ahead 12
again() { local s; s=$(($(seconds) - was)); [ "$s" -gt 0 ] && [ "$s" -le $(($(until_then) - from)) ] && [ "$s" -ge $(($(until_then) - from - 30)) ]; }
passes 'and is charged from then on' within 100 again
kill $watcher 2>/dev/null
the_end
