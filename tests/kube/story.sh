#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The story of a Job on a played Kubernetes cluster, from one annotation to the
# report, and of those whose story is another. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"

budgets() { echo "budgets:
  - {team: team-a, period: month, amount: 1000000}
  - {team: team-b, period: month, amount: $1, on_exceed: hold}"; }

k_up "$work/kube" --speed 10 --mutate || exit 1
for team in team-a team-b; do k_namespace $team managed; done >/dev/null
k_namespace plain >/dev/null
l_day 3 9
l_policy "$(budgets 10)"
l_up || exit 1

# A Job with one annotation
own='[{"key":"mine","operator":"Exists"}]'
big='.spec.template.spec.containers[0].resources.requests.cpu = "32"'
k_job team-a waits "$(wishes carbon 3600) | $big | .spec.template.spec.tolerations = $own | $(runs 30)" >/dev/null
passes 'it is decided' planned team-a/waits
told() { [ "$(events_of "$1")" == "[\"$2\"]" ]; }
passes 'an Event tells the plan' within 5 told team-a/waits LowtidePlanned
is 'which is in its annotation' "[\"$(note team-a/waits plan)\"]" "$(events_of team-a/waits message)"
event=$(k_get $K_CORE/team-a/events | jq '.items[0].firstTimestamp | fromdateiso8601')
created=$(k_get "$(job team-a/waits)" | jq '.metadata.creationTimestamp | fromdateiso8601')
echo "# from creation to its Event: $((event - created)) s"
is 'within seconds' true "$([ $((event - created)) -le 5 ] && echo true)"
is_from() { # is_from NAME HOUR UNTIL: its begin is in these hours from now
	local begin hour
	begin=$(date -d "$(note "$1" begin)" +%s)
	hour=$(($(now) / 3600 * 3600))
	[ "$begin" -ge $((hour + $2 * 3600 - 600)) ] && [ "$begin" -lt $((hour + $3 * 3600)) ]
}
passes 'it waits for the clean hours' is_from team-a/waits 3 9
waits() { [ "$(k_get "$(job "$1")" | of .spec.suspend)" == true ]; }
passes 'suspended' waits team-a/waits

# Others that come
k_job team-a plain "$(limit 60) | .spec.parallelism = 2 | .spec.completions = 2 | $(runs 20)" >/dev/null
passes 'one without annotations starts at once' done_well team-a/plain
k_pod team-a bare "$(wishes carbon 3600) | .metadata.annotations[\"test/run-seconds\"] = \"20\" |
    .spec.containers[0].resources.requests.cpu = \"32\"" >/dev/null
passes 'a bare pod is decided' k_wait 10 "$(pod team-a/bare)" '.metadata.annotations["lowtide.dev/quote"] != null'
is 'behind its gate' '["lowtide.dev/hold"]' \
    "$(k_get "$(pod team-a/bare)" | of '[.spec.schedulingGates[].name]')"
k_job team-a chosen "$(wishes cost) | .spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"ondemand\"} | $(runs 20)" >/dev/null
passes 'one whose pool is chosen runs there' done_well team-a/chosen
is 'and not where it is cheaper' '["ondemand-1"]' "$(k_get "$(pods_of team-a/chosen)" | of '[.items[].spec.nodeName]')"
k_job team-a cheap "$(wishes cost) | .metadata.annotations += {\"lowtide.dev/checkpoint\": \"size=60G\", \"lowtide.dev/amp\": \"fp8\"} | $(runs 20)" >/dev/null
passes 'one whose pool is not goes there' done_well team-a/cheap
is 'told the precision that its GPU has' '["bf16","bf16-mixed"]' "$(k_get "$(job team-a/cheap)" |
    of '.spec.template.metadata.annotations | [.["lowtide.dev/precision"], .["lowtide.dev/trainer-precision"]]')"
# As on a node of Slurm: a minute to write one where nothing says how long, and
# the optimum (14) for 180,000 s between interruptions.
is 'told the best interval' '"4608"' "$(k_get "$(job team-a/cheap)" |
    of '.spec.template.metadata.annotations["lowtide.dev/checkpoint-interval-seconds"]')"
