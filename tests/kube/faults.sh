#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What goes wrong between lowtide-kube and a Kubernetes cluster: no Job is lost,
# and none is charged twice or for what it did not have. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/kube" --speed 10 --bookmark 500 --mutate || exit 1
for team in team-a team-b team-c team-d; do k_namespace $team managed; done >/dev/null
l_day 3 9
l_policy 'budgets:
  - {team: team-a, period: month, amount: 1000000}
  - {team: team-c, period: month, amount: 1000000}'

# A list of two pages, the second of which has expired once it is asked for,
k_jobs 510 team-b '.spec.parallelism = 0 | .spec.suspend = true'
# as often as a list is begun anew before it fails.
k_faults '{"page_expire": 3}' >/dev/null
expired() { grep -q 'kubernetes_failed.*continue' "$L/log"; }
passes "a page that has expired is no end" l_up || exit 1
passes 'is told' within 10 expired


# shows NAME FAULTS: with these, a Job is decided, starts, and ends
faults=0
shows() {
	faults=$((faults + 1))
	k_faults '{"reset": true, "method": "", "match": ""}' >/dev/null
	k_faults "$2" >/dev/null
	within 10 created "fault-$faults"
	passes "$1" done_well "team-a/fault-$faults" 30
}
created() { [ "$(k_status k_job team-a "$1" "$(limit 60) | $(runs 10)")" == 201 ]; }
shows 'streams that are cut' '{"cut_streams": 4}'
shows 'within a line' '{"cut_mid_line": 2}'
shows 'watches that are too old' '{"gone": 4, "compact": true}'
shows 'too many requests' '{"status": 429, "retry_after": 1, "count": 1, "method": "PATCH"}'
shows 'failures of the server' '{"status": 500, "count": 2, "method": "PATCH", "match": "/jobs/"}'
shows 'a server that is overloaded' '{"status": 503, "count": 5, "match": "?", "cut_streams": 4}'
shows 'a slow server' '{"slow_ms": 200}'
shows 'connections that end' '{"drop": 2, "match": "/jobs/"}'
shows 'a token that has expired' '{"expire_token": true}'
shows 'answers that are lost' '{"lose_reply": 2, "method": "PATCH", "match": "/jobs/"}'
k_faults '{"reset": true, "hang": 1, "method": "PATCH", "match": "/jobs/"}' >/dev/null
faults=$((faults + 1))
created fault-$faults
timed_out() { grep -q 'update_failed.*timed out' "$L/log"; }
passes 'who gives no answer is waited for 10 s' within 20 timed_out
# It would go on by itself, after five times as long.
l_restart
passes 'and asked again' done_well team-a/fault-$faults 20
k_faults '{"reset": true, "method": "", "match": ""}' >/dev/null
is 'each was held once' $faults \
    "$(sqlite3 -readonly "$L/state/ledger.db" "SELECT count(*) FROM holds WHERE account = 'team-a'")"

# Deleted while they wait, and while they run
held() { lowtide budget --json --team team-c | jq '.budgets[0].held_micros'; }
nothing_held() { [ "$(held)" == 0 ]; }
k_job team-c waits "$(wishes carbon 3600) | .spec.template.spec.containers[0].resources.requests.cpu = \"32\"" >/dev/null
planned team-c/waits
something_held() { [ "$(held)" -gt 0 ]; }
passes 'what waits has a hold' within 10 something_held
k_delete "$(job team-c/waits)" >/dev/null
passes 'deleted, it has none' within 5 nothing_held
K_TOKEN=token k_watch 100 "$K_CORE/team-c/pods?resourceVersion=0" >"$work/watched" 2>/dev/null &
watch=$!
for _ in 1 2; do # the same name twice: two Jobs
	k_job team-c again "$(limit 60) | $(runs 600)" >/dev/null
	k_wait 10 "$(job team-c/again)" '.status.ready == 1'
	sleep 1.1
	k_delete "$(job team-c/again)" >/dev/null
	k_wait 10 "$(pods_of team-c/again)" '.items == []'
done
of_watch() { # each pod as it was last
	jq -cs '{items: ([.[] | select(.object.spec) | .object] | group_by(.metadata.uid) | map(last))}' "$work/watched"
}
want=$(of_watch | jq "$OWED")
is 'two pods were seen' 2 "$(of_watch | jq '.items | length')"
team_c() { lowtide report --json | jq '.teams[] | select(.team == "team-c") | .charges_micros'; }
is_team_c() { [ "$(team_c)" == "$1" ]; }
l_restart
passes 'deleted while they run, they are charged until their end' within 30 is_team_c "$want"

