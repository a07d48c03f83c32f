#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Loses no Job: while JOBS Jobs come and plans are told, the watcher is killed ten
# times and the API server crashes five times. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"
jobs=${JOBS:-1000} rounds=20 teams=(team-a team-b)

# Room for all of them at once, so that only lowtide decides when they run.
k_up "$work/kube" || exit 1
k_get /api/v1/nodes | jq --argjson more $((jobs / 60 + 1)) '[.items[] | . as $node | range($more) as $i | $node |
    .metadata = {name: "\(.metadata.name)-\($i)", labels: .metadata.labels} |
    .metadata.labels["kubernetes.io/hostname"] = .metadata.name]' >"$work/nodes.json"
k_down
k_up "$work/kube" --speed 10 --history 2000 --mutate --nodes "$work/nodes.json" || exit 1
for team in "${teams[@]}"; do k_namespace "$team" managed; done >/dev/null
l_day 3 9
l_policy 'budgets:
  - {team: team-a, period: month, amount: 100000000}
  - {team: team-b, period: month, amount: 100000000}'
passes 'lowtide-kube starts' l_up || exit 1

watchers() { # the child with a thread for each kind
	local child
	for child in $(pgrep -P "$pid"); do
		[ ! -e "/proc/$child/task" ] || [ "$(find "/proc/$child/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 4 ] ||
		    echo "$child"
	done
}
killed=0 crashed=0
kill_watcher() {
	local child
	within 10 eval '[ -n "$(watchers)" ]' || return
	for child in $(watchers); do kill -KILL "$child" && killed=$((killed + 1)); done
}
crash() {
	k_faults '{"down": 1, "compact": true}' >/dev/null
	sleep "1.$((RANDOM % 10))"
	k_faults '{"down": 0}' >/dev/null
	crashed=$((crashed + 1))
}
k_faults '{"slow_ms": 15}' >/dev/null
for ((round = 0; round < rounds; round++)); do
	team=${teams[round % 2]} each=$((jobs / rounds / 2))
	k_jobs $each "$team" "$(limit 600) | $(runs $((20 + RANDOM % 40)))"
	k_jobs $each "$team" "$(wishes carbon 600) | .spec.template.spec.containers[0].resources.requests.cpu = \"32\" | $(runs $((20 + RANDOM % 40)))"
	sleep "0.$((RANDOM % 10))"
	[ $((round % 2)) -eq 0 ] || kill_watcher
	[ $((round % 4)) -ne 2 ] || crash
done
is 'watchers that were killed, crashes of the API server' "10 5" "$killed $crashed"
k_faults '{"reset": true}' >/dev/null

of_jobs() { for team in "${teams[@]}"; do k_get "$K_JOBS/$team/jobs"; done | jq -s "[.[].items[] | select($1)] | length"; }
is_of_jobs() { [ "$(of_jobs "$1")" == "$2" ]; }
is 'Jobs that came' "$jobs" "$(of_jobs true)"
WISHES='.metadata.annotations["lowtide.dev/carbon-aware"]'
passes 'who wished is told a plan' within 60 is_of_jobs "$WISHES and .metadata.annotations[\"lowtide.dev/quote\"]" $((jobs / 2))
passes 'who did not has run' within 60 is_of_jobs "($WISHES | not) and .status.succeeded == 1" $((jobs / 2))
holds() { sqlite3 -readonly "$L/state/ledger.db" "SELECT count(*) FROM holds WHERE $1"; }
waiting=$(of_jobs '.spec.suspend')
are_held() { [ "$(holds 'state = 0')" == "$1" ]; }
passes 'what waits has a hold each, what ended none' within 60 are_held "$waiting"
passes 'most of those who wished wait' [ "$waiting" -gt $((jobs / 3)) ]
is 'and is known' "$waiting" "$(lowtide status --json | jq .kubernetes.waiting)"
is 'no hold was void' 0 "$(grep -c 'event=void ' "$L/log")"
l_ahead 4
passes 'at their hour all run' within 90 is_of_jobs '.status.succeeded == 1' "$jobs"
is 'Jobs that were lost' 0 "$(of_jobs '.status.succeeded != 1')"
owed_of() { for team in "${teams[@]}"; do k_get "$K_CORE/$team/pods"; done | jq "$OWED" | jq -s add; }
charged_all() { lowtide report --json | jq '[.teams[].charges_micros] | add'; }
is_charged() { # what runs in a pool is rounded with a carry: half a micro of each
	local off=$(($(charged_all) - want))
	[ ${off#-} -le 1 ]
}
want=$(owed_of)
passes 'and are charged what their pods had' within 60 is_charged
echo "# charged $(charged_all), by the pods $want"
passes 'nothing is held any more' within 30 are_held 0
is 'each was held once' "$jobs" "$(holds true)"
[ -z "${KEEP_LOG-}" ] || cp "$L/log" "$KEEP_LOG"
the_end
