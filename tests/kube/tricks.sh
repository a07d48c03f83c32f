#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ways past the budget on a played Kubernetes cluster (docs/bypass.md): what the
# admission policies refuse, and what lowtide-kube makes of what passed them.
# BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/kube" --speed 10 --mutate --validate || exit 1
for team in team-a team-b; do k_namespace $team managed; done >/dev/null
k_namespace plain >/dev/null
l_day 3 9
l_policy 'budgets:
  - {team: team-a, period: month, amount: 1000000}
  - {team: team-b, period: month, amount: 300}
  - {team: team-c, period: month, amount: 1000000}'
# What pods get at their creation: of two LimitRanges the more, as nobody knows
# which is taken; requests that follow from a default, and that from a max.
k_namespace team-c managed >/dev/null
limits() { jq -n --arg name "$1" --argjson item "$2" '{kind: "LimitRange", apiVersion: "v1", metadata: {name: $name},
    spec: {limits: [{type: "Pod", max: {cpu: "9"}}, $item + {type: "Container"}]}}' | k_post "$K_CORE/team-c/limitranges"; }
limits most '{"max": {"cpu": "4", "memory": "2Gi"}}' >/dev/null
limits some '{"defaultRequest": {"cpu": "3"}}' >/dev/null
jq -n '{kind: "RuntimeClass", apiVersion: "node.k8s.io/v1", metadata: {name: "kata"}, handler: "kata",
    overhead: {podFixed: {cpu: "1500m"}}, scheduling: {nodeSelector: {"lowtide.dev/pool": "ondemand"}}}' |
    k_post /apis/node.k8s.io/v1/runtimeclasses >/dev/null
l_up || exit 1
published() { k_get $K_CORE/lowtide/configmaps/lowtide-balances | jq -e '.data["team-b.available"]' >/dev/null; }
passes 'balances are there' within 10 published
waits() { [ "$(k_get "$(job "$1")" | of .spec.suspend)" == true ]; }
hold_of() { sqlite3 -readonly "$L/state/ledger.db" "SELECT money_micros FROM holds WHERE job_id = $(id_of "$1")"; }
# hold_is NAME MICROS: with a margin of 5 % and a micro for rounding
hold_is() {
	local hold want=$(($2 * 105 / 100))
	hold=$(hold_of "$1")
	[ "$hold" -ge "$want" ] && [ "$hold" -le $((want + 1)) ]
} 2>/dev/null
# worth POOL MILLICPUS MIB SECONDS: micros of a pod, by the weights of docs/model.md, (2a)
worth() { echo $((($1 * (31611 * $2 * 1024 + 4237 * $3 * 1000) * $4 + 1023999) / 1024000)); }
spot=25 ondemand=50

# As a user who may edit Jobs
K_AS=alice k_job team-a first "$(wishes carbon 600) | .spec.completions = 6" >/dev/null
planned team-a/first
quote=$(note team-a/first quote)
forged=$(jq -n --arg quote "$quote" '{"lowtide.dev/quote": $quote, "lowtide.dev/begin": "2026-01-01T00:00:00Z"}')
is 'a quote that is forged at creation' 422 \
    "$(K_AS=alice K_CODE=1 k_job team-a forged "$(limit 60) | .metadata.annotations = $forged")"
for name in quote plan begin pool hold user; do
	is "$name written later" 422 "$(K_AS=alice k_status k_patch "$(job team-a/first)" merge \
	    "{\"metadata\":{\"annotations\":{\"lowtide.dev/$name\":\"x\"}}}")"
done
is 'another in lowtide.dev/user' '"alice"' "$(K_AS=alice k_job team-a named "$(limit 60) |
    .metadata.annotations = {\"lowtide.dev/user\": \"bob\"}" | of '.metadata.annotations["lowtide.dev/user"]')"
is 'no activeDeadlineSeconds' 422 "$(K_AS=alice K_CODE=1 k_job team-a endless)"
jq -n '{kind: "ConfigMap", apiVersion: "v1", metadata: {name: "lowtide-balances"}, data: {mode: "observe"}}' |
    K_AS=alice k_post $K_CORE/team-b/configmaps >/dev/null
is 'balances of one'\''s own are not read' 422 "$(K_AS=alice K_CODE=1 k_job team-b much "$(limit 60000)")"

# What the guard would refuse is held for, where there is no guard
passes 'a hold by its limit and what its pods may take to end' hold_is team-a/first 591492000
K_AS=alice k_patch "$(job team-a/first)" merge '{"spec":{"parallelism":2}}' >/dev/null
passes 'parallelism that is raised' within 10 hold_is team-a/first 1182984000
K_AS=alice k_patch "$(job team-a/first)" merge '{"spec":{"activeDeadlineSeconds":1200}}' >/dev/null
passes 'a limit that is raised' within 10 hold_is team-a/first 2258424000
K_AS=alice k_patch "$(job team-a/first)" merge '{"spec":{"template":{"spec":{"nodeSelector":{"lowtide.dev/pool":"ondemand"}}}}}' >/dev/null
passes 'a dearer pool that is chosen later' within 20 hold_is team-a/first 4516848000
k_delete "$(job team-a/first)" >/dev/null