is 'on a spot node' '["spot-1"]' "$(k_get "$(pods_of team-a/cheap)" | of '[.items[].spec.nodeName]')"
k_job team-b big "$(limit 60) | $(runs 20)" >/dev/null
passes 'one beyond the budget is held' k_wait 10 "$(job team-b/big)" '.metadata.annotations["lowtide.dev/hold"] == "budget"'
passes 'and told so' within 5 told team-b/big LowtideHeld
k_job team-a endless "$(runs 20)" >/dev/null
passes 'one without a limit is held, too' k_wait 10 "$(job team-a/endless)" '.metadata.annotations["lowtide.dev/hold"] == "budget"'
k_job team-a elsewhere "$(limit 60) | .spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"other\"}" >/dev/null
passes 'so is one whose pool has no price, and told so' k_wait 10 "$(job team-a/elsewhere)" \
    '.metadata.annotations["lowtide.dev/plan"] | test("^waits: as pool other has no price in the policy, nobody knows what it may take of the budget of team-a")'
k_delete "$(job team-a/elsewhere)" >/dev/null
k_job team-a queued "$(limit 60) | .metadata.labels = {\"kueue.x-k8s.io/queue-name\": \"q\"}" >/dev/null
operators='[{apiVersion: "example.com/v1", kind: "Backup", name: "nightly", uid: "00000000-0000-4000-8000-000000000001", controller: true}]'
K_AS=system:serviceaccount:operators:backup k_job team-a backup "$(limit 60) | .metadata.ownerReferences = $operators | $(runs 20)" >/dev/null
passes 'a Job that an operator made is decided, and runs' done_well team-a/backup
is 'it is explained as any' 1 "$(lowtide explain team-a/backup | grep -c '^Job .*(team-a/backup)')"
is 'one that is Kueue'\''s is told to be' 1 "$(lowtide explain team-a/queued 2>&1 | grep -c 'Kueue starts it, and lowtide takes no hold')"
# What a CronJob makes: the next tick deletes it where it waits still, or is
# skipped. The tick is in so many hours from now.
from_cron() { # from_cron NAME POLICY HOURS [FILTER]
	local tick
	tick=$(date -u -d "@$(($(now) + $3 * 3600))" '+%M %H')
	jq -n --arg name "$1" --arg policy "$2" --arg tick "$tick * * *" '{kind: "CronJob", apiVersion: "batch/v1",
	    metadata: {name: $name}, spec: {schedule: $tick, concurrencyPolicy: $policy}}' |
	    k_post "$K_JOBS/cron/cronjobs" >/dev/null
	K_AS=system:serviceaccount:kube-system:cronjob-controller k_job cron "$1-1" "$(wishes carbon 3600) | $big |
	    .metadata.annotations[\"batch.kubernetes.io/cronjob-scheduled-timestamp\"] = \"$(date -u -d "@$(now)" +%FT%TZ)\" |
	    .metadata.ownerReferences = [{apiVersion: \"batch/v1\", kind: \"CronJob\", name: \"$1\",
		uid: \"00000000-0000-4000-8000-000000000002\", controller: true}] | $(runs 20) | ${4:-.}" >/dev/null
}
k_namespace cron managed >/dev/null
from_cron allow Allow 2
from_cron replace Replace 2
from_cron forbid Forbid 5
passes 'a Job of a CronJob that allows several waits for clean hours' planned cron/allow-1
passes 'in them' is_from cron/allow-1 3 9
passes 'one that the next tick would replace, too' planned cron/replace-1
is_before() { # is_before NAME HOURS: a minute before the tick
	local tick
	tick=$(k_get "$(job "$1")" | jq -r '.metadata.annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"]')
	[ "$(date -d "$(note "$1" begin)" +%s)" -le $(($(date -d "$tick" +%s) + $2 * 3600 - 60)) ]
}
passes 'but not until then' is_before cron/replace-1 2
passes 'one that the next tick waits for waits as long as it may' planned cron/forbid-1
passes 'into clean hours' is_from cron/forbid-1 3 5
passes 'and no longer' is_before cron/forbid-1 5
k_faults '{"status": 403, "match": "cronjobs", "method": "GET", "count": 1}' >/dev/null
from_cron hidden Allow 2
passes 'one whose CronJob may not be read is not delayed' done_well cron/hidden-1
k_faults '{"reset": true, "method": "", "match": ""}' >/dev/null
for name in allow replace forbid; do k_delete "$(job cron/$name-1)"; done >/dev/null
k_job plain free "$(wishes carbon) | $(runs 20)" >/dev/null
passes 'in another namespace it runs' done_well plain/free

# More at once than may be told in a second
k_namespace crowd managed >/dev/null
k_jobs 60 crowd "$(wishes carbon 3600) | $(runs 5)" >/dev/null
are() { # are COUNT JQ: so many Jobs of the crowd are so
	[ "$(k_get "$K_JOBS/crowd/jobs" | jq "[.items[] | .metadata.annotations as \$of | select($2)] | length")" -eq "$1" ]
}
passes 'sixty Jobs at once are told' within 20 are 60 '$of["lowtide.dev/plan"]'
passes 'with what each asked for' are 60 '$of["lowtide.dev/quote"] | test(" ask=")'

# Newer figures; and what ended is charged once lowtide is there again
was=$(note team-a/waits plan)
l_day 5 9
l_restart
passes 'clean hours that come later are followed' k_wait 20 "$(job team-a/waits)" \
    ".metadata.annotations[\"lowtide.dev/plan\"] != $(jq -n --arg was "$was" '$was')"
passes 'by its begin too' is_from team-a/waits 5 9
is 'others stay as they are' '[{},{}]' "[$(k_get "$(job plain/free)" | of '.metadata.annotations | del(.["lowtide.dev/carbon-aware"])'),$(
	k_get "$(job team-a/queued)" | of '.metadata.annotations | del(.["lowtide.dev/user"])')]"
