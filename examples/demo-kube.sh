#!/bin/bash
# The story of lowtide on a played Kubernetes cluster: an API server of the
# tests with four nodes, lowtide-kube, ten Jobs and what becomes of them. No
# cluster, no network and no root are needed. Stops what it started.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-demo.XXXXXX")
# shellcheck source=tests/kube/kube.sh
. "$top/tests/kube/kube.sh"
export LOWTIDE_RUN_DIR=$D/run
PATH=$top/build:$PATH
pid=

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'
else bold='' dim='' off=''; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$off"; }
see() { printf '%s# %s%s\n' "$dim" "$*" "$off"; }
run() {
	printf '$ %s\n' "$*"
	"$@"
}
within() { # within SECONDS WHAT COMMAND...
	local until=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || { echo "demo: $what did not happen" >&2; return 1; }
		sleep .2
	done
}
stop() {
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || true
	pid=
}
finish() {
	local status=$?
	if [ $status -ne 0 ]; then
		echo "demo: failed; what lowtide-kube said last:" >&2
		tail -n 20 "$D/log" >&2 2>/dev/null || true
	fi
	stop
	k_down || true
	rm -rf "$D"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

# submit TEAM NAME CPUS GPUS SECONDS [ANNOTATIONS]: as kubectl create would.
submit() {
	local said
	printf '$ kubectl -n %s create -f %s.yaml   # %s CPUs, %s GPUs, at most %s s%s\n' "$1" "$2" "$3" "$4" "$5" "${6:+, $6}"
	said=$(k_job "$1" "$2" ".spec.activeDeadlineSeconds = $5 | .metadata.annotations = {${6-}} |
	    .spec.template.spec.containers[0].resources = {requests: {cpu: \"$3\", memory: \"4Gi\"$(gpus "$4")},
		limits: {cpu: \"$3\", memory: \"4Gi\"$(gpus "$4")}} |
	    .spec.template.metadata.annotations[\"test/run-seconds\"] = \"80\"")
	jq -r 'if .kind == "Status" then "Error from server (Forbidden): " + .message
	    else "job.batch/" + .metadata.name + " created" end' <<<"$said"
}
gpus() { [ "$1" -eq 0 ] || echo ", \"nvidia.com/gpu\": \"$1\""; }
jobs() { k_get /apis/batch/v1/jobs; }
has_plans() { [ "$(jobs | jq '[.items[].metadata.annotations["lowtide.dev/plan"] | select(.)] | length')" -ge "$1" ]; }
ended() { [ "$(jobs | jq '[.items[] | select(.status.completionTime)] | length')" -ge "$1" ]; }
runs_are() { [ "$(lowtide report --format json --runs | jq '.runs | length')" -ge "$1" ]; }
table() {
	jobs | jq -r '"NAMESPACE\tNAME\tWAITS\tPLAN", (.items[] | [.metadata.namespace, .metadata.name,
	    (if .spec.suspend then "yes" else "no" end), .metadata.annotations["lowtide.dev/plan"]] | @tsv)' | column -t -s $'\t'
}

step "A played Kubernetes API server and lowtide-kube, in $D"
k_up "$D/kube" --speed 10 --mutate --validate
mkdir -p "$D/state" "$D/run" "$D/etc"
cp -r "$top/examples/signals" "$D/etc/signals"
# Of a grid where it is night now, so that there is something to wait for.
zone=california
case $(date -u +%H) in 0[4-9] | 1[0-9] | 20) zone=south-australia ;; esac
sed "s|@SIGNALS@|$D/etc/signals|; s|@ZONE@|$zone|" >"$D/policy.yaml" <<'TEXT'
mode: enforce
currency: USD
timezone: UTC
carbon_price_per_tonne: 100
max_delay: 24h
stale_after: 3h
sources:
  grid: {adapter: replay, quantity: carbon, path: @SIGNALS@/carbon-@ZONE@.csv, value: g_co2e_per_kwh}
partitions: # by the label lowtide.dev/pool of the nodes: p4d.24xlarge
  ondemand: {carbon: grid, price_per_node_hour: 21.96, gpu: A100-SXM4-40GB, pue: 1.135}
  spot: {carbon: grid, price_per_node_hour: 8.78, gpu: A100-SXM4-40GB, pue: 1.135,
    preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: month, amount: 5000}
  - {team: nlp, period: month, amount: 100}
TEXT
for team in vision nlp; do k_namespace $team managed >/dev/null; done
start() {
	KUBECONFIG=$D/kube/kubeconfig "$top/build/lowtide-kube" --config "$D/policy.yaml" \
	    --state "$D/state" --run "$D/run" --log "$D/log" >/dev/null 2>&1 &
	pid=$!
	within 30 'an answer of lowtide-kube' lowtide status
}
start
see "Namespaces vision and nlp have lowtide.dev/managed: \"true\"; what is created there is suspended."
run lowtide status
balances() { k_get $K_CORE/lowtide/configmaps/lowtide-balances | jq -e '.data["nlp.available"]'; }
within 20 'balances for admission' balances

step "Ten Jobs"
submit vision plain 4 1 600
submit vision fast 4 1 600 '"lowtide.dev/carbon-aware": "fast"'
submit vision train 32 8 28800 '"lowtide.dev/carbon-aware": "cost", "lowtide.dev/checkpoint": "write=30s"'
submit vision clean 16 4 14400 '"lowtide.dev/carbon-aware": "carbon"'
submit vision balanced 8 2 14400 '"lowtide.dev/carbon-aware": "balanced"'
submit vision soon 8 2 3600 '"lowtide.dev/carbon-aware": "carbon", "lowtide.dev/deadline": "4h"'
submit nlp prep 8 0 600
submit nlp tune 4 1 3600 '"lowtide.dev/carbon-aware": "cost", "lowtide.dev/checkpoint": "write=30s"'
submit nlp eval 4 1 1800 '"lowtide.dev/carbon-aware": ""'
submit nlp huge 64 8 172800
see "The last one is refused by the API server itself: by the policy lowtide-budget, from what lowtide-kube wrote there."

step "Their plans, as lowtide-kube has written them on the Jobs"
within 30 'nine plans' has_plans 9
table
see "What waits is suspended; at its hour one patch lets it go, with the selector of the pool."

step "What the user of clean is told"
k_get $K_CORE/vision/events | jq -r '.items[] | select(.involvedObject.name == "clean") |
    [.type, .reason, .source.component, .message] | @tsv' | column -t -s $'\t'

step "Those that did not wait have run"
within 40 'the end of three Jobs' ended 3
k_get /api/v1/pods | jq -r '"POD\tNODE\tPHASE", (.items[] | [.metadata.name, .spec.nodeName, .status.phase] | @tsv)' | column -t -s $'\t'

step "lowtide-kube is killed, and comes again: what ran is charged, once"
{ kill -9 "$pid"; wait "$pid"; } 2>/dev/null || true
start
within 60 'charges' runs_are 3

step "What finance reads"
run lowtide budget
run lowtide report
see "Pods are charged from start to end, by their part of the node. The hold of what waits is HELD."
