#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What lowtide, the command, does where lowtide-kube answers: explain and now by
# name, status, the plan of a manifest, doctor. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
K_SERVER=$build/tests/kube/server
# shellcheck source=tests/kube/kube.sh
. "$top/tests/kube/kube.sh"
work=$(mktemp -d)
daemon=
trap 'stop; k_down; rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC LOWTIDE_NAMESPACE=lowtide LOWTIDE_RUN_DIR=$work/run
unset LOWTIDE_SERVER LOWTIDE_CONFIG LOWTIDE_STATE_DIR LOWTIDE_POOL_LABEL \
    LOWTIDE_TEAM_LABEL KUBECONFIG KUBERNETES_SERVICE_HOST
export SLURM_CONF=$work/none
n=0 bad=0
is() { # is NAME WANT GOT
	n=$((n + 1))
	if [ "$2" == "$3" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		printf 'not ok %d - %s\n# want %s\n# got  %s\n' "$n" "$1" "$2" "${3//$'\n'/$'\n# '}"
	fi
}
says() { # says NAME PATTERN TEXT: a line of it matches
	is "$1" "$2" "$(grep -qE -- "$2" <<<"$3" && echo "$2" || echo "$3")"
}
lowtide() { timeout 60 "$build/lowtide" "$@" 2>&1; }
start() {
	KUBECONFIG=$work/kube/kubeconfig "$build/lowtide-kube" --config "$work/policy.yaml" \
	    --state "$work/state" --run "$work/run" >>"$work/log" 2>&1 3>&- &
	daemon=$!
	for _ in {1..200}; do
		lowtide status --json 2>/dev/null | jq -e '.budget.ready' >/dev/null 2>&1 && return
		sleep 0.1
	done
	cat "$work/log" >&2
}
stop() {
	[ -z "$daemon" ] || { kill "$daemon"; wait "$daemon"; } 2>/dev/null
	daemon=
}
until_says() { # until_says PATTERN COMMAND...: prints what it said last
	local text
	for _ in {1..100}; do
		text=$("${@:2}")
		grep -qE -- "$1" <<<"$text" && break
		sleep 0.1
	done
	printf '%s\n' "$text"
}

cat >"$work/policy.yaml" <<'E'
mode: enforce
currency: USD
timezone: UTC
on_unknown: allow
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 12.4}
  spott: {carbon: grid, price_per_node_hour: 0.8}
budgets:
  - {team: team-a, period: month, amount: 5000, on_exceed: reject}
  - {team: team-b, period: month, amount: 0.01, on_exceed: hold}
  - {team: vision, period: month, amount: 1, on_exceed: reject}
E
k_up "$work/kube" --speed 10 --mutate --validate || exit 1
k_namespace team-a managed >/dev/null
k_namespace team-b managed >/dev/null
k_namespace plain >/dev/null
mkdir -m 700 "$work/state" "$work/run"
start
k_job team-a train '.spec.activeDeadlineSeconds = 3600 |
    .metadata.annotations["lowtide.dev/carbon-aware"] = "cost"' >/dev/null
k_job team-b waits '.spec.activeDeadlineSeconds = 3600' >/dev/null

# By name, by number, by neither
story=$(until_says '^Hold' lowtide explain team-a/train)
says 'explain by name' '^Job [0-9]+ \(team-a/train\)' "$story"
says 'the story is of its decision' '^Decided by objective cost in mode enforce' "$story"
number=$(sed -nE '1s/^Job ([0-9]+) .*/\1/p' <<<"$story")
says 'explain by the number in reports' "^Job $number\$" "$(lowtide explain "$number" | sed -E '1s/:.*//')"
is 'a name that is not there' 'lowtide: job: no Job or pod team-a/trane is known' "$(lowtide explain team-a/trane)"
says 'neither name nor number' 'got "train", want a job id .*NAMESPACE/NAME' "$(lowtide explain train)"
says 'no name at all' 'got "a/b/c/d", want' "$(lowtide explain a/b/c/d)"
held=$(until_says 'Held back' lowtide explain team-b/waits)
says 'what waits for budget says so' 'Held back: the budget of team-b' "$held"
says 'now by name' 'job [0-9]+: lowtide does not delay it' "$(lowtide now team-b/waits)"
is 'now of several: one that is not there stops no other' '1 1' "$(
    said=$(lowtide now team-b/waits team-a/trane)
    echo "$(grep -c 'lowtide does not delay it' <<<"$said") $(grep -c 'team-a/trane is known' <<<"$said")")"