for name in plain chosen cheap; do
	passes "$name is charged for its seconds" within 40 is_owed team-a/$name
done
is 'what is not managed is not charged' 0 "$(lowtide report --json | jq '[.teams[] | select(.team == "plain")] | length')"

# Its hour
l_ahead 7
passes 'at its hour it is released' k_wait 10 "$(job team-a/waits)" '.spec.suspend == false'
is 'to the pool of its plan' "{\"lowtide.dev/pool\":\"$(note team-a/waits pool)\"}" \
    "$(k_get "$(job team-a/waits)" | of .spec.template.spec.nodeSelector)"
is 'with its own tolerations first, and those alone that the pool wants' \
    "$([ "$(note team-a/waits pool)" == spot ] && echo '["mine","lowtide.dev/spot"]' || echo '["mine"]')" \
    "$(k_get "$(job team-a/waits)" | of '[.spec.template.spec.tolerations[].key]')"
passes 'it runs' done_well team-a/waits
passes 'the bare pod, too' k_wait 10 "$(pod team-a/bare)" '.status.phase == "Succeeded"'
passes 'the one that is held waits' waits team-b/big
passes 'and that without a limit' waits team-a/endless
passes 'and what is Kueue'\''s' waits team-a/queued

# Nodes that are lost, pods that others end
k_job team-a lost "$(limit 60) | $(pool spot) | .spec.backoffLimit = 0 | $(runs 600)" >/dev/null
k_job team-a evicted "$(limit 60) | $(pool ondemand) | .spec.backoffLimit = 0 | $(runs 600)" >/dev/null
k_wait 10 "$(job team-a/lost)" '.status.ready == 1'
k_wait 10 "$(job team-a/evicted)" '.status.ready == 1'
sleep 1.1
k_delete "/api/v1/nodes/$(k_get "$(pods_of team-a/lost)" | jq -r '.items[0].spec.nodeName')" >/dev/null
evict team-a/evicted >/dev/null
passes 'a lost node ends a Job' k_wait 10 "$(job team-a/lost)" 'any(.status.conditions[]?; .type == "Failed")'

