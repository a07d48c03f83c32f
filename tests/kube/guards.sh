#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the guards refuse on a played Kubernetes cluster (policy-guard.yaml,
# policy-own.yaml), who is let pass, and what lowtide-kube makes of pods that were
# cut loose all the same, and of a namespace that is deleted whole.
# BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

k_up "$work/kube" --speed 10 --mutate --validate --guard || exit 1
for team in team-a team-b; do k_namespace $team managed; done >/dev/null
k_namespace plain >/dev/null
l_day 3 9
l_policy 'budgets:
  - {team: team-a, period: month, amount: 1000000}
  - {team: team-b, period: month, amount: 1000000}'
l_up || exit 1
enforced() { k_get $K_CORE/lowtide/configmaps/lowtide-balances | jq -e '.data.mode == "enforce"' >/dev/null; }
passes 'balances are there' within 10 enforced
controller=system:serviceaccount:kube-system
runs_now() { k_wait 15 "$(job "$1")" '.status.ready == 1'; }
pod_name() { k_get "$(pods_of "$1")" | jq -r '.items[0].metadata.name'; }
# by USER PATH JSON: the status of a merge patch, tried alone or for good
by() { K_AS=$1 k_status k_patch "$2${4:-?dryRun=All}" merge "$3"; }
deletes() { # deletes USER NAME BODY
	K_AS=$1 k_status k_curl "$(job "$2")?dryRun=All" -X DELETE -H 'Content-Type: application/json' ${3:+-d "$3"}
}

# A Job that runs, as a user who may edit Jobs and pods
K_AS=alice k_job team-a runs "$(limit 36000) | .spec.podReplacementPolicy = \"Failed\" | $(runs 6000)" >/dev/null
passes 'a Job of alice runs' runs_now team-a/runs
mine=$(pod "team-a/$(pod_name team-a/runs)")
for label in controller-uid job-name batch.kubernetes.io/controller-uid batch.kubernetes.io/job-name; do
	is "its pod's label $label, another" 422 "$(by alice "$mine" "{\"metadata\":{\"labels\":{\"$label\":\"x\"}}}")"
	is 'or none' 422 "$(by alice "$mine" "{\"metadata\":{\"labels\":{\"$label\":null}}}")"
done
is 'a label that is new' 200 "$(by alice "$mine" '{"metadata":{"labels":{"mine":"x"}}}')"
is 'its owner taken away' 422 "$(by alice "$mine" '{"metadata":{"ownerReferences":null}}')"
is 'another owner' 422 "$(by alice "$mine" '{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x",
    "uid":"00000000-0000-4000-8000-000000000003"}]}}')"
for more in '"parallelism":2' '"backoffLimit":7' '"activeDeadlineSeconds":36001' '"activeDeadlineSeconds":null' \
    '"podReplacementPolicy":"TerminatingOrFailed"'; do
	is "$more" 422 "$(by alice "$(job team-a/runs)" "{\"spec\":{$more}}")"
