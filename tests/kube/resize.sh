#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods that are resized in place while they run, on a played Kubernetes cluster:
# each stretch of time is charged by the size that the pod had then, against
# what the API server says of sizes and times. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/kube" --mutate || exit 1
k_namespace team-a managed >/dev/null
l_day 0 9
l_policy 'budgets: [{team: team-a, period: month, amount: 100000000}]'
l_up || exit 1
k_watch 1000000 "$K_CORE/team-a/pods?resourceVersion=0" >"$work/watched" 2>/dev/null &
watcher=$!

on() { echo ".spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"ondemand\"} | .spec.backoffLimit = 0"; }
takes() { echo ".spec.template.metadata.annotations[\"test/resize-seconds\"] = \"$1\""; }
start() { # start NAME LIMIT SECONDS: a Job, of which a resize takes so many seconds
	k_job team-a "$1" "$(limit "$2") | $(on) | $(runs 10000) | $(takes "$3")" >/dev/null
	k_wait 30 "$(job "team-a/$1")" '.status.ready == 1'
}
deploy() { # deploy NAME SECONDS: a pod of a Deployment
	k_pod team-a "$1-5d4f8-1" ".metadata.ownerReferences = [{apiVersion: \"apps/v1\", kind: \"ReplicaSet\", name: \"$1-5d4f8\",
		controller: true, uid: \"00000000-0000-4000-8000-00000000000${#1}\"}] |
	    .metadata.labels = {\"pod-template-hash\": \"5d4f8\"} | .spec.nodeSelector = {\"lowtide.dev/pool\": \"ondemand\"} |
	    .metadata.annotations = {\"test/run-seconds\": \"100000000\", \"test/resize-seconds\": \"$2\"}" >/dev/null
	k_wait 30 "$(pod "team-a/$1-5d4f8-1")" '.status.phase == "Running"'
}
pod_name() { # pod_name NAME: of a Job, or of a Deployment
	local name
	name=$(k_get "$(pods_of "team-a/$1")" | jq -r '.items[0].metadata.name // ""')
	echo "${name:-$1-5d4f8-1}"
}
resize() { # resize POD CPU MEMORY: prints the status
	k_status k_patch "$(pod "team-a/$1")/resize" strategic \
	    "{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"$2\",\"memory\":\"$3\"}}}]}}"
}
kube_db() { sqlite3 -readonly "$L/state/kube.db" "$1"; }
row_of() { kube_db "SELECT $2 FROM runs WHERE id = (SELECT id FROM ids WHERE uid = '$(k_get "$(pod "team-a/$1")" | jq -r .metadata.uid)')"; }
has() { [ "$(row_of "$1" cpu_milli)" == "$2" ]; }      # has POD MILLICORES: lowtide knows it
since() { row_of "$1" start; }                          # and since when it has it
began() { # began POD: when its node was at work on the last resize
	jq -rs --arg name "$1" '[.[].object | select(.metadata.name == $name) | .status.conditions[]? |
	    select(.type == "PodResizeInProgress") | .lastTransitionTime] | last | fromdateiso8601' <(grep -a '"object"' "$work/watched")
}
# What the API server said last of a pod that may be gone.
last() { jq -cs --arg name "$1" '[.[].object | select(.metadata.name == $name)] | last' <(grep -a '"object"' "$work/watched"); }
ended() { last "$1" | jq -e '.status.containerStatuses[0].state.terminated.finishedAt' >/dev/null; }
# sum POD [UNTIL CPU MEMORY]... CPU MEMORY: of these sizes until these times, and
# of the last until its end
sum() {
	local pod=$1
	shift
	last "$pod" | jq --args "${OWED%%\[.items*}"' [(.status.startTime | at),
		(.status.containerStatuses[0].state.terminated.finishedAt | at)] as [$from, $to] |
	    $ARGS.positional as $a | ([$from] + [range(0; $a | length - 2; 3) | $a[.] | tonumber] + [$to]) as $times |
	    ([range(1; $a | length - 2; 3)] + [$a | length - 2] | map({cpu: $a[.], memory: $a[. + 1]} | worth)) as $sizes |
	    [range(0; $sizes | length) | ($times[. + 1] - $times[.]) * $sizes[.] * 50] | add | floor' "$@"
}
is_sum() { # is_sum NAMESPACE/NAME POD ...: charged to the micro
	local want
	want=$(sum "${@:2}")
	[ "$want" -gt 0 ] && [ "$(charged "$1")" == "$want" ]
}
is_near_sum() { # likewise, where a row's share is of 10^-12 of a node, rounded down
	jq -en --argjson got "$(charged "$1")" --argjson want "$(sum "${@:2}")" \
	    '$want > 0 and ($got - $want | fabs) <= 1 + $want / 10000000000'
}
held() { sqlite3 -readonly "$L/state/ledger.db" "SELECT money_micros FROM holds WHERE job_id = $(id_of "team-a/$1")"; }
is_within() { [ "$2" -ge "$1" ] && [ "$2" -le "$3" ]; }