# More budget
l_policy "$(budgets 1000)"
passes 'with more budget the one that is held starts' done_well team-b/big 30
is 'it is held no more' '' "$(note team-b/big hold)"

# The same file, applied once more a second by a tool that knows no lowtide
k_job team-a umlauts ".metadata.annotations = {\"lowtide.dev/carbon-aware\": \"a$(printf 'ü%.0s' {1..60})\"} | $(limit 60) | $(runs 20)" >/dev/null
passes 'an annotation that is no wish, cut within a character, is told' within 10 told team-a/umlauts LowtidePlanned
synced() { # synced NAME JQ: until it has ended
	local until=$((SECONDS + 30))
	while [ $SECONDS -lt $until ]; do
		k_apply team-a "$1" "$2" >>"$work/$1.synced"
		PATIENCE=1 done_well "team-a/$1" 1 2>/dev/null && return 0
	done
	return 1
}
file="$(wishes cost 600) | .metadata.annotations[\"lowtide.dev/checkpoint\"] = \"size=60G\" | $(runs 30)"
passes 'one that is synced runs' synced without "$file"
is 'on the nodes that lowtide chose' spot "$(note team-a/without pool)"
is 'whose taint alone was added' '["lowtide.dev/spot"]' "$(k_get "$(job team-a/without)" | of '[.spec.template.spec.tolerations[].key]')"
file="$file | .spec.template.spec.tolerations = [{key: \"lowtide.dev/spot\", operator: \"Exists\"}]"
passes 'and one that has tolerations' synced with "$file"
is 'which stay as they are' '[{"key":"lowtide.dev/spot","operator":"Exists"}]' "$(k_get "$(job team-a/with)" | of .spec.template.spec.tolerations)"
is 'no sync was refused, nor changed anything' '["Job"]["Job"]' \
    "$(jq -sc '[.[].kind]' "$work/without.synced")$(jq -sc '[.[].kind]' "$work/with.synced")"

# The same by server-side apply
synced_there() { # synced_there NAME JQ: as synced
	local until=$((SECONDS + 30))
	while [ $SECONDS -lt $until ]; do
		k_apply_there team-a "$1" "$2" >>"$work/$1.synced"
		PATIENCE=1 done_well "team-a/$1" 1 2>/dev/null && return 0
	done
	return 1
}
# The codes of what was refused.
answers_to() { jq -sc '[.[] | .code // empty] | unique' "$work/$1.synced"; }
setters() { # who set this field last
	k_get "$(job "team-a/$1")" | jq -r "[.metadata.managedFields[] | select(.fieldsV1 | $2) | .manager] | join(\" \")"
}
has_run_once() { [ "$(k_get "$(pods_of "team-a/$1")" | jq '.items | length')" == 1 ]; }
file="$(wishes cost 600) | .metadata.annotations[\"lowtide.dev/checkpoint\"] = \"size=60G\" | $(runs 30)"
passes 'one that is applied by the server, again and again, runs' synced_there there "$file"
is 'no apply was refused' '[]' "$(answers_to there)"
is 'lowtide'\''s fields stay lowtide'\''s' 'lowtide lowtide lowtide lowtide' "$(setters there '."f:spec"["f:suspend"]') $(
	setters there '."f:spec"["f:template"]["f:spec"]["f:nodeSelector"]') $(
	setters there '."f:spec"["f:template"]["f:spec"]["f:tolerations"]') $(
	setters there '."f:metadata"["f:annotations"]["f:lowtide.dev/quote"]')"
passes 'and it ran once' has_run_once there
is 'where lowtide chose' spot "$(k_get "$(pods_of team-a/there)" | jq -r '.items[].spec.nodeName | sub("-.*"; "")')"
K_FORCE=true passes 'by a tool that forces it, too' synced_there forced "$file"
is 'it is refused nothing' '[]' "$(answers_to forced)"
passes 'and undoes nothing' has_run_once forced
file="$file | .spec.suspend = true | .metadata.annotations[\"lowtide.dev/pause\"] = \"false\""
passes 'a file that is suspended, and says that lowtide lets it go' synced_there older "$file"
is 'is told whose that is once it runs' '[409]' "$(answers_to older)"
is 'by its field' '[".spec.suspend"]' \
    "$(jq -sc '[.[] | .details.causes[]?.field] | unique' "$work/older.synced")"
