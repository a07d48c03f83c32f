#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The played API server is what clients will take it for: pages, watches, what
# is refused and why, and Jobs that run. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
K_SERVER=${BUILD:-$top/build}/tests/kube/server
# shellcheck source=tests/kube/kube.sh
. "$top/tests/kube/kube.sh"
work=$(mktemp -d)
trap 'k_down; rm -rf "$work"' EXIT
n=0 bad=0
is() { # is NAME WANT GOT
	n=$((n + 1))
	if [ "$2" == "$3" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		printf 'not ok %d - %s\n# want %s\n# got  %s\n' "$n" "$1" "$2" "$3"
	fi
}
passes() { # passes NAME COMMAND...
	local name=$1
	shift
	"$@" >"$work/out" 2>&1
	is "$name" 0 $?
}
of() { jq -c "$1"; }

k_up "$work/kube" --speed 10 --history 200 --bookmark 200 --mutate --validate || exit 1
K_JOB=$K_JOBS/default/jobs
K_POD=$K_CORE/default/pods

# Who asks
is 'it is ready without a token' ok "$(K_TOKEN=port k_get /readyz)"
is 'a wrong token is refused' 401 "$(K_TOKEN=port k_status k_get /api/v1/nodes)"
is 'secrets are forbidden' 403 "$(k_status k_get $K_CORE/default/secrets)"
is 'what is not served' 404 "$(k_status k_get /apis/batch/v2/jobs)"
is 'two pools' '["ondemand-1","ondemand-2","spot-1","spot-2"]' \
    "$(k_get /api/v1/nodes | of '[.items[].metadata.name]')"

# Lists
for i in 1 2 3 4 5; do k_job default "p$i" '.spec.suspend = true | .metadata.labels.odd = "\('$i' % 2)" |
    .spec.template.metadata.annotations["test/run-seconds"] = "20"'; done >/dev/null
k_wait 5 $K_JOB 'all(.items[]; .status.conditions[0].type == "Suspended")'
page=$(k_get "$K_JOB?limit=2")
is 'a page' '["p1","p2"]' "$(of '[.items[].metadata.name]' <<<"$page")"
is 'how many remain' 3 "$(of .metadata.remainingItemCount <<<"$page")"
k_delete "$K_JOB/p3" >/dev/null
next=$(k_get "$K_JOB?limit=9&continue=$(jq -r .metadata.continue <<<"$page")")
is 'the next page is of the same moment' '["p3","p4","p5"]' "$(of '[.items[].metadata.name]' <<<"$next")"
is 'by label' '["p1","p5"]' "$(k_get "/apis/batch/v1/jobs?labelSelector=odd%3D1" | of '[.items[].metadata.name]')"
is 'by name' '["p4"]' "$(k_get "$K_JOB?fieldSelector=metadata.name%3Dp4" | of '[.items[].metadata.name]')"
page=$(k_get "$K_JOB?limit=2")
k_faults '{"page_expire":1}' >/dev/null
is 'a page that expired' '[410,"Expired"]' \
    "$(k_get "$K_JOB?continue=$(jq -r .metadata.continue <<<"$page")" | of '[.code, .reason]')"
k_faults '{"reset":true}' >/dev/null

# Watches
version=$(k_get $K_JOB | jq -r .metadata.resourceVersion)
K_TOKEN=token k_watch 2 "$K_JOB?resourceVersion=$version&allowWatchBookmarks=true" >"$work/watch" &
k_job default w1 '.spec.suspend = true' >/dev/null
k_delete $K_JOB/w1 >/dev/null
wait $!
is 'a watch tells of a Job' '["ADDED","DELETED"]' \
    "$(jq -sc '[.[] | select(.object.metadata.name == "w1") | .type] | [first, last]' <"$work/watch")"
is 'bookmarks have the version' true \
    "$(jq -s "[.[] | select(.type == \"BOOKMARK\")] | length > 2 and
	(last | .object.metadata.resourceVersion | tonumber > $version)" <"$work/watch")"
k_faults '{"compact":true}' >/dev/null
is 'history that is gone' '["ERROR",410,"Expired"]' \
    "$(k_get "$K_JOB?watch=true&resourceVersion=$version" | of '[.type, .object.code, .object.reason]')"
version=$(k_get $K_JOB | jq -r .metadata.resourceVersion)
k_get "$K_JOB?watch=true&resourceVersion=$version" >"$work/watch" 2>/dev/null &
sleep 0.2
k_faults '{"cut_streams":1}' >/dev/null
wait $!
is 'a stream that is cut has no end' true "$([ $? -ne 0 ] && echo true)"

# Refusals
is 'twice the same name' '[409,"AlreadyExists"]' "$(k_job default p1 | of '[.code, .reason]')"
is 'an old version' '[409,"Conflict"]' \
    "$(k_patch $K_JOB/p1 merge '{"metadata":{"resourceVersion":"7","labels":{"a":"b"}}}' | of '[.code, .reason]')"
is 'a number is no annotation' 400 "$(k_status k_patch $K_JOB/p1 merge '{"metadata":{"annotations":{"a":1}}}')"
is 'a test that fails' '[422,"Invalid"]' \
    "$(k_patch $K_JOB/p1 json '[{"op":"test","path":"/spec/suspend","value":false}]' | of '[.code, .reason]')"
is 'what changes nothing is no write' "$(k_get $K_JOB/p1 | of .metadata.resourceVersion)" \
    "$(k_patch $K_JOB/p1 merge '{"spec":{"suspend":true}}' | of .metadata.resourceVersion)"

# Server-side apply
file='.spec.suspend = true | .metadata.annotations = {"a": "1", "b": "2"}'
managers() { k_get "$K_JOB/$1" | of '[.metadata.managedFields[] | .manager + " " + .operation] | sort'; }
is 'an apply creates' 201 "$(k_status k_apply_there default s1 "$file")"
is 'for a manager that has a name' 422 "$(k_job_file s1 "$file" | k_status k_curl "$K_JOB/s1?force=true" \
    -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary @-)"
version=$(k_get $K_JOB/s1 | jq -r .metadata.resourceVersion)
is 'again it is no write' "\"$version\"" "$(k_apply_there default s1 "$file" | of .metadata.resourceVersion)"
is 'its fields are its own, and no others' '{"f:annotations":{"f:a":{},"f:b":{}}}["kubectl Apply"]' \
    "$(k_get $K_JOB/s1 | of '.metadata.managedFields[0].fieldsV1["f:metadata"]')$(managers s1)"
k_patch "$K_JOB/s1?fieldManager=other" merge '{"metadata":{"annotations":{"a":"3","c":"4"}},"spec":{"suspend":false}}' >/dev/null
is 'who changes them takes them' '{"f:metadata":{"f:annotations":{"f:a":{},"f:c":{}}},"f:spec":{"f:suspend":{}}}' \
    "$(k_get $K_JOB/s1 | of '.metadata.managedFields[] | select(.manager == "other") | .fieldsV1')"
is 'which is a conflict then' \
    '[409,"Conflict",[".metadata.annotations.a",".spec.suspend"],"conflict with \"other\" using batch/v1"]' \
    "$(k_apply_there default s1 "$file" | of '[.code, .reason, [.details.causes[].field], .details.causes[0].message]')"
is 'but not with the same value' 200 "$(k_status k_apply_there default s1 "$file | .spec.suspend = false | .metadata.annotations.a = \"3\"")"
is 'they are of both then' '["kubectl Apply","other Update"]' "$(managers s1)"
is 'what is applied no more goes, and of others nothing' '{"a":"3","c":"4"}' \
    "$(k_apply_there default s1 'del(.metadata.annotations) | .spec.suspend = false | .metadata.annotations.a = "3"' | of .metadata.annotations)"
is 'by force it is taken from others' '{"a":"1","b":"2","c":"4"}true{"f:metadata":{"f:annotations":{"f:c":{}}}}' \
    "$(K_FORCE=true k_apply_there default s1 "$file" | jq -Sjc '.metadata.annotations, .spec.suspend,
	(.metadata.managedFields[] | select(.manager == "other") | .fieldsV1)')"
k_apply_there default s2 "$file" >/dev/null
is 'a list without a key is one field' '".spec.template.spec.tolerations"' \
    "$(k_patch "$K_JOB/s2?fieldManager=other" merge '{"spec":{"template":{"spec":{"tolerations":[{"key":"x"}]}}}}' >/dev/null
	k_apply_there default s2 "$file | .spec.template.spec.tolerations = [{key: \"y\"}]" | of '.details.causes[].field')"
for name in s1 s2; do k_delete $K_JOB/$name; done >/dev/null

# A Job's life
release='{"spec":{"suspend":false,"template":{"spec":{"nodeSelector":{"lowtide.dev/pool":"spot"},
    "tolerations":[{"key":"lowtide.dev/spot","value":"true","effect":"NoSchedule"}]}}}}'
