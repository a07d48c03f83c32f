#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Balances on a played Kubernetes cluster: what the API server makes of them when
# they are too old, by on_unknown, who lets go what came meanwhile, budgets of
# CO2e, and what becomes of a ConfigMap that somebody else changes.
# BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

# A node of pool green draws 1000 W, which are 400 g CO2e an hour on a dirty grid,
# 100 on a clean one; of its CPUs each has a 64th part. Of brown no CO2e is known,
# and of grey nothing.
policy() { # policy ON_UNKNOWN
	cat >"$work/policy.next" <<-TEXT
		mode: enforce
		currency: USD
		timezone: UTC
		on_unknown: $1
		sources:
		  day: {adapter: file, quantity: carbon, path: $work/day.csv, value: g}
		partitions:
		  green: {carbon: day, price_per_node_hour: 3600, pue: 1, node_idle_w: 400, node_cpu_w: 600}
		  brown: {price_per_node_hour: 3600}
		budgets:
		  - {team: team-a, period: month, amount: 1000000}
		  - {team: team-b, period: month, amount: 300}
		  - {team: team-c, period: month, kg_co2e: 1}
	TEXT
	mv "$work/policy.next" "$work/policy.yaml"
}
map=$K_CORE/lowtide/configmaps/lowtide-balances
balance() { k_get $map | jq -r ".data[\"$1\"] // empty"; }
says() { [ "$(balance "$1")" == "$2" ]; }
# Whatever the time: what is asked is more than is there.
much="$(limit 60000)"
code() { K_CODE=1 k_job "$@"; }
waits() { [ "$(k_get "$(job "$1")" | of .spec.suspend)" == true ]; }
release() { l_kube release --overdue "$@" 2>"$work/err"; }

up() { # up FOLDER ON_UNKNOWN [OPTION...]
	local folder=$1 rule=$2
	shift 2
	rm -rf "$L/state/"* "$L/run/"*
	jq -n '["green", "brown", "grey"] | map({metadata: {name: (. + "-1"), labels: {"lowtide.dev/pool": .}},
	    status: {capacity: {cpu: "64", memory: "512Gi", pods: "110"}}})' >"$work/nodes.json"
	k_up "$work/$folder" --speed 10 --nodes "$work/nodes.json" "$@" || exit 1
	for team in team-a team-b team-c team-d; do k_namespace $team managed; done >/dev/null
	l_day 3 9
	policy "$rule"
	l_up || exit 1
	passes "on_unknown: $rule is in the balances" within 30 says on_unknown "$(rule_of "$rule")"
}
rule_of() { case $1 in allow) echo admit ;; reject) echo refuse ;; *) echo "$1" ;; esac; }
away() { # away HOURS: it is killed, and so much later
	l_end KILL
	l_ahead "$1"
}

up admit allow --mutate --validate

# CO2e: a CPU of 64 for an hour at the cleanest that is to come, 100 g / 64
passes 'a CPU-hour is the cleanest that is to come' within 20 says carbon-cpu-hour 1562
is 'what its team has' '1000000 0 1000000' "$(balance team-c.carbon-limit) $(balance team-c.carbon-spent) $(balance team-c.carbon-available)"
is 'no money is limited there' '' "$(balance team-c.available)"
hours() { limit $((3600 * $1)); }
is 'what takes more than is left of CO2e' 422 "$(code team-c dirty "$(hours 641)")"
is 'is told so' true "$(k_job team-c dirty "$(hours 641)" | jq '.message | test("has 1.00 kg CO2e available of its limit of 1.00 .*asked for at least 1.00")')"
is 'what may take less is the hold'\''s' 201 "$(code team-c clean "$(hours 640)")"
is 'of many completions those at once count' 201 \
    "$(code team-c some "$(hours 64) | .spec.parallelism = 100 | .spec.completions = 2")"
is 'a limit is wanted for CO2e, too' 422 "$(code team-c endless)"
is 'more money than is left' 422 "$(code team-b much "$much")"

# Where nobody knows what it may take, it is let go here, and its plan says why
in_pool() { echo ".spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"$1\"}"; }
told() { [ "$(note "$1" plan)" == "$2" ]; }
k_job team-b grey "$(limit 60) | $(in_pool grey)" >/dev/null
passes 'of a pool without a price' within 20 told team-b/grey \
    'starts now; as pool grey has no price in the policy, nobody knows what it may take of the budget of team-b, and on_unknown is allow'
k_job team-c brown "$(limit 60) | $(in_pool brown)" >/dev/null
passes 'of one whose CO2e is not known, beside what is' within 20 told team-c/brown \
    'starts now: it may cost at most $1.08; as the CO2e of brown is not known, nobody knows what it may take of the budget of team-c, and on_unknown is allow'
plan() { k_job_file "$1" "$2" | lowtide plan -n team-b -f - 2>&1; }
says_plan() { grep -qxF "$2" <<<"$(plan grey "$(limit 60) | $(in_pool "$1")")"; }
passes 'the plan of a manifest says it, too' says_plan grey 'Nothing is held for it: as pool grey has no price in the policy, nobody knows what it may cost at most.'
passes 'and nothing where all is known' says_plan brown 'It may cost at most $1.08; team-b has $300.00 available.'

