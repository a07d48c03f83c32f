#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods and Jobs without activeDeadlineSeconds on a played Kubernetes cluster: held
# by the assume_time of their class, for as long again while they run, and by
# on_unknown without one; against what the API server says of the pods. BUILD:
# the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/first" >/dev/null || exit 1
k_get /api/v1/nodes | jq '[.items[]] | . + [.[0] | .metadata = {name: "bare-1",
    labels: {"lowtide.dev/pool": "bare", "kubernetes.io/hostname": "bare-1"}}]' >"$work/nodes.json"
k_down
k_up "$work/kube" --mutate --validate --nodes "$work/nodes.json" || exit 1
for team in team-a team-b team-c; do k_namespace $team managed; done >/dev/null
# A pod of a CPU and a GiB costs so many micros a second of pool ondemand.
second=$((50 * (31611 + 4237)))
stretch=$((2 * 3600 * second))
policy() { # policy ON_UNKNOWN [AMOUNT]: room for four stretches and a half, and for one and a quarter
	l_policy "hold_margin: 0
on_unknown: $1
classes:
  long: {account: team-a, qos: long, assume_time: 2h}
  any: {account: team-c, assume_time: 2h}
budgets:
  - {team: team-a, period: month, amount: ${2:-$((stretch * 9 / 2 / 1000000))}, on_exceed: hold}
  - {team: team-b, period: month, amount: 100000000}
  - {team: team-c, period: month, amount: $((stretch * 5 / 4 / 1000000))}"
}
l_day 0 90
policy hold
l_up || exit 1

ondemand='{"lowtide.dev/pool": "ondemand"}'
class() { echo ".metadata.annotations += {\"lowtide.dev/class\": \"$1\"}"; }
long_pod() { k_pod "$1" "$2" "$(runs 100000000 | sed 's/spec.template.//') | $(class long) |
    .spec.nodeSelector = $ondemand | ${3:-.}" >/dev/null; }
long_job() { k_job "$1" "$2" "$(runs 100000000) | $(class "${3:-long}") | .spec.template.spec.nodeSelector = $ondemand"; }
runs_pod() { k_wait 20 "$(pod "$1")" '.status.phase == "Running"'; }
runs_job() { k_wait 20 "$(job "$1")" '.status.ready == 1'; }
budget() { lowtide budget --json | jq ".budgets[] | select(.team == \"$1\" and .user == null) | .$2"; }
month() { date -u -d "$(date -u -d "@$(now)" +%Y-%m-01) ${1-}" +%s; }
# held_by_pods NAMESPACE: micros of the stretches of 2 h that its pods which run
# have begun, but for what is before this month, by their starts and the clock
held_by_pods() {
	k_get /api/v1/pods | jq --argjson now "$(now)" --argjson from "$(month)" --argjson second $second --arg space "$1" '
	    [.items[] | select(.metadata.namespace == $space and .status.phase == "Running") |
		(.status.startTime | fromdateiso8601) as $start |
		($start + (($now - $start) / 7200 | floor + 1) * 7200 - ([$start, $from] | max)) * $second] | add // 0'
}
# A hold has a micro for the rounding of what is charged.
is_near() { jq -en "$1 - $2 | fabs <= 4" >/dev/null; }
is_held() { local want; want=$(held_by_pods "$1"); [ "$want" -gt 0 ] && is_near "$(budget "$1" held_micros)" "$want"; }
plan_of() { k_get "$(pod "$1")" | jq -r '.metadata.annotations["lowtide.dev/plan"] // ""'; }
says() { plan_of "$1" | grep -qF "$2"; }

long_pod team-a notebook
passes 'a pod without a limit runs, by its class' runs_pod team-a/notebook
passes 'and is held for the time of its class' within 10 is_held team-a
passes 'its plan says so' within 10 says team-a/notebook 'without activeDeadlineSeconds it is held for 2h at a time'
is 'the quick no lets such a Job come' Job "$(long_job team-a server | jq -r .kind)"
passes 'it runs' runs_job team-a/server
passes 'held in the same way' within 10 is_held team-a
is 'one of another team too' Job "$(long_job team-c server | jq -r .kind)"
passes 'by a class for all of its own' within 20 is_held team-c
# It goes by balances that are written every two seconds.
is_published() { k_get $K_CORE/lowtide/configmaps/lowtide-balances | jq -e '.data["team-c.held"] != "0"' >/dev/null; }
passes 'its hold is in the balances' within 10 is_published
is 'until too little is left for another' 1 "$(long_job team-c more | grep -c 'team-c has .* available .*asked for at least')"
is 'explain names the class' 1 "$(lowtide explain team-a/notebook | grep -c 'class long.*held for 2h at a time without a limit')"
is 'of a team without such a class the quick no refuses it' Failure "$(long_job team-b server | jq -r .status)"
long_pod team-b notebook
passes 'and a pod waits' within 10 says team-b/notebook 'waits: without activeDeadlineSeconds nobody knows what it may take of the budget of team-b'
long_job team-a other other >/dev/null
passes 'as does a Job of another class' k_wait 10 "$(job team-a/other)" '.metadata.annotations["lowtide.dev/plan"] | startswith("waits: without activeDeadlineSeconds")'
passes 'for both nothing is held' is_held team-a
is 'of neither team' 0 "$(budget team-b held_micros)"

# The time is over, and they run
uid=$(k_get "$(pod team-a/notebook)" | jq -r .metadata.uid)
one=$(held_by_pods team-a)
l_ahead 2
passes 'when that is over it is held for as long again' within 20 is_held team-a
is 'twice' $((2 * one)) "$(held_by_pods team-a)"
passes 'its plan says so' within 10 says team-a/notebook 'runs on: it may cost at most'
passes 'for how long' within 10 says team-a/notebook 'held for 2h at a time, 4h by now'
l_end KILL
l_up || exit 1
sleep 3
passes 'killed, it is held once' is_held team-a

# Beyond the budget
l_ahead 4
passes 'it is held for again where the budget is over' within 20 is_held team-a
is 'which shows at once' true "$(jq -n "$(budget team-a available_micros) < 0")"
is 'and it runs on' "[\"Running\",\"$uid\"]" "$(k_get "$(pod team-a/notebook)" | of '[.status.phase, .metadata.uid]')"
k_job team-a next "$(limit 60) | .spec.template.spec.nodeSelector = $ondemand | $(runs 20)" >/dev/null
passes 'what comes next waits for budget' k_wait 20 "$(job team-a/next)" '.metadata.annotations["lowtide.dev/hold"] == "budget"'
l_end
l_ahead 9
l_up || exit 1
passes 'what began while lowtide was away is held for' within 20 is_held team-a
is 'five times' $((5 * one)) "$(held_by_pods team-a)"

# Its end
k_watch 1000000 "$K_CORE/team-a/pods?resourceVersion=0" >"$work/watched" 2>/dev/null &
watcher=$!
k_delete "$(pod team-a/notebook)" >/dev/null
k_delete "$(job team-a/server)" >/dev/null
has_ended() { [ "$(held_by_pods team-a)" == 0 ] && [ "$(budget team-a held_micros)" == 0 ]; }
passes 'ended, nothing is held for them' within 60 has_ended
# owes NAME: as its pod was last, by the API server's words
owes() { jq -s "${OWED%%\[.items*}"'[.[] | .object | select((.metadata.name | startswith("'"$1"'")) and
    .status.containerStatuses[0].state.terminated)] | last | {items: [.]} | '"[.items${OWED#*\[.items}" \
    <(grep -a '"object"' "$work/watched"); }