# Deleted while lowtide is down
for name in gone long; do
	k_job team-a $name "$(limit 60) | $(runs 6000)" >/dev/null
	k_wait 10 "$(job team-a/$name)" '.status.ready == 1'
done
start=$(k_get "$(pods_of team-a/gone)" | jq '.items[0].status.startTime | fromdateiso8601')
k_patch "$(job team-a/long)" merge '{"spec": {"activeDeadlineSeconds": 6000}}' >/dev/null
seen() { [ "$(sqlite3 -readonly "$L/state/kube.db" "SELECT count(*) FROM runs WHERE name IN ('gone', 'long') AND team = 'team-a'")" == 2 ]; }
within 10 seen
l_end KILL
k_delete "$(job team-a/gone)" >/dev/null
k_wait 10 "$(pods_of team-a/gone)" '.items == []'
sleep 1.1
least=$(($(now) - start))
l_up
most=$(($(now) - start))
row() { sqlite3 -readonly "$L/state/kube.db" "SELECT $2 FROM runs WHERE name = '$1'"; }
run_of() { runs_of "$1" | jq -r ".[0].$2"; }
settled() { [ "$(run_of "$1" elapsed_s)" -gt 0 ]; } 2>/dev/null
took=$(row gone 'end - start')
passes 'who was deleted meanwhile had its node until the first list' [ "$took" -ge "$least" -a "$took" -le "$most" ]
is 'marked as estimated' 1 "$(row gone estimated)"
l_end KILL
k_delete "$(job team-a/long)" >/dev/null
k_wait 10 "$(pods_of team-a/long)" '.items == []'
l_ahead 6
l_up
passes 'which is charged' within 40 settled team-a/gone
is 'so' "$took" "$(run_of team-a/gone elapsed_s)"
passes 'hours later' within 40 settled team-a/long
limit_s=$(row long limit_s)
is 'at most until its limit' "$limit_s" "$(run_of team-a/long elapsed_s)"

# Ended while lowtide is down, and nothing is left but their Jobs: what they had
# is by the Jobs' status, in seconds of all pods.
lasted() { k_get "$(job "$1")" | jq '.status | (.completionTime | fromdateiso8601) - (.startTime | fromdateiso8601)'; }
no_pods() { # ends it and takes its pods away
	done_well "team-a/$1" 20
	k_curl "$(pods_of "team-a/$1")" -X DELETE >/dev/null
	for name in $(k_get "$(pods_of "team-a/$1")" | jq -r '.items[].metadata.name'); do k_delete "$(pod "team-a/$name")"; done >/dev/null
	k_wait 10 "$(pods_of "team-a/$1")" '.items == []'
}
k_job team-a unseen "$(wishes carbon 600) | .metadata.annotations[\"lowtide.dev/pause\"] = \"true\" | .spec.parallelism = 2 | .spec.completions = 4 | $(runs 25)" >/dev/null
planned team-a/unseen
k_job team-a half "$(limit 600) | .spec.completions = 3 | $(runs 25)" >/dev/null
k_job team-a last "$(limit 600) | $(runs 45)" >/dev/null
k_wait 10 "$(job team-a/half)" '.status.succeeded == 1'
k_wait 10 "$(job team-a/last)" '.status.ready == 1'
within 10 eval '[ "$(row half "sum(end != 0)")" == 1 ] && [ "$(row last "count(*)")" == 1 ]'
start=$(row last start) first=$(row half 'sum(CASE end WHEN 0 THEN 0 ELSE end - start END)')
l_end KILL
k_patch "$(job team-a/unseen)" merge '{"spec": {"suspend": false}}' >/dev/null
for name in unseen half last; do no_pods $name; done
sleep 2.1
l_up
passes 'four that nobody saw, two at once, have both slots of their Job' within 30 \
    eval '[ "$(row unseen "count(*), sum(end - start), min(estimated)")" == "4|$((2 * $(lasted team-a/unseen)))|1" ]'
is 'in the pool that was decided' "$(note team-a/unseen pool)" "$(row unseen 'DISTINCT pool')"
of_half() { row half 'sum(end - start)'; }
passes 'of three that one saw the rest of the time' [ "$(of_half)" -le "$(lasted team-a/half)" ]
passes 'which is more than it saw' [ "$(of_half)" -gt "$first" ]
is 'one that it saw run until its Job ended' "$(k_get "$(job team-a/last)" | jq --argjson start "$start" \
    '(.status.completionTime | fromdateiso8601) - $start')|1" "$(row last 'end - start, estimated')"