is 'released with a pool in one patch' 200 "$(k_status k_patch $K_JOB/p1 merge "$release")"
passes 'it runs' k_wait 5 $K_JOB/p1 '.status.active == 1 and .status.ready == 1'
is 'its template stays now' '["spec.template"]' \
    "$(k_patch $K_JOB/p1 merge '{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}' | of '[.details.causes[].field]')"
passes 'it ends well' k_wait 5 $K_JOB/p1 '.status.succeeded == 1 and .status.completionTime != null and
    any(.status.conditions[]; .type == "Complete" and .status == "True")'
is 'its pod ran on a spot node, with its times' '["spot-1",true,true]' \
    "$(k_get "$K_POD?labelSelector=batch.kubernetes.io/job-name%3Dp1" | of '.items[0] |
	.status.containerStatuses[0].state.terminated as $t |
	[.spec.nodeName, $t.startedAt >= .status.startTime, $t.finishedAt >= $t.startedAt]')"
k_job default stops '.spec.template.metadata.annotations["test/run-seconds"] = "600"' >/dev/null
k_wait 5 $K_JOB/stops '.status.ready == 1'
k_patch $K_JOB/stops merge '{"spec":{"suspend":true}}' >/dev/null
passes 'suspended, its pods go and do not count' k_wait 5 $K_JOB/stops \
    '.status.active == null and .status.failed == null and .status.startTime == null and .status.terminating == 0'
