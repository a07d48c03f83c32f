#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What webhooks add to pods, held for: by a dry run where the site opted in, else
# from the first pod on. Holds against sums over the pods as they were created.
# BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/kube" --speed 10 --mutate --validate --guard --dry-runs || exit 1
admission=/apis/admissionregistration.k8s.io/v1
"$BUILD/lowtide" kube manifest --dry-run-pods | "$BUILD/tests/tools/manifest_json" |
    jq -c 'select(.kind | test("AdmissionPolicy"))' >"$work/policies"
put_policies() { # anew
	local line path
	while read -r line; do
		path=$admission/$(jq -r '(.kind | ascii_downcase | sub("policy$"; "policies") | sub("binding$"; "bindings"))' <<<"$line")
		k_delete "$path/$(jq -r .metadata.name <<<"$line")" >/dev/null
		k_post "$path" <<<"$line" >/dev/null
	done <"$work/policies"
}
put_policies
for team in team-a team-b team-c; do k_namespace $team managed; done >/dev/null
says_of() { k_patch "/api/v1/namespaces/$1" merge "{\"metadata\":{\"annotations\":{$2}}}" >/dev/null; }
sidecar='"test/sidecar":"{\"cpu\":\"1500m\",\"memory\":\"3Gi\"}"'
says_of team-a "$sidecar"
says_of team-b "$sidecar,\"test/side-effects\":\"yes\""
l_day 0 9
l_policy 'budgets:
  - {team: team-a, period: month, amount: 100000000}
  - {team: team-b, period: month, amount: 100000000}
  - {team: team-c, period: month, amount: 100000000}'
export LOWTIDE_DRY_RUN_PODS=true
l_up || exit 1

held() { sqlite3 -readonly "$L/state/ledger.db" "SELECT money_micros FROM holds WHERE job_id = $(id_of "$1")"; }
# Of a Job's pods as they were created: all containers, what stays with them and
# overhead, 660 s and the margin of 5 %, on the node of pool spot.
sum_of() { # sum_of PODS-JSON
	jq 'def cpus: if . == null then 0 elif endswith("m") then rtrimstr("m") | tonumber / 1000 else tonumber end;
	    def gib: if . == null then 0 elif endswith("Mi") then rtrimstr("Mi") | tonumber / 1024 else rtrimstr("Gi") | tonumber end;
	    [.items[].spec | [(.containers + [.initContainers[]? | select(.restartPolicy == "Always")])[].resources.requests, .overhead // {} |
		31611 * (.cpu | cpus) + 4237 * (.memory | gib)] | add] | add | . * 693 * 25' <<<"$1"
}
near() { jq -en --argjson got "${1:-0}" --argjson want "$2" '$want > 0 and ($got - $want | fabs) <= 1000'; }
is_held() { near "$(held "$1")" "$(sum_of "$(k_get "$(pods_of "$1")")")"; }
requests() { k_get /faults | jq ".requests.create.pods // 0"; }

doctor() { KUBECONFIG=$work/kubeconfig lowtide doctor >"$work/doctor" 2>&1; }