# A CPU and a GiB, by the weights of docs/model.md, (2a).
price=$((($([ "$(note team-a/unseen pool)" == spot ] && echo 25 || echo 50)) * (31611 + 4237)))
unseen_costs() { [ "$(charged team-a/unseen)" == $((2 * $(lasted team-a/unseen) * price)) ]; }
passes 'they are charged' within 40 unseen_costs
l_restart
is 'once' 4 "$(row unseen 'count(*)')"
l_end KILL
l_ahead 8
l_up
passes 'and it says when nobody watched' eval 'lowtide status | grep -q "^away .*nobody watched from .* to "'
passes 'as does the report' eval 'lowtide report | grep -q "^Nobody watched the cluster from .* to .*: what ended then is charged as estimated.$"'
is 'with the times of status' true "$(jq -n --argjson report "$(lowtide report --json)" --argjson status "$(lowtide status --json)" \
    '($report.away[-1] | [.from, .to] | map(fromdateiso8601)) == ($status.kubernetes.away | [.from_utc_s, .to_utc_s])')"
is 'in JSON by its times' true "$(lowtide status --json | jq '.kubernetes.away | .to_utc_s - .from_utc_s > 3600')"

# Killed at random
l_day 3 9
l_policy 'budgets:
  - {team: team-a, period: month, amount: 1000000}'
before=$(lowtide report --json | jq '.teams[] | select(.team == "team-a") | .charges_micros')
known=$(k_get "$K_CORE/team-a/pods" | jq -c '[.items[].metadata.uid]')
kills=${KILLS:-20} made=0
for ((i = 0; i < kills; i++)); do
	if [ $((i % 2)) -eq 0 ]; then
		made=$((made + 1))
		k_job team-a "killed-$made" "$(limit 600) | .spec.parallelism = 2 | .spec.completions = 3 |
		    $(runs $((10 + RANDOM % 40)))" >/dev/null
	fi
	sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
	l_end KILL
	l_start
done
within 30 answers
all_done() { [ "$(k_get "$K_JOBS/team-a/jobs" | jq '[.items[] | select(.metadata.name | startswith("killed"))
    | .status.succeeded // 0] | add')" == $((3 * made)) ]; }
passes "after $kills times kill -9 all Jobs have run" within 60 all_done
l_restart
want=$((before + $(k_get "$K_CORE/team-a/pods" | jq --argjson known "$known" \
    '.items |= map(select(.metadata.uid | IN($known[]) | not))' | jq "$OWED")))
team_a() { lowtide report --json | jq '.teams[] | select(.team == "team-a") | .charges_micros'; }
is_team_a() { [ "$(team_a)" == "$1" ]; }
passes 'and are charged what their pods had' within 40 is_team_a "$want"
echo "# charged $(team_a), by the pods $want"
nothing_open() { [ "$(lowtide budget --json --team team-a | jq '.budgets[0].held_micros')" == 0 ]; }
passes 'nothing is held any more' within 40 nothing_open

# Lists anew while plans are told, by a slow server
many=120
k_faults '{"slow_ms": 25}' >/dev/null
k_jobs $many team-d "$(wishes carbon 3600) | .spec.template.spec.containers[0].resources.requests.cpu = \"32\" | $(runs 60000)"
kill_watcher() { # the child with a thread for each kind
	local child
	for child in $(pgrep -P "$pid"); do
		[ ! -e "/proc/$child/task" ] || [ "$(find "/proc/$child/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 4 ] ||
		    kill -KILL "$child"
	done
}
for _ in 1 2 3 4 5; do
	sleep 0.7
	k_faults '{"gone": 4, "compact": true}' >/dev/null
	sleep 0.5
	kill_watcher
done
quoted() { [ "$(k_get "$K_JOBS/team-d/jobs" | jq '[.items[] | select(.metadata.annotations["lowtide.dev/quote"])] | length')" == "$1" ]; }
passes 'all are told' within 60 quoted $many
open_holds() { [ "$(sqlite3 -readonly "$L/state/ledger.db" "SELECT count(*) FROM holds WHERE account = 'team-d' AND state = 0")" == "$1" ]; }
passes 'and each has its hold' within 10 open_holds $many
is 'none of which was void' 0 "$(grep -c 'event=void .*account=team-d' "$L/log")"
is 'nor is any Job forgotten' "$(k_get /apis/batch/v1/jobs | jq '[.items[] | select(.spec.suspend)] | length')" \
    "$(lowtide status --json | jq .kubernetes.waiting)"
k_faults '{"reset": true}' >/dev/null
k_delete /api/v1/namespaces/team-d >/dev/null
passes 'deleted with their namespace, they hold nothing' within 20 open_holds 0
the_end