# A Job's pod: up, up again, down
passes 'a Job runs' start batch 600 3
p=$(pod_name batch)
before=$(held batch)
sleep 1.1
is 'its pod is resized' 200 "$(resize "$p" 3 4Gi)"
passes 'lowtide sees that' within 20 has "$p" 3000
first=$(began "$p")
is 'it is so since its node is at work on it' "$first" "$(since "$p")"
passes 'the hold is raised' within 20 eval '[ "$(held batch)" -gt $((2 * before)) ]'
done_resizing() { k_wait 30 "$(pod "team-a/$p")" 'all(.status.conditions[]; .type != "PodResizeInProgress")'; }
passes 'its node is done' done_resizing
sleep 1.1
resize "$p" 5 4Gi >/dev/null
passes 'a second time' within 20 has "$p" 5000
second=$(began "$p")
is 'since then' "$second" "$(since "$p")"
raised=$(held batch)
covered() { lowtide budget --json --team team-a |
    jq -e ".budgets[0] | .spent_micros > 0 and .spent_micros + .held_micros == $raised"; }
passes 'what its time before cost is held no more' within 60 covered
passes 'its node is done again' done_resizing
l_end KILL
l_up || exit 1
resize "$p" 500m 2Gi >/dev/null
from=$(now)
passes 'and down' within 30 has "$p" 500
third=$(since "$p")
passes 'since it has less in fact, as the watch told' is_within "$((from + 2))" "$third" "$(now)"
is 'the hold stays, for what it had' "$raised" "$(held batch)"
sleep 1.1
evict >/dev/null team-a/batch
passes 'it ends' within 30 ended "$p"
passes 'it is charged by its sizes and their times' within 60 is_sum team-a/batch "$p" \
    "$first" 1 1Gi "$second" 3 4Gi "$third" 5 4Gi 500m 2Gi
is 'in a row for each' '["PREEMPTED",1]["RESIZING",3]' "$(runs_of team-a/batch |
    jq -c 'group_by(.state == "RESIZING")[] | [.[0].state, length]' | tr -d '\n')"
is 'which end its hold once' 1 "$(sqlite3 -readonly "$L/state/ledger.db" "SELECT state FROM holds WHERE job_id = $(id_of team-a/batch)")"

# More than its hold was made for, at once and for long: charged, and named
passes 'a Job with a short limit runs' start short 20 1
p=$(pod_name short)
sleep 1.1
resize "$p" 60 400Gi >/dev/null
passes 'its pod becomes a whole node' within 20 has "$p" 60000
first=$(began "$p")
sleep 4
evict >/dev/null team-a/short
passes 'it ends' within 30 ended "$p"
passes 'it is charged for both' within 60 is_sum team-a/short "$p" "$first" 1 1Gi 60 400Gi
is 'above what was admitted, as it was resized' '[null,"resize"]' "$(runs_of team-a/short | jq -c '[sort_by(.start)[].over_reason]')"
is 'which is no defect' 0 "$(grep -c 'event=above_hold' "$L/log")"