# A row's share is of 10^-12 of a node, rounded down.
is_owed_to() { jq -en --argjson got "$(charged "$1")" --argjson want "$(owes "$2")" '$want > 0 and ($got - $want | fabs) <= 1 + $want / 10000000000'; }
passes 'the pod is charged for its seconds' within 60 is_owed_to team-a/notebook notebook
passes 'and the Job' within 60 is_owed_to team-a/server server
is 'above its first hold, as it ran longer' '["OverTimeLimit"]' "$(runs_of team-a/notebook | of '[.[].over_reason]')"
is 'which is no defect' '[]' "$(lowtide status --json | of '[.above_hold[] | select(.defect)]')"
kill $watcher 2>/dev/null
for name in other next; do k_delete "$(job team-a/$name)" >/dev/null; done
k_delete "$(job team-c/server)" >/dev/null

# Over the end of a month
l_end
policy hold 100000000
l_up || exit 1
long_pod team-a lasting
passes 'another pod runs' runs_pod team-a/lasting
start=$(k_get "$(pod team-a/lasting)" | jq '.status.startTime | fromdateiso8601')
month_began=$(month) hours=$((9 + ($(month '+1 month') - $(now)) / 3600 + 1))
l_end
l_ahead $hours
l_up || exit 1
passes 'another month begins' test "$(month)" -gt "$month_began"
passes 'which has its own hours of it held' within 30 is_held team-a
is 'and no others' true "$([ "$(held_by_pods team-a)" -lt $((($(now) - start) * second)) ] && echo true)"
k_delete "$(pod team-a/lasting)" >/dev/null

# Of unknown cost: a pool that the policy does not price
bare_pod() { k_pod "$1" "$2" ".metadata.annotations[\"test/run-seconds\"] = \"100000000\" | .spec.activeDeadlineSeconds = 360000 |
    .spec.nodeSelector = {\"lowtide.dev/pool\": \"bare\"}" >/dev/null; }
unknown='as pool bare has no price in the policy, nobody knows what it may take of the budget of team-b'
bare_pod team-b held
passes 'a pod of unknown cost waits' within 20 says team-b/held "waits: $unknown"
l_end
policy reject
l_up || exit 1
sleep 2
bare_pod team-b never
passes 'where on_unknown is reject its plan says so' within 20 says team-b/never "$unknown; on_unknown is reject, but lowtide deletes nothing"
is 'and it waits' Pending "$(k_get "$(pod team-b/never)" | jq -r .status.phase)"
l_end
policy allow
l_up || exit 1
bare_pod team-b free
passes 'where it is allow it runs' runs_pod team-b/free
passes 'and says why' within 10 says team-b/free "starts now; $unknown, and on_unknown is allow"
passes 'what waited runs, too' runs_pod team-b/held
passes 'all of it' runs_pod team-b/never
is 'nothing is held for it' 0 "$(budget team-b held_micros)"
long_pod team-b endless
passes 'one without a limit waits all the same' within 20 says team-b/endless 'waits: without activeDeadlineSeconds'
sleep 2
is 'and does not start' '["Pending","Pending"]' "[$(for name in notebook endless; do k_get "$(pod team-b/$name)" | jq .status.phase; done | paste -sd,)]"
the_end