passes 'and not stopped' has_run_once older
file="$(wishes cost 600) | .metadata.annotations[\"lowtide.dev/checkpoint\"] = \"size=60G\" | $(runs 30) |
    .spec.template.spec.tolerations = [{key: \"mine\", operator: \"Exists\"}]"
passes 'one that has other tolerations' synced_there others "$file"
is 'is told of these' '[".spec.template.spec.tolerations"]' \
    "$(jq -sc '[.[] | .details.causes[]?.field] | unique' "$work/others.synced")"
passes 'and runs once' has_run_once others

# What its user stops
paused='lowtide.dev/pause=false'
has_pods() { k_wait 10 "$(job "$1")" '.status.ready == 1'; }
stop() { k_patch "$(job "$1")" merge '{"spec": {"suspend": true}}' >/dev/null; }
let_go() { k_patch "$(job "$1")" merge '{"metadata": {"annotations": {"lowtide.dev/pause": "false"}}}' >/dev/null; }
k_job team-a stopped "$(limit 36000) | $(runs 6000)" >/dev/null
k_job team-a own "$(limit 60) | .spec.suspend = true | $(runs 20)" >/dev/null
passes 'one runs' has_pods team-a/stopped
is 'and says since when lowtide let it' true "$([ "$(date -d "$(note team-a/stopped started)" +%s)" -ge $(($(now) - 60)) ] && echo true)"
sleep 1.1
stop team-a/stopped
passes 'its user stops it' k_wait 10 "$(job team-a/stopped)" '.status.active == null'
told_paused() { note "$1" plan | grep -q "suspended by its user.*$paused"; }
passes 'and is told what lets it go on' within 10 told_paused team-a/stopped
passes 'so is who created one suspended' within 10 told_paused team-a/own
l_restart
sleep 2
is 'a release lets go neither' '0 released, 0 failed' "$(l_kube release --overdue 2>"$work/out")"
is 'nor with --all, which says why' "$(printf 'job team-a/%s: left to %s\n' own 'its user' queued Kueue stopped 'its user')" \
    "$(l_kube release --overdue --all --dry-run 2>"$work/out" | grep 'left to' | sort)"
is 'nor does lowtide, started anew' '[true,true]' "[$(k_get "$(job team-a/stopped)" | of .spec.suspend),$(k_get "$(job team-a/own)" | of .spec.suspend)]"
doctor() { KUBECONFIG=$work/kubeconfig lowtide doctor --config "$work/policy.yaml" 2>&1; }
is 'doctor names them' "$(printf '%s\n' '3 Jobs wait for somebody else' 'team-a/own (its user)' 'team-a/queued (Kueue)' 'team-a/stopped (its user)')" \
    "$(doctor | grep -o '[0-9]* Jobs wait for somebody else.*' | sed 's/: /\n/; s/, /\n/g' | sort)"
is 'and finds all else held' '' "$(doctor | grep 'no open hold')"
ledger() { sqlite3 -cmd '.timeout 5000' "$L/state/ledger.db" "UPDATE holds SET state = $1 WHERE job_id = $(id_of team-a/endless)"; }
lost() { # lowtide opens it again when it looks at the Job
	ledger 2
	doctor | grep -q '1 suspended Job of the API server has no open hold here: team-a/endless'
}
passes 'one whose hold is lost it names' within 20 lost
ledger 0
let_go team-a/own
passes 'the word of its user lets one start' done_well team-a/own
let_go team-a/stopped
passes 'and another go on' has_pods team-a/stopped
is 'once: the word is used up' '' "$(note team-a/stopped pause)"
sleep 1.1
stop team-a/stopped
passes 'stopped again' k_wait 10 "$(job team-a/stopped)" '.status.active == null'
sleep 2
passes 'it stays so' waits team-a/stopped
k_delete "$(job team-a/stopped)" >/dev/null

# Without lowtide
l_day 3 9
l_restart
k_job team-a over "$(wishes carbon 3600) | $big | $(runs 20)" >/dev/null
k_job team-b more "$(limit 6000) | $(runs 20)" >/dev/null
planned team-a/over
k_wait 10 "$(job team-b/more)" '.metadata.annotations["lowtide.dev/hold"] == "budget"'
l_end KILL
l_ahead 14
before=$(k_get "$(job team-a/over)")
is 'lowtide-kube release says what is overdue' $'job team-a/over\n0 released, 0 failed' "$(l_kube release --overdue --dry-run 2>"$work/out")"
is 'and leaves it with --dry-run' "$before" "$(k_get "$(job team-a/over)")"
is 'without, it is let go' $'job team-a/over\n1 released, 0 failed' "$(l_kube release --overdue 2>"$work/out")"
passes 'and runs' done_well team-a/over
passes 'what waits for budget stays' waits team-b/more
is 'there is nothing more' '0 released, 0 failed' "$(l_kube release --overdue 2>"$work/out")"
passes 'with --all it goes, too' l_kube release --overdue --all
passes 'beyond the budget too' done_well team-b/more
passes 'and without a limit' done_well team-a/endless
passes 'but nothing that others start' waits team-a/queued

# The report
l_up
for name in team-a/waits team-a/lost team-b/big team-a/over team-b/more; do
	passes "$name is charged for its seconds" within 40 is_owed $name
done
is 'as is the pod' "$(k_get $K_CORE/team-a/pods | jq -c '.items |= map(select(.metadata.name == "bare"))' | jq "$OWED")" \
    "$(charged team-a/bare)"
is 'a node that is lost is told from a failure' '["NODE_FAIL"]' "$(runs_of team-a/lost | of '[.[].state]')"
is 'and an eviction' '["PREEMPTED"]' "$(runs_of team-a/evicted | of '[.[].state]')"
is 'the teams add up' "$(for name in plain chosen cheap waits bare lost evicted over endless stopped own backup umlauts without with there forced older others; do charged team-a/$name; done | jq -s add)" \
    "$(lowtide report --json | jq '.teams[] | select(.team == "team-a") | .charges_micros')"
is 'in CSV as well' "$(lowtide report --json --runs | jq '[.runs[].money_micros] | add / 1e6')" \
    "$(lowtide report --format csv --runs | tr -d '\r' | awk -F, -v OFMT=%.9g 'NR == 1 { while ($++i != "cost"); next } { sum += $i } END { print sum }')"

# Where it only observes, on a cluster of its own
l_end
k_down
rm -rf "$L/state/"* "$L/run/"*
l_ahead 0
k_up "$work/observed" --speed 10
k_namespace team-a managed >/dev/null
l_day 3 9
L_MODE=observe l_policy "$(budgets 10)"
l_up
k_job team-a seen "$(wishes carbon) | $(runs 20)" >/dev/null
k_pod team-a bare "$(limit 60)" >/dev/null
k_job team-a own "$(limit 60) | .spec.suspend = true" >/dev/null
k_job team-a stopped "$(limit 36000) | $(runs 6000)" >/dev/null
passes 'in observe a Job runs at once' done_well team-a/seen
passes 'a pod as well' k_wait 10 "$(pod team-a/bare)" '.status.phase == "Succeeded"'
passes 'what lowtide would do is written' planned team-a/seen
passes 'and of one that its user suspended' planned team-a/own
passes 'which stays so' waits team-a/own
has_pods team-a/stopped
stop team-a/stopped
passes 'that one ran is written on it once it waits' k_wait 10 "$(job team-a/stopped)" '.metadata.annotations["lowtide.dev/started"] != null'
is 'nothing is placed' '[null,null,[]]' "$(k_get "$(job team-a/seen)" | of '.spec.template |
    [.spec.nodeSelector, .spec.tolerations, [.metadata.annotations | keys[] | select(startswith("lowtide"))]]')"
l_restart
passes 'it is charged' within 40 is_owed team-a/seen
the_end