# By a dry run: before anything runs, all that its pods will have is held for
asked=$(requests)
k_job team-a sidecar "$(limit 600) | $(pool spot) | .spec.parallelism = 2 | .spec.completions = 2 | $(runs 6000)" >/dev/null
passes 'a Job is planned' planned team-a/sidecar
first=$(held team-a/sidecar)
passes 'its pods run' k_wait 20 "$(job team-a/sidecar)" '.status.ready == 2'
is 'they have a sidecar' '[2,2]' "$(k_get "$(pods_of team-a/sidecar)" | jq -c '[.items[] | .spec | [.initContainers, .containers] | flatten | length]')"
passes 'its hold was the sum over them from the first' near "$first" "$(sum_of "$(k_get "$(pods_of team-a/sidecar)")")"
passes 'and is' is_held team-a/sidecar
is 'nothing was raised' 0 "$(note team-a/sidecar plan | grep -c raised)"
is 'one dry run was asked for' 1 $(($(requests) - asked))
is 'nothing of it is there' 2 "$(k_get $K_CORE/team-a/pods | jq '.items | length')"
is 'and no room is taken for it' 2 "$(k_get /api/v1/pods | jq '.items | length')"
k_jobs 5 team-a "$(limit 600) | $(pool spot) | $(runs 3)"
all_planned() { k_get "$K_JOBS/team-a/jobs" | jq -e '[.items[] | select(.metadata.annotations["lowtide.dev/quote"])] | length == 6' >/dev/null; }
passes 'of five alike each is planned' within 20 all_planned
is 'by one dry run for all' 2 $(($(requests) - asked))
k_job_file asked "$(limit 600) | $(pool spot)" >"$work/asked.json"
is 'and a plan alone is for what its pods would have' 1 "$(lowtide plan -n team-a -f "$work/asked.json" | tr -d , |
    grep -c "It may cost at most .$(jq -n '693 * 25 * (31611 * 2.5 + 4237 * 4) / 10000 | round / 100')")"

# A LimitRange and a RuntimeClass are in the dry run, too
k_post $K_CORE/team-c/limitranges <<<'{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"small"},
    "spec":{"limits":[{"type":"Container","defaultRequest":{"cpu":"700m","memory":"2Gi"}}]}}' >/dev/null
k_post /apis/node.k8s.io/v1/runtimeclasses <<<'{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"kata"},
    "handler":"kata","overhead":{"podFixed":{"cpu":"250m","memory":"1Gi"}}}' >/dev/null
k_job team-c given "$(limit 600) | $(pool spot) | .spec.template.spec.runtimeClassName = \"kata\" |
    .spec.template.spec.containers[0].resources = {} | $(runs 6000)" >/dev/null
passes 'a Job without requests runs' k_wait 20 "$(job team-c/given)" '.status.ready == 1'
passes 'and is held for by what it got' is_held team-c/given

# A webhook with side effects refuses dry runs: by the template, then by the first pod
goes() { k_patch "$(job "$1")" merge '{"metadata":{"annotations":{"lowtide.dev/pause":"false"}}}' >/dev/null; }
k_job team-b refused "$(limit 600) | $(pool spot) | .spec.suspend = true | .spec.parallelism = 2 | .spec.completions = 2 | $(runs 6000)" >/dev/null
passes 'a Job with no dry run is planned' planned team-b/refused
passes 'by its template' near "$(held team-b/refused)" "$(sum_of "$(k_get "$(job team-b/refused)" | jq '.spec.template as $t | {items: [$t, $t]}')")"
is 'its plan says why' 1 "$(note team-b/refused plan | grep -c 'what webhooks add to its pods is held for once the first of them runs: .*webhook "sidecar.test" does not support dry run')"
goes team-b/refused
passes 'its pods run' k_wait 20 "$(job team-b/refused)" '.status.ready == 2'
passes 'the hold is raised to what they have' within 15 is_held team-b/refused
raised() { note "$1" plan | grep -q 'its hold was raised to what its pods have: 2500m CPUs, 4194304 KiB'; }
passes 'and its plan says so' within 10 raised team-b/refused
told() { events_of team-b/refused | jq '[.[] | select(. == "LowtideRaised")] | length'; }
passes 'an Event, too' within 10 eval '[ "$(told)" -gt 0 ]'
before=$(told)
l_restart
passes 'it is so after a restart' within 15 is_held team-b/refused
is 'which tells nothing again' "$before" "$(told)"
doctor
is 'doctor finds the right and its policy' 1 "$(grep -c '^ok  *dry runs .*in dry runs, and not otherwise' "$work/doctor")"