done
is 'less is allowed' 200 "$(by alice "$(job team-a/runs)" '{"spec":{"parallelism":0}}')"
is 'the finalizer orphan' 422 "$(by alice "$(job team-a/runs)" '{"metadata":{"finalizers":["orphan"]}}')"
is 'another one' 200 "$(by alice "$(job team-a/runs)" '{"metadata":{"finalizers":["example.org/x"]}}')"
is 'the finalizer orphan from the first' 422 "$(K_AS=alice K_CODE=1 k_job team-a orphans "$(limit 60) | .metadata.finalizers = [\"orphan\"]")"
is 'a selector that a label more would leave' 422 "$(K_AS=alice K_CODE=1 k_job team-a negative "$(limit 60) |
    .spec.manualSelector = true | .spec.selector = {matchLabels: {a: \"b\"}, matchExpressions: [{key: \"x\", operator: \"DoesNotExist\"}]} |
    .spec.template.metadata.labels = {a: \"b\"}")"
for body in '' '{}' '{"propagationPolicy":"Orphan"}' '{"orphanDependents":true}'; do
	is "a deletion, ${body:-with no options}" 422 "$(deletes alice team-a/runs "$body")"
done
for body in '{"propagationPolicy":"Background"}' '{"propagationPolicy":"Foreground"}' '{"orphanDependents":false}'; do
	is "a deletion, $body" 200 "$(deletes alice team-a/runs "$body")"
done
K_AS=alice k_job team-a over "$(limit 600) | $(runs 10)" >/dev/null
passes 'another has run' done_well team-a/over
is 'it may leave its pods' 200 "$(deletes alice team-a/over '{"propagationPolicy":"Orphan"}')"
k_job plain free "$(limit 600) | $(runs 6000)" >/dev/null
is 'so may one of a namespace that is not managed' 200 "$(deletes alice plain/free '{}')"

# What waits
K_AS=alice k_job team-a waits "$(wishes carbon 3600)" >/dev/null
planned team-a/waits
is 'a resume by hand' 422 "$(by alice "$(job team-a/waits)" '{"spec":{"suspend":false}}')"
is 'its template, with its hold' 422 "$(by alice "$(job team-a/waits)" '{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}')"
K_AS=alice k_pod team-a bare "$(wishes carbon 3600)" >/dev/null
passes 'a bare pod waits, too' k_wait 10 "$(pod team-a/bare)" '.metadata.annotations["lowtide.dev/quote"] != null'
is 'its gate' 422 "$(by alice "$(pod team-a/bare)" '{"spec":{"schedulingGates":null}}')"
is 'where it may run' 422 "$(by alice "$(pod team-a/bare)" '{"spec":{"nodeSelector":{"a":"b"}}}')"
is 'an owner, so that it looks like a controller'\''s' 422 "$(by alice "$(pod team-a/bare)" "$(k_get "$(job team-a/runs)" |
    jq '{metadata: {ownerReferences: [{apiVersion: "batch/v1", kind: "Job", name: "runs", uid: .metadata.uid, controller: true}]}}')")"
is 'its labels are its user'\''s' 200 "$(by alice "$(pod team-a/bare)" '{"metadata":{"labels":{"mine":"x"}}}')"

# The size of a pod that runs
size() { # size USER POD: prints the status
	K_AS=$1 k_status k_patch "$2/resize?dryRun=All" strategic \
	    '{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"2","memory":"1Gi"}}}]}}'
}
is 'a resize of a Job'\''s pod' 422 "$(size alice "$mine")"
is 'by an account of kube-system' 422 "$(size $controller:vpa-updater "$mine")"
is 'of a bare pod with a hold' 422 "$(size alice "$(pod team-a/bare)")"
is 'who may override may' 200 "$(size admin "$mine")"

# Who is let pass: the cluster's own controllers by their names, nobody else of kube-system
loose='{"metadata":{"ownerReferences":null}}'
for name in job-controller generic-garbage-collector; do
	is "$name may" 200 "$(by $controller:$name "$mine" "$loose")"
done
is 'so may the controller manager, where they have no accounts' 200 "$(by system:kube-controller-manager "$mine" "$loose")"
for name in vpa-updater namespace-controller; do
	is "$name may not" 422 "$(by $controller:$name "$mine" "$loose")"
done
is 'nor an account of that name in another namespace' 422 "$(by system:serviceaccount:team-a:job-controller "$mine" "$loose")"
is 'nor a user of that name' 422 "$(by job-controller "$mine" "$loose")"
for name in cronjob-controller ttl-after-finished-controller namespace-controller; do
	is "$name may delete a Job as it likes" 200 "$(deletes $controller:$name team-a/runs '{}')"
done
is 'kube-scheduler need not' 422 "$(deletes system:kube-scheduler team-a/runs '{}')"
gates_of() { # gates_of USER: of a pod that says a ReplicaSet owns it
	K_AS=$1 k_pod team-a "by-$RANDOM$RANDOM" '.metadata.ownerReferences = [{apiVersion: "apps/v1", kind: "ReplicaSet",
	    name: "web", uid: "00000000-0000-4000-8000-000000000001", controller: true}]' | of '[.spec.schedulingGates[]?.name]'
}
for name in replicaset-controller statefulset-controller daemon-set-controller replication-controller job-controller; do
	is "a pod that $name makes has no gate" '[]' "$(gates_of $controller:$name)"
done
for user in alice $controller:helper $controller:namespace-controller system:serviceaccount:plain:replicaset-controller; do
	is "one of $user has" '["lowtide.dev/hold"]' "$(gates_of $user)"
done

# lowtide's own account, whatever RBAC lets it
own() { K_TOKEN=token k_status k_patch "$1?dryRun=All" merge "$2"; }
for change in '{"metadata":{"annotations":{"lowtide.dev/plan":"x","lowtide.dev/pause":"true"}}}' '{"spec":{"suspend":true}}' \
    '{"spec":{"template":{"metadata":{"annotations":{"lowtide.dev/plan-pool":"x"}}}}}' '{"spec":{"suspend":false}}' \
    '{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"a"}]}}}}' \
    '{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1}]}}}}}}'; do
	is "lowtide may $change" 200 "$(own "$(job team-a/waits)" "$change")"
done
for change in '{"metadata":{"labels":{"a":"b"}}}' '{"metadata":{"annotations":{"a":"b"}}}' \
    '{"metadata":{"annotations":{"lowtide.dev/user":"bob"}}}' '{"metadata":{"finalizers":["example.org/x"]}}' \
    '{"spec":{"parallelism":2}}' '{"spec":{"activeDeadlineSeconds":1}}' \
    '{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}' '{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}' \
    '{"spec":{"template":{"spec":{"schedulingGates":[{"name":"a"}]}}}}' \
    '{"spec":{"template":{"spec":{"affinity":{"podAffinity":{}}}}}}' \
    '{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}}}}}}'; do
	is "lowtide may not $change" 422 "$(own "$(job team-a/waits)" "$change")"