# Somebody else's hand on them, between two of the writes of each 30 s
beat() { # right after one of them
	local was
	was=$(balance written)
	within 60 eval '[ "$(balance written)" != "'"$was"'" ]'
}
beat
k_delete $map >/dev/null
passes 'balances that are deleted are back before the next' within 20 says mode enforce
beat
k_patch $map merge '{"data":{"mode":"observe"}}' >/dev/null
passes 'those that are edited, too' within 20 says mode enforce

# lowtide is away, and on_unknown is allow
k_job team-b held "$(limit 36000) | .spec.parallelism = 40 | .spec.completions = 1" >/dev/null
k_job team-a own "$(limit 600) | .spec.suspend = true" >/dev/null
passes 'one is decided, and waits for budget' k_wait 10 "$(job team-b/held)" '.metadata.annotations["lowtide.dev/hold"] == "budget"'
l_end KILL
k_job team-a early "$(limit 600) | $(runs 20)" >/dev/null
is 'for two minutes that is nothing' '0 released, 0 failed' "$(release)"
is 'and the quick no stays' 422 "$(code team-b much "$much")"
l_ahead 1
is 'then what is left is not known' 201 "$(code team-b much "$much | $(runs 20)")"
k_pod team-a bare ".metadata.annotations[\"test/run-seconds\"] = \"20\"" >/dev/null
passes 'a Job is created suspended all the same' waits team-b/much
is 'a Pod gated' '["lowtide.dev/hold"]' "$(k_get "$(pod team-a/bare)" | of '[.spec.schedulingGates[].name]')"
is 'the release names what nobody decided' "$(printf '%s\n' 'job team-a/early' 'job team-b/much' 'pod team-a/bare')" \
    "$(release --dry-run | grep / | sort)"
is 'and lets it go' '3 released, 0 failed' "$(release | tail -n 1)"
passes 'the Job runs' done_well team-b/much
passes 'so does the Pod' k_wait 10 "$(pod team-a/bare)" '.status.phase == "Succeeded"'
is 'which say so' '2' "$(for at in "$(job team-b/much)" "$(pod team-a/bare)"; do k_get "$at"; done |
    jq -r '.metadata.annotations["lowtide.dev/plan"]' | grep -c 'started without a hold, as lowtide was away')"
is 'once' '0 released, 0 failed' "$(release)"
passes 'what waits for budget waits' waits team-b/held
passes 'and what its user suspended' waits team-a/own
written=$(balance written)
k_job team-a last "$(limit 600)" >/dev/null
k_patch $map merge '{"data":{"written":null}}' >/dev/null
is 'balances that do not say when are no word of its absence' '0 released, 0 failed' "$(release)"
k_patch $map merge "{\"data\":{\"written\":\"$written\",\"mode\":\"observe\"}}" >/dev/null
is 'nor do those of another mode let go' '0 released, 0 failed' "$(release)"
k_delete $map >/dev/null
is 'nor what is not there' '0 released, 0 failed' "$(release)"
is 'it says why' true "$(grep -q 'what lowtide has not decided stays: .*lowtide-balances' "$work/err" && echo true)"
l_up
passes 'back again, lowtide decides the rest' planned team-a/last
is_charged() { [ "$(charged team-b/much)" -gt 0 ]; }
passes 'and charges what it did not see' within 40 is_charged

# hold, and reject
policy hold
passes 'on_unknown: hold is in the balances' within 30 says on_unknown hold
away 2
is 'a Job is created' 201 "$(code team-b more "$much")"
is 'and stays' '0 released, 0 failed' "$(release)"
passes 'suspended' waits team-b/more
l_up
policy reject
passes 'on_unknown: reject is in the balances' within 30 says on_unknown refuse
is 'a Job is created while they are known' 201 "$(code team-a known "$(limit 60) | $(runs 20)")"
passes 'and runs' done_well team-a/known
away 3
is 'one is refused once they are not' 422 "$(code team-a unknown "$(limit 60)")"
is 'which says why' true "$(k_job team-a unknown "$(limit 60)" | jq '.message | test("balances are too old.*on_unknown is reject")')"
is 'where there is no budget, too' 422 "$(code team-d unknown "$(limit 60)")"
is 'but elsewhere not' 201 "$(code default unknown "$(limit 60)")"
is 'nothing is let go' '0 released, 0 failed' "$(release)"
l_up
passes 'once lowtide is back Jobs are created' within 30 eval '[ "$(code team-a again "$(limit 60)")" == 201 ]'
l_end
k_down

# Before 1.36 nothing is suspended by the API server
l_ahead 0
up older allow --validate --minor 34
is 'what is not suspended is refused' 422 "$(code team-a open "$(limit 60)")"
is 'what is, is not' 201 "$(code team-a waits "$(limit 60) | .spec.suspend = true")"
is 'a Pod without the gate is refused' 422 "$(K_CODE=1 k_pod team-a bare)"
away 1
is 'lowtide is away: it starts by itself' 201 "$(code team-a open "$(limit 60) | $(runs 20)")"
passes 'and runs' done_well team-a/open
is 'so does a Pod' 201 "$(K_CODE=1 k_pod team-a bare)"
k_job team-a first "$(limit 60) | .spec.suspend = true | $(runs 20)" >/dev/null
is 'what says suspend waits for the release' '1 released, 0 failed' "$(release | tail -n 1)"
passes 'which lets it go' done_well team-a/first
l_up
the_end