jobs=$(lowtide jobs --json)
is 'jobs has what waits, by its number' "[\"$(lowtide explain team-b/waits --json | jq .job_id)\",\"PENDING\"]" \
    "$(jq -c '.jobs[] | select(.name == "waits") | [.id, .state]' <<<"$jobs")"
is 'and the plan that explain tells' "$(lowtide explain team-b/waits --json | jq -c '.quote | [.plan_start, .plan_expected]')" \
    "$(jq -c '.jobs[] | select(.name == "waits") | [.plan.start, .expected]' <<<"$jobs")"
says 'watch by name' "^[A-Za-z]+ [0-9:]+ [A-Z]+  $number  [A-Z]+" "$(timeout 5 "$build/lowtide" watch team-a/train 2>&1)"
is 'watch of a name that is not there' 'lowtide: job: no Job or pod team-a/trane is known' "$(lowtide watch team-a/trane)"

# status
status=$(until_says '1 Job waits' lowtide status)
says 'status names the daemon' '^daemon     lowtide-kube ' "$status"
says 'status names the system' '^kubernetes v1\.[0-9.]+, 1 Job waits, 1 of them for budget$' "$status"
is 'nothing of Slurm is in it' '' "$(grep -iE 'slurm|sbatch' <<<"$status")"
is 'for programs too' '["kubernetes","lowtide-kube",["ondemand","spot"],1]' \
    "$(lowtide status --json | jq -c '[.system, .program, .kubernetes.pools, .kubernetes.waiting_for_budget]')"

# The plan of a manifest
cat >"$work/job.yaml" <<'E'
apiVersion: batch/v1
kind: Job
metadata:
  name: big
  namespace: team-a
  annotations:
    lowtide.dev/carbon-aware: cost
    lowtide.dev/quote: "forged"
spec:
  activeDeadlineSeconds: 7200
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: played
          resources: {requests: {cpu: 2, memory: 4Gi}}
E
plan() { sed "${1-}" "$work/job.yaml" | lowtide plan -f - "${@:2}"; }
out=$(plan)
says 'the table' '^\* ondemand  +now ' "$out"
says 'what it may cost, and what is left' \
    '^It may cost at most \$0\.[0-9]+, .* CO2e; team-a has \$4,999\.[0-9]+ available\.$' "$out"
says 'it was a plan' '^This was a plan: nothing was created\.$' "$out"
is 'asked again it is the same: nothing is held for it' "$(grep available <<<"$out")" "$(plan | grep available)"
is 'and nothing is known of it' 'lowtide: job: no Job or pod team-a/big is known' "$(lowtide explain team-a/big)"
# Figures of a start now change by the second: all three are of one.
as_yaml() { plan '' --json | jq -cS 'del(.text, .plan, .home)'; }
as_json() { jq -n '{apiVersion: "batch/v1", kind: "Job", metadata: {name: "big", namespace: "team-a",
    annotations: {"lowtide.dev/carbon-aware": "cost"}}, spec: {activeDeadlineSeconds: 7200, parallelism: 2,
    template: {spec: {containers: [{resources: {requests: {cpu: "2", memory: "4Gi"}}}]}}}}' |
	lowtide plan --json -f - | jq -cS 'del(.text, .plan, .home)'; }
for _ in {1..20}; do
	before=$(as_yaml) from_json=$(as_json) after=$(as_yaml)
	[ "$before" != "$after" ] || break
done
is 'JSON in, the same out' "$before" "$from_json"
is 'for programs' '["team-a/big","team-a","cost","ondemand",true,false]' \
    "$(plan '' --json | jq -c '[.name, .team, .objective, .plan.partition, .asked, .waits_for_budget]')"