k_job team-a byhand "$(wishes carbon 600) | $(runs 20)" >/dev/null
planned team-a/byhand
K_AS=alice k_patch "$(job team-a/byhand)" merge '{"spec":{"suspend":false}}' >/dev/null
passes 'a resume by hand: it runs' done_well team-a/byhand

# Two at once: each alone is within the balance
k_jobs 2 team-b "$(limit 60) | $(runs 600)"
passes 'of two at once one waits for budget' k_wait 10 "$K_JOBS/team-b/jobs" \
    '[.items[].metadata.annotations["lowtide.dev/hold"] | select(.)] == ["budget"]'

# A Job whose pods are deleted makes others: each is charged
k_job team-a retries "$(limit 600) | $(runs 30)" >/dev/null
k_wait 10 "$(job team-a/retries)" '.status.ready == 1'
sleep 1.1
k_delete "$(pod "team-a/$(k_get "$(pods_of team-a/retries)" | jq -r '.items[0].metadata.name')")" >/dev/null
passes 'pods deleted by hand: the Job goes on' done_well team-a/retries 30

# What pods get at their creation is held for
bare='del(.spec.template.spec.containers[0].resources)'
k_job team-c given "$(wishes carbon 600) | $bare" >/dev/null
passes 'requests by a LimitRange: 4 CPUs' within 10 hold_is team-c/given "$(worth $spot 4000 2048 660)"
k_job team-c says "$(wishes carbon 600)" >/dev/null
passes 'not where a container has its own' within 10 hold_is team-c/says "$(worth $spot 1000 1024 660)"
k_job team-c kata "$(limit 600) | .spec.template.spec.runtimeClassName = \"kata\" | $(runs 20)" >/dev/null
passes 'a RuntimeClass'\''s overhead, 1 and 1.5 CPUs, and the pool that it is kept to' within 10 hold_is team-c/kata "$(worth $ondemand 2500 1024 660)"
passes 'so it runs' done_well team-c/kata
is 'with what was held for' '["ondemand",{"cpu":"1500m"}]' "$(k_get "$(pods_of team-c/kata)" |
    of '.items[0].spec | [.nodeSelector["lowtide.dev/pool"], .overhead]')"
k_job team-c young "$(limit 600) | $bare | $(runs 20)" >/dev/null
passes 'one that is given 4 runs' done_well team-c/young
is 'and uses 4 or 3' true "$(k_get "$(pods_of team-c/young)" | of '.items[0].spec.containers[0].resources.requests.cpu | . == "4" or . == "3"')"

# Whose pods nobody gates
owned='.metadata.ownerReferences = [{apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "00000000-0000-4000-8000-000000000001", controller: true}]'
k_pod team-a web "$owned | .metadata.annotations[\"test/run-seconds\"] = \"20\"" >/dev/null
passes 'a Deployment'\''s pod runs' k_wait 10 "$(pod team-a/web)" '.status.phase == "Succeeded"'
l_restart
passes 'the resume by hand is charged' within 30 is_owed team-a/byhand
passes 'and both pods of the other' within 30 eval '[ "$(runs_of team-a/retries | jq length)" == 2 ]'
owed_web() { k_get "$(pod team-a/web)" | jq '{items: [.]}' | jq "$OWED"; }
passes 'a Deployment'\''s is, too' within 30 eval '[ "$(charged team-a/replicaset/web)" == "$(owed_web)" ]'
is 'and nothing is held for it' '' "$(hold_of team-a/replicaset/web)"

# Without the right to list them
doctor() { KUBECONFIG=$work/kubeconfig lowtide doctor --config "$work/policy.yaml" 2>&1; }
is 'doctor says nothing of rights that are there' '' "$(doctor | grep LimitRange)"
k_faults '{"status": 403, "match": "limitranges", "method": "GET", "count": 1000}' >/dev/null
l_restart
k_job team-c hidden "$(limit 600) | $bare | $(runs 20)" >/dev/null
passes 'what pods are given is not known' k_wait 10 "$(job team-c/hidden)" \
    '.metadata.annotations["lowtide.dev/plan"] | test("^waits: without the right to list LimitRanges")'
passes 'and doctor says so' eval 'doctor | grep -q "count as of unknown cost"'
k_job team-c open "$(limit 60) | $(runs 20)" >/dev/null
passes 'one that says all itself runs' done_well team-c/open
k_faults '{"reset": true, "method": "", "match": ""}' >/dev/null
k_delete $K_CORE/lowtide/configmaps/lowtide-balances >/dev/null
l_ahead 1
passes 'once it is known again, the other runs too' done_well team-c/hidden 30
passes 'balances that somebody deleted are back' within 10 published
written() { k_get $K_CORE/lowtide/configmaps/lowtide-balances | jq '.data.written | tonumber'; }
was=$(written)
l_ahead 2
is_newer() { [ "$(written)" -ge $((was + 3600)) ]; }
passes 'and say when they were written, though nothing changed' within 10 is_newer
the_end