done
image='{"spec":{"containers":[{"name":"main","image":"other"}]}}'
is 'nor the image of a pod that runs' 422 "$(K_TOKEN=token k_status k_patch "$mine?dryRun=All" strategic "$image")"
is 'as its user may' 200 "$(K_AS=alice k_status k_patch "$mine?dryRun=All" strategic "$image")"
is 'nor delete a Job' 422 "$(K_TOKEN=token k_status k_delete "$(job team-a/runs)")"
is 'nor a pod' 422 "$(K_TOKEN=token k_status k_delete "$mine")"
is 'nor make one' 422 "$(K_TOKEN=token K_CODE=1 k_pod team-a made)"
is 'nor elsewhere' 422 "$(K_TOKEN=token K_CODE=1 k_pod plain made)"
is 'but in its own namespace' 201 "$(K_TOKEN=token K_CODE=1 k_pod lowtide made)"
K_AS=alice k_pod team-a others '.spec.schedulingGates = [{name: "example.org/gate"}]' >/dev/null
off() { echo "{\"spec\":{\"schedulingGates\":[{\"\$patch\":\"delete\",\"name\":\"$1\"}]}}"; }
is 'its own gate it takes off' 200 "$(K_TOKEN=token k_status k_patch "$(pod team-a/others)?dryRun=All" strategic "$(off lowtide.dev/hold)")"
is 'not that of others' 422 "$(K_TOKEN=token k_status k_patch "$(pod team-a/others)?dryRun=All" strategic "$(off example.org/gate)")"

# Cut loose by who may override: charged as long as they run
holds() { sqlite3 -readonly "$L/state/ledger.db" "SELECT count(*) FROM holds WHERE account = '$1' AND state = 0"; }
holds_are() { [ "$(holds "$1")" == "$2" ]; }
k_job team-b loose "$(limit 600) | $(runs 60)" >/dev/null
passes 'a Job of another team runs' runs_now team-b/loose
first=$(pod_name team-b/loose)
k_patch "$(pod "team-b/$first")" merge "$loose" >/dev/null
passes 'a pod without its owner is its Job'\''s again' k_wait 10 "$(pod "team-b/$first")" '.metadata.ownerReferences[0].name == "loose"'
k_patch "$(pod "team-b/$first")" merge '{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":null}}}' >/dev/null
passes 'without its label its Job makes another' k_wait 10 "$(pods_of team-b/loose)" \
    '[.items[] | select(.metadata.ownerReferences)] | length == 1 and .[0].status.phase == "Running"'
is 'and it is nobody'\''s' null "$(k_get "$(pod "team-b/$first")" | of .metadata.ownerReferences)"
passes 'the Job ends' done_well team-b/loose
passes 'and the other, too' k_wait 20 "$(pod "team-b/$first")" '.status.phase == "Succeeded"'
k_job team-b left "$(limit 600) | $(runs 60)" >/dev/null
passes 'another runs' runs_now team-b/left
left=$(pod_name team-b/left)
k_curl "$(job team-b/left)" -X DELETE -d '{"orphanDependents":true}' >/dev/null
passes 'its pod outlives it' k_wait 20 "$(pod "team-b/$left")" '.status.phase == "Succeeded" and .metadata.ownerReferences == null'
paid() { # paid SELECT: micros of all pods of team-b so far, as the API server has them
	[ "$(lowtide report --json | jq '.teams[] | select(.team == "team-b") | .charges_micros')" == \
	    "$(k_get $K_CORE/team-b/pods | jq "$OWED")" ]
}
l_restart
passes 'all three pods are charged for their seconds' within 40 paid
is 'and there are three' 3 "$(k_get $K_CORE/team-b/pods | jq '[.items[] | select(.status.phase == "Succeeded")] | length')"

# A whole namespace, with what waits, runs and has run
passes 'holds of what waits and runs' test "$(holds team-a)" -ge 3
is 'a namespace is deleted' 200 "$(K_AS=alice k_status k_delete /api/v1/namespaces/team-a)"
gone() { [ "$(k_status k_get /api/v1/namespaces/team-a)" == 404 ]; }
passes 'it goes' within 30 gone
is 'and all that was in it' '[0,0]' "[$(k_get "$K_JOBS/team-a/jobs" | jq '.items | length'),$(k_get $K_CORE/team-a/pods | jq '.items | length')]"
# A Job that was started counts until it is known that no pod of it ran.
passes 'nothing is held for it' within 180 holds_are team-a 0
is 'other namespaces stay' 200 "$(k_status k_get "$(job plain/free)")"
charged_once() { [ "$(runs_of team-a/runs | jq 'length == 1 and .[0].money_micros > 0')" == true ]; }
l_restart
passes 'what ran there is charged' within 40 charged_once
k_namespace team-a managed >/dev/null
K_AS=alice k_job team-a anew "$(limit 600) | $(runs 10)" >/dev/null
passes 'one of the same name begins anew' done_well team-a/anew
the_end