is 'then its template may change again' 200 \
    "$(k_status k_patch $K_JOB/stops merge '{"spec":{"template":{"spec":{"nodeSelector":{"lowtide.dev/pool":"ondemand"}}}}}')"
k_job default late '.spec.activeDeadlineSeconds = 5 |
    .spec.template.metadata.annotations["test/run-seconds"] = "600"' >/dev/null
k_job default fails '.spec.backoffLimit = 1 | .spec.template.metadata.annotations["test/fail"] = "1"' >/dev/null
passes 'a deadline ends it' k_wait 5 $K_JOB/late \
    'any(.status.conditions[]?; .type == "Failed" and .reason == "DeadlineExceeded")'
passes 'failures end it' k_wait 5 $K_JOB/fails '.status.failed == 2 and
    any(.status.conditions[]?; .type == "Failed" and .reason == "BackoffLimitExceeded")'
k_job default moves '.spec.template.spec.nodeSelector = {"kubernetes.io/hostname": "ondemand-2"} |
    .spec.template.metadata.annotations["test/run-seconds"] = "600" | .spec.backoffLimit = 0' >/dev/null
k_wait 5 $K_JOB/moves '.status.ready == 1'
k_delete /api/v1/nodes/ondemand-2 >/dev/null
is 'a lost node fails its pods' '["Failed","NodeLost"]' \
    "$(k_get "$K_POD?labelSelector=job-name%3Dmoves" | of '.items[0].status | [.phase, .reason]')"