says 'who does not ask is told' '^Without lowtide.dev/carbon-aware it starts as soon' "$(plan /carbon-aware/d)"
says 'without a limit' '^It would wait: without activeDeadlineSeconds nobody knows what it may cost at most\.$' "$(plan /activeDead/d)"
says 'beyond what is left' 'team-b has \$0\.[0-9]+: it would wait for budget' "$(plan '/namespace/d' -n team-b)"
says 'a namespace that takes no part' '^lowtide leaves it alone: namespace plain' "$(plan /namespace/d -n plain)"
says 'two namespaces' '-n: got "plain", but' "$(plan '' -n plain)"
k_get "$K_JOBS/team-a/jobs/train" >"$work/train.json"
says 'one that is there, as kubectl get prints it' '^plan: cost' "$(lowtide plan -f "$work/train.json")"
is 'another kind' 'lowtide: kind: got "CronJob", want Job or Pod' "$(plan s/Job/CronJob/)"
is 'a text that YAML takes for something else' \
    'lowtide: annotation lowtide.dev/carbon-aware: got true, want a text: in quotes' "$(plan 's/: cost/: yes/')"
says 'a wish that is none' 'carbon-aware: got "cheap", want balanced' "$(plan 's/: cost/: cheap/')"
says 'no YAML' '^lowtide: standard input:19:1: YAML: ' "$(plan '$s/.*/      [a/')"
says 'wrong usage' 'want -f FILE' "$(lowtide plan -n team-a)"

# doctor
policies() { # policies VERSION: those of its manifests are in the cluster
	local line path
	lowtide kube manifest --kubernetes-version "$1" | "$build/tests/tools/manifest_json" |
	    jq -c 'select(.kind | test("AdmissionPolicy"))' >"$work/policies"
	while read -r line; do
		path=$(jq -r '"/apis/admissionregistration.k8s.io/v1/" +
		    (.kind | ascii_downcase | sub("policy$"; "policies") | sub("binding$"; "bindings"))' <<<"$line")
		k_post "$path" <<<"$line" >/dev/null
	done <"$work/policies"
}
on_policy() { # on_policy NAME JSON: a merge patch of a policy that validates
	k_patch "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/$1" merge "$2" >/dev/null
}
export KUBECONFIG=$work/kube/kubeconfig
out=$(lowtide doctor)
is 'doctor fails where no policy is in enforce' 1 $?
says 'and names it' '^error +policies +ValidatingAdmissionPolicy/lowtide-budget is not in the cluster$' "$out"
is 'each of them' 18 "$(grep -c 'lowtide-[a-z-]* is not in the cluster$' <<<"$out")"
policies 1.36
is 'as many as there are' 18 "$(wc -l <"$work/policies")"
on_policy lowtide-guard '{"spec":{"matchConstraints":{"matchPolicy":"Equivalent","objectSelector":{}}}}'
out=$(lowtide doctor)
is 'doctor finds no error' 0 $?
on_policy lowtide-budget '{"spec":{"matchConditions":[{"name":"never","expression":"false"}]}}'
says 'one that was changed' \
    '^error +policies +ValidatingAdmissionPolicy/lowtide-budget is not as lowtide .* has it: matchConditions differs$' "$(lowtide doctor)"
k_delete /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/lowtide-budget >/dev/null
policies 1.36
on_policy lowtide-budget '{"spec":{"validations":[]}}'
says 'one that refuses nothing' 'lowtide-budget is not as lowtide .* has it: validations differs$' "$(lowtide doctor)"
k_delete /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/lowtide-budget >/dev/null
policies 1.36
k_faults '{"status":403,"match":"admissionregistration","count":1}' >/dev/null
says 'no right to read them' '^warning +policies +the admission policies can.t be compared: ' "$(lowtide doctor)"
k_faults '{"reset":true}' >/dev/null
is 'kinds that are none' 2 "$("$build/lowtide-kube" policies Job/x 2>"$work/out"; echo $?)"
says 'the daemon' '^ok +lowtide-kube ' "$out"
says 'a pool that is not there, and the nearest' 'partition spott: no node' "$out"
says 'what was meant' 'did you mean spot\?' "$out"
says 'a pool without a price' '^note +pools +pool spot has no price' "$out"
says 'a budget without a namespace' 'budget of vision: no namespace' "$out"
says 'the watcher' '^ok +watcher ' "$out"
says 'the balances' '^ok +balances +ConfigMap lowtide-balances was written' "$out"
says 'the policies' '^ok +policies +the admission policies are in the cluster, as lowtide' "$out"
says 'who waits' '^note +waiting +1 Job waits for lowtide, 1 of them for budget' "$out"
says 'the line that releases all' 'kubectl -n lowtide create job --from=cronjob/lowtide-release .*"--all"' "$out"
is 'nothing of Slurm is in it' '' "$(grep -iE 'slurm|munge|plugstack' <<<"$out")"
k_faults '{"status":403,"count":1000}' >/dev/null
k_faults '{"cut_streams":5}' >/dev/null
says 'the watcher fails' '^warning watcher +.* ago: ' "$(until_says '^warning watcher' lowtide doctor)"
k_faults '{"reset":true}' >/dev/null
stop
out=$(KUBERNETES_SERVICE_HOST=10.0.0.1 lowtide doctor)
is 'without lowtide-kube it fails' 1 $?
says 'it does not answer' '^error +lowtide-kube no socket .*/lowtided.sock here$' "$out"
says 'and the line is there' 'create job --from=cronjob/lowtide-release' "$out"

# What that line runs
"$build/lowtide-kube" release --overdue >"$work/out" 2>&1
is 'what waits for budget stays' '0 released, 0 failed' "$(cat "$work/out")"
"$build/lowtide-kube" release --overdue --all >"$work/out" 2>&1
is 'all that waits is let go' 'job team-b/waits 1 released, 0 failed' "$(grep -v event= "$work/out" | xargs)"

# A first policy, of what the nodes say
for i in 1 2; do
	k_patch "/api/v1/nodes/spot-$i" merge '{"metadata":{"labels":{
	    "topology.kubernetes.io/region":"eu-west-2","topology.kubernetes.io/zone":"eu-west-2a",
	    "node.kubernetes.io/instance-type":"p4d.24xlarge"}},
	    "spec":{"providerID":"aws:///eu-west-2a/i-0abc"}}' >/dev/null