# What its node does not take changes nothing
passes 'another Job runs' start never 600 1
p=$(pod_name never)
before=$(held never)
resize "$p" 1000 1Gi >/dev/null
passes 'its node can never have so much' k_wait 20 "$(pod "team-a/$p")" \
    'any(.status.conditions[]; .type == "PodResizePending" and .reason == "Infeasible")'
sleep 1.1
evict >/dev/null team-a/never
passes 'it ends' within 30 ended "$p"
passes 'it is charged as it was' within 60 is_sum team-a/never "$p" 1 1Gi
is 'in one row' 1 "$(runs_of team-a/never | jq length)"
is 'and held for as it was' "$before" "$(held never)"

# While lowtide is down; nobody sees that the node is at work on it
passes 'a Job runs' start away 600 0
p=$(pod_name away)
resize "$p" 2 4Gi >/dev/null
passes 'its pod is resized, and the watch tells' within 20 has "$p" 2000
first=$(since "$p")
passes 'a pod of a Deployment runs' deploy web 0
passes 'lowtide knows it' within 20 has web-5d4f8-1 1000
sleep 12
l_end
last_heard=$(kube_db 'SELECT utc_s FROM heard')
sleep 1.1
resize "$p" 4 2Gi >/dev/null
resize web-5d4f8-1 2 2Gi >/dev/null
sleep 2
l_up || exit 1
passes 'more CPUs and less memory while lowtide is down' within 30 has "$p" 4000
has_less() { [ "$(row_of "$p" memory_kib)" == 2097152 ]; }
passes 'both are known' within 20 has_less
less=$(since "$p")
passes 'of the Deployment, too' within 30 has web-5d4f8-1 2000
is 'it has more from when lowtide watched last' "$last_heard" "$(since web-5d4f8-1)"
evict >/dev/null team-a/away
passes 'it ends' within 30 ended "$p"
passes 'it has less from when lowtide is back' within 60 is_sum team-a/away "$p" \
    "$first" 1 1Gi "$last_heard" 2 4Gi "$less" 4 4Gi 4 2Gi

# A Deployment's pod: a part of its owner's for each size, and each hour
resize web-5d4f8-1 4 8Gi >/dev/null
passes 'a pod of a Deployment is resized again' within 20 has web-5d4f8-1 4000
second=$(since web-5d4f8-1)
l_ahead 1
charged_hour() { kube_db "SELECT count(*) FROM runs WHERE parts = 2 AND end % 3600 = 0" | grep -qv '^0$'; }
passes 'the hour is charged' within 100 charged_hour
resize web-5d4f8-1 1 1Gi >/dev/null
passes 'and down' within 20 has web-5d4f8-1 1000
third=$(since web-5d4f8-1)
sleep 1.1
k_delete "$(pod team-a/web-5d4f8-1)" >/dev/null
passes 'it ends' within 60 ended web-5d4f8-1
passes 'it is charged by its sizes and their times' within 60 is_near_sum team-a/deployment/web web-5d4f8-1 \
    "$last_heard" 1 1Gi "$second" 2 2Gi "$third" 4 8Gi 1 1Gi

# What a pod is given that its Job was not held for: a LimitRange that came late
jq -n '{kind: "LimitRange", apiVersion: "v1", metadata: {name: "late"}, spec: {limits: [{type: "Container",
    defaultRequest: {cpu: "9", memory: "1Gi"}}]}}' | k_post "$K_CORE/team-a/limitranges" >/dev/null
k_job team-a given "$(limit 600) | $(on) | $(runs 10000) | del(.spec.template.spec.containers[0].resources)" >/dev/null
passes 'a Job runs with more than it says' k_wait 30 "$(job team-a/given)" '.status.ready == 1'
passes 'that is held for' within 20 eval '[ "$(held given)" -gt $((5 * before)) ]'
kill $watcher 2>/dev/null
the_end