# What the account may do: dry runs of pods
as_it() { K_AS=system:serviceaccount:lowtide:lowtide-dry-run k_status "$@"; }
pod_file() { jq -n '{kind: "Pod", apiVersion: "v1", metadata: {name: "mine"}, spec: {containers: [{name: "main", image: "played"}]}}'; }
pod_file >"$work/pod.json"
is 'a dry run by it' 201 "$(as_it k_post "$K_CORE/team-a/pods?dryRun=All" "$work/pod.json")"
for space in team-a lowtide; do
	is "a pod by it, $space" 422 "$(as_it k_post "$K_CORE/$space/pods" "$work/pod.json")"
done
is 'another verb' 403 "$(as_it k_get "$K_CORE/team-a/pods")"
is 'another account of lowtide, by lowtide' 403 "$(K_TOKEN=token K_AS=system:serviceaccount:lowtide:lowtide-release k_status k_get "$K_CORE/team-a/pods")"

# The right without its policy, or with one that lets pass
for change in 'delete' '{"spec":{"failurePolicy":"Ignore"}}'; do
	if [ "$change" == delete ]; then
		k_delete $admission/validatingadmissionpolicies/lowtide-dry-run >/dev/null
		is 'without the policy lowtide-own refuses a pod, too' 422 "$(as_it k_post "$K_CORE/team-a/pods" "$work/pod.json")"
		is 'but in its own namespace nothing does' 201 "$(as_it k_post "$K_CORE/lowtide/pods?test" "$work/pod.json")"
	else
		k_patch $admission/validatingadmissionpolicies/lowtide-dry-run merge "$change" >/dev/null
	fi
	doctor
	is "doctor refuses the right, $change" 1 \
	    "$(grep -c '^error  *dry runs .*may create pods, and not only in dry runs: ValidatingAdmissionPolicy/lowtide-dry-run' "$work/doctor")"
	put_policies
done
for change in '["Audit"]' '["Warn"]'; do
	k_patch $admission/validatingadmissionpolicybindings/lowtide-dry-run merge "{\"spec\":{\"validationActions\":$change}}" >/dev/null
	doctor
	is "or a binding of $change" 1 "$(grep -c '^error  *dry runs .*ValidatingAdmissionPolicyBinding/lowtide-dry-run' "$work/doctor")"
done

# Not opted in: by the template, and raised at the first pod all the same
l_end
unset LOWTIDE_DRY_RUN_PODS
l_up
asked=$(requests)
k_job team-a plain "$(limit 600) | $(pool spot) | .spec.suspend = true | $(runs 6000)" >/dev/null
passes 'without dry runs a Job is planned' planned team-a/plain
passes 'by its template' near "$(held team-a/plain)" "$(sum_of "$(k_get "$(job team-a/plain)" | jq '{items: [.spec.template]}')")"
goes team-a/plain
passes 'its pod runs' k_wait 20 "$(job team-a/plain)" '.status.ready == 1'
passes 'its hold is raised' within 15 is_held team-a/plain
passes 'and it is told' within 10 raised team-a/plain
is 'no dry run was asked for' 0 $(($(requests) - asked))

# Before 1.36, where nothing is gated: the policy that wants the gate lets a dry run pass
l_end
k_down
rm -rf "$L/state"
k_up "$work/kube" --speed 10 --validate --guard --dry-runs --minor 33 || exit 1
k_namespace team-a managed >/dev/null
says_of team-a "$sidecar"
export LOWTIDE_DRY_RUN_PODS=true
l_up
passes 'balances are there' within 10 eval 'k_get $K_CORE/lowtide/configmaps/lowtide-balances | jq -e ".data.mode == \"enforce\"" >/dev/null'
K_AS=alice k_job team-a older "$(limit 600) | $(pool spot) | .spec.suspend = true | $(runs 6000)" >/dev/null
passes 'an older server runs a Job' k_wait 20 "$(job team-a/older)" '.status.ready == 1'
is 'by a dry run' 1 "$(requests)"
passes 'and holds for its sidecar' is_held team-a/older
is 'with nothing to be raised' 0 "$(note team-a/older plan | grep -c -e raised -e webhooks)"
the_end