done
init() { LOWTIDED=$build/lowtide-kube lowtide init --output -; }
out=$(init)
is 'init writes a policy' 0 $?
says 'of the pools, and where their nodes are' '^  spot: # 2 nodes, instance-type=p4d.24xlarge,zone=eu-west-2a,spot$' "$out"
says 'whose prices are listed' '^  price-spot: \{adapter: skypilot_catalog, cloud: aws, region: eu-west-2, instance_type: p4d.24xlarge, capacity: spot\}$' "$out"
says 'what the cloud takes back is preemptible' '^    preemptible: \{interruptions_per_hour: rate-spot, ' "$out"
says 'with the grid of the region' 'eu-west-2' "$out"
says 'and a budget of a namespace' '#  - \{team: team-' "$out"

# Pools of several machines, or sold in several ways
k_patch /api/v1/nodes/spot-2 merge '{"metadata":{"labels":{"node.kubernetes.io/instance-type":"m5.large"}}}' >/dev/null
k_patch /api/v1/nodes/ondemand-2 merge '{"metadata":{"labels":{"karpenter.sh/capacity-type":"spot"}}}' >/dev/null
out=$(init)
is 'init writes one of pools that have parts' 0 $?
says 'by their machines' '^  "spot/p4d.24xlarge": # 1 node, instance-type=p4d.24xlarge,' "$out"
says 'each' '^  "spot/m5.large": # 1 node, instance-type=m5.large,' "$out"
says 'with a price of each' '^    price_per_node_hour: price-spot/m5.large$' "$out"
says 'which is listed' '^  price-spot/m5.large: .* instance_type: m5.large, capacity: spot\}$' "$out"
says 'and by how they are sold' '^  "ondemand/on-demand": # 1 node' "$out"
says 'each' '^  "ondemand/spot": # 1 node' "$out"
is 'and not the pools' 0 "$(grep -cE '^  (spot|ondemand):' <<<"$out")"
echo "1..$n"
[ $bad -eq 0 ] || { sed 's/^/# /' "$work/log" | tail -n 20; false; }