passes 'a Job without retries fails with it' k_wait 5 $K_JOB/moves 'any(.status.conditions[]?; .type == "Failed")'

# Pods with gates, and admission
k_namespace team-a managed >/dev/null
K_POD=$K_CORE/team-a/pods
is 'a bare pod gets the gate and its user' '["lowtide.dev/hold","alice"]' \
    "$(K_AS=alice k_pod team-a b1 | of '[.spec.schedulingGates[0].name, .metadata.annotations["lowtide.dev/user"]]')"
is 'no other gate later' 422 \
    "$(k_status k_patch $K_POD/b1 strategic '{"spec":{"schedulingGates":[{"name":"other"}]}}')"
is 'a selector is added' 200 \
    "$(k_status k_patch $K_POD/b1 merge '{"spec":{"nodeSelector":{"lowtide.dev/pool":"ondemand"}}}')"
is 'and not changed' 422 \
    "$(k_status k_patch $K_POD/b1 merge '{"spec":{"nodeSelector":{"lowtide.dev/pool":"spot"}}}')"
k_patch $K_POD/b1 strategic '{"spec":{"schedulingGates":[{"$patch":"delete","name":"lowtide.dev/hold"}]}}' >/dev/null
passes 'without its gate it runs' k_wait 5 $K_POD/b1 '.status.phase == "Succeeded" and .spec.nodeName == "ondemand-1"'
is 'a Job is suspended' true "$(k_job team-a a1 | of .spec.suspend)"
is 'only lowtide writes its annotations' '[422,200]' \
    "[$(k_status k_patch $K_JOBS/team-a/jobs/a1 merge '{"metadata":{"annotations":{"lowtide.dev/quote":"q"}}}'),$(
	K_TOKEN=token k_status k_patch $K_JOBS/team-a/jobs/a1 merge '{"metadata":{"annotations":{"lowtide.dev/quote":"q"}}}')]"
jq -n '{kind: "ConfigMap", apiVersion: "v1", metadata: {name: "lowtide-balances"}, data: {mode: "enforce", written: "\(now | floor)",
    currency: "USD", "gpu-hour": "2000000", "cpu-hour": "50000", "team-a.limit": "10000000",
    "team-a.spent": "8000000", "team-a.held": "1000000", "team-a.available": "1000000"}}' |
    k_post $K_CORE/lowtide/configmaps >/dev/null
is 'a Job beyond the budget' \
    'lowtide: team-a has 1.00 USD available of its limit of 10.00 (spent 8.00, held 1.00); this Job asked for at least 4.00' \
    "$(k_job team-a big '.spec.activeDeadlineSeconds = 7200 |
	.spec.template.spec.containers[0].resources.limits = {"nvidia.com/gpu": 1}' |
	jq -r '.message | sub(".*request: "; "")')"
is 'and one within it' 201 "$(k_status k_job team-a small '.spec.activeDeadlineSeconds = 7200')"

# Faults
k_faults '{"status":429,"retry_after":1,"count":2}' >/dev/null
is 'too many requests, twice' '429 429 200' \
    "$(for _ in 1 2 3; do k_status k_get $K_POD; done | xargs)"
k_faults '{"lose_reply":1,"method":"PATCH"}' >/dev/null
k_patch $K_JOBS/team-a/jobs/a1 merge '{"metadata":{"labels":{"lost":"1"}}}' >/dev/null 2>&1
is 'a reply is lost, and done' '"1"' "$(k_get $K_JOBS/team-a/jobs/a1 | of .metadata.labels.lost)"
old=$(cat "$KUBE/token")
k_faults '{"expire_token":true}' >/dev/null
is 'a token expires, its file has the next' '200 401' \
    "$(K_TOKEN=token k_status k_get $K_POD) $(echo "$old" >"$KUBE/old"; K_TOKEN=old k_status k_get $K_POD)"
echo "1..$n"
[ $bad -eq 0 ]
