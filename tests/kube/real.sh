#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make kube KUBECONFIG=FILE: the story of a Job on the cluster that it names, in a
# namespace lowtide-test-XXXXX of its own, and a second one where lowtide writes
# balances, by a lowtide-kube beside this script. Wants kubectl and a right to
# make namespaces. Its Jobs ask for a tenth of a CPU and sleep. Removes what it
# made.
#
#   POOL=NAME   the node pool, by the label POOL_LABEL (lowtide.dev/pool); else
#               the first one
#   IMAGE=...   of the Jobs (busybox)
#   KILLS=50    how often lowtide-kube is killed
#   POLICIES=1  try lowtide's admission policies, too: those of `lowtide kube
#               manifest`, which are not the namespace's but the cluster's. Not
#               where they are already, and only on a cluster for tests: after
#               it kube-apiserver must be restarted before they come again
#               (docs/kubernetes.md, kubernetes#130887)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
image=${IMAGE:-busybox}
label=${POOL_LABEL:-lowtide.dev/pool}
command -v kubectl >/dev/null || { echo 'make kube: wants kubectl' >&2; exit 2; }
kubectl version >/dev/null || exit 1
work=$(mktemp -d)
space=lowtide-test-$(head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n' | head -c 5)
pid= n=0 bad=0 applied=
finish() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	[ -z "$applied" ] || kubectl delete -f "$work/policies.yaml" --ignore-not-found --wait=false >/dev/null
	kubectl delete namespace "$space" "$space-own" --ignore-not-found --wait=false >/dev/null
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
k() { kubectl -n "$space" "$@"; }
is() { # is NAME WANT GOT
	n=$((n + 1))
	if [ "$2" == "$3" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		printf 'not ok %d - %s\n# want %s\n# got  %s\n' "$n" "$1" "$2" "$3"
	fi
}
within() {
	local until=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.2
	done
}
passes() {
	local name=$1
	shift
	"$@" >"$work/out" 2>&1
	local status=$?
	is "$name" 0 $status
	[ $status -eq 0 ] || { cat "$work/out"; tail -n 8 "$work/log"; } | sed 's/^/# /'
}
lowtide() { LOWTIDE_RUN_DIR=$work/run "$build/lowtide" "$@"; }
start() {
	LOWTIDE_NAMESPACE=$space-own LOWTIDE_POOL_LABEL=$label "$build/lowtide-kube" --config "$work/policy.yaml" \
	    --state "$work/state" --run "$work/run" --log "$work/log" >/dev/null 2>"$work/err" &
	pid=$!
}
end() {
	kill "-${1:-TERM}" "$pid"
	wait "$pid" 2>/dev/null
	pid=
}
restart() {
	end
	start
	within 60 lowtide status
}
# Hours in minutes: dirty until this second from now on, clean after it.
day() {
	local at
	at=$(date +%s)
	printf 'time,g\n%d,9900\n%d,10\n%d,10\n' $((at - 3600)) $((at + $1)) $((at + 172800)) >"$work/day.csv"
}
policy() { # policy AMOUNT
	cat >"$work/policy.next" <<-TEXT
		mode: enforce
		currency: USD
		timezone: UTC
		sources:
		  day: {adapter: file, quantity: carbon, path: $work/day.csv, value: g}
		partitions:
		  $pool: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600, gpu: A100-SXM4-40GB}
		budgets:
		  - {team: $space, period: month, amount: $1, on_exceed: ${2:-hold}}
	TEXT
	mv "$work/policy.next" "$work/policy.yaml"
}
job() { # job NAME SECONDS [CARBON-AWARE [LIMIT]]
	k create -f - <<-TEXT
		apiVersion: batch/v1
		kind: Job
		metadata:
		  name: $1
		  annotations: {${3:+lowtide.dev/carbon-aware: "$3"}}
		spec:
		  suspend: true
		  activeDeadlineSeconds: ${4:-600}
		  template:
		    metadata: {annotations: {test/run-seconds: "$2"}}
		    spec:
		      restartPolicy: Never
		      tolerations: [{key: mine, operator: Exists}]
		      containers:
		      - {name: main, image: $image, command: [sleep, "$2"],
		         resources: {requests: {cpu: 100m, memory: 16Mi}}}
	TEXT
}
note() { k get job "$1" -o json | jq -r ".metadata.annotations[\"lowtide.dev/$2\"] // \"\""; }
has_note() { [ -n "$(note "$1" "$2")" ]; }
of() { k get job "$1" -o json | jq -c "$2"; }
is_so() { [ "$(of "$1" "$2")" == true ]; }
reasons() { k get events -o json | jq -r ".items[] | select(.involvedObject.name == \"$1\") | .reason"; }
told() { reasons "$1" | grep -q "^$2\$"; }
# Micros, of the pods that there are: one USD for a second of a node of the pool,
# nothing for others, which have no price; a pod's part of it is by what its CPUs
# and GiB are worth, (2a) of docs/model.md.
owed() {
	jq -s --arg key "$label" --arg pool "$pool" 'def cpus: if endswith("m") then rtrimstr("m") | tonumber / 1000 else tonumber end;
	    def kib: capture("^(?<n>[0-9]+)(?<unit>[KMG]i)?$") | (.n | tonumber) *
		({Ki: 1, Mi: 1024, Gi: 1048576}[.unit // ""] // (1 / 1024));
	    def worth: 0.031611 * (.cpu | cpus) + 0.004237 * (.memory | kib) / 1048576 +
		0.95 * ([to_entries[] | select(.key | endswith("/gpu")) | .value | tonumber] | add // 0);
	    def at: fromdateiso8601;
	    (.[0].items | map(select(.metadata.labels[$key] == $pool) | {key: .metadata.name, value: (.status.allocatable | worth)}) | from_entries) as $node |
	    [.[1].items[] | select(.status.containerStatuses[0].state.terminated and $node[.spec.nodeName]) |
		((.status.containerStatuses[0].state.terminated.finishedAt | at) - (.status.startTime | at)) * 1000000 *
		(.spec.containers[0].resources.requests | worth) / $node[.spec.nodeName] | round] | add // 0' \
	    <(kubectl get nodes -o json) <(k get pods -o json)
}
charged() { lowtide report --json --runs | jq "[.runs[] | select(.account == \"$space\") | .money_micros] | add // 0"; }
runs() { lowtide report --json --runs | jq "[.runs[] | select(.account == \"$space\")] | length"; }
# Rounded once a pod.
is_charged() {
	local off=$(($(charged) - $(owed)))
	[ "$(runs)" -eq "$(k get pods -o json | jq '.items | length')" ] && [ ${off#-} -le "$(runs)" ]
}

pool=${POOL:-$(kubectl get nodes -o json | jq -r --arg key "$label" '[.items[] |
    select(.spec.taints | not) | .metadata.labels[$key] // empty][0] // empty')}
[ -n "$pool" ] || { echo "make kube: no node without taints has the label $label: set POOL_LABEL" >&2; exit 1; }
# Where balances stand; the policies leave lowtide's own namespace alone.
kubectl create namespace "$space-own" >/dev/null || exit 1
kubectl create namespace "$space" >/dev/null || exit 1
kubectl label namespace "$space" lowtide.dev/managed=true >/dev/null
mkdir -p "$work/state" "$work/run"
echo "# $(kubectl version -o json | jq -r .serverVersion.gitVersion), pool $pool, namespace $space"
# Long enough that a wait saves a gram.
day 120
policy 100
start
passes 'lowtide-kube is there' within 60 lowtide status

# From one annotation to the report
job waits 3 carbon >/dev/null
passes 'a Job is decided' within 10 has_note waits quote
passes 'its Event is there' within 5 told waits LowtidePlanned
took=$(($(date -d "$(k get events -o json | jq -r '[.items[] | select(.involvedObject.name == "waits")][0].firstTimestamp')" +%s) -
    $(date -d "$(of waits .metadata.creationTimestamp | tr -d '"')" +%s)))
echo "# its Event came $took s after it"
is 'within 2 s' true "$([ "$took" -le 2 ] && echo true)"
is 'it waits' true "$(of waits .spec.suspend)"
begin=$(note waits begin)
passes 'its hour comes' within 400 is_so waits '.spec.suspend == false'
late=$(($(date +%s) - $(date -d "$begin" +%s)))
echo "# released $late s after $begin"
is 'within 2 s' true "$([ "$late" -le 2 ] && echo true)"
is 'to its pool' "{\"$label\":\"$pool\"}" "$(of waits .spec.template.spec.nodeSelector)"
is 'with its own toleration' '"mine"' "$(of waits '.spec.template.spec.tolerations[0].key')"
passes 'it runs' within 120 is_so waits '.status.succeeded == 1'
restart
passes 'it is charged for its seconds' within 90 is_charged

# Beyond the budget
job big 3 '' 360000 >/dev/null
passes 'one beyond the budget is held' within 10 has_note big hold
passes 'and told so' within 5 told big LowtideHeld
is 'it waits' true "$(of big .spec.suspend)"
policy 1000000
passes 'with more budget it starts' within 60 is_so big '.spec.suspend == false'
passes 'and runs' within 120 is_so big '.status.succeeded == 1'

# The API server's own no, where the policies may be made and are not there
if [ -z "${POLICIES-}" ]; then
	echo '# skip: admission policies are of the whole cluster: POLICIES=1 tries them'
elif [ -n "$(kubectl get validatingadmissionpolicies -o name 2>/dev/null | grep /lowtide-)" ]; then
	echo '# skip: the cluster has lowtide'\''s policies already'
elif [ "$(kubectl auth can-i create validatingadmissionpolicies.admissionregistration.k8s.io 2>/dev/null)" != yes ]; then
	echo '# skip: no right to make admission policies'
else
	"$build/lowtide" kube manifest --namespace "$space-own" --kubernetes-version \
	    "$(kubectl version -o json | jq -r .serverVersion.gitVersion)" >"$work/manifest.yaml"
	kubectl create --dry-run=client -o json -f "$work/manifest.yaml" |
	    jq -c 'if .kind == "List" then .items[] else . end | select(.kind | test("AdmissionPolicy"))' |
	    jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$work/policies.yaml"
	applied=1
	passes 'the API server takes the policies' kubectl apply -f "$work/policies.yaml"
	policy 10 reject
	restart
	refused() {
		job never-$SECONDS 3 '' 360000 >"$work/never" 2>&1
		grep -q 'available of its limit' "$work/never"
	}
	passes 'it refuses what is beyond the budget' within 60 refused
	sed 's/^/# /' "$work/never"
	kubectl delete -f "$work/policies.yaml" >/dev/null && applied=
	policy 1000000
	restart
fi

# Without lowtide
day 120
restart
job over 3 carbon >/dev/null
within 10 has_note over quote
end KILL
echo "# lowtide-kube is down: $(note over begin) and two minutes are awaited"
overdue() { [ "$(date +%s)" -gt $(($(date -d "$(note over begin)" +%s) + 121)) ]; }
passes 'it is overdue' within 600 overdue
passes 'lowtide-kube release lets it go' env LOWTIDE_POOL_LABEL="$label" LOWTIDE_NAMESPACE="$space-own" \
    "$build/lowtide-kube" release --overdue
passes 'and it runs' within 120 is_so over '.status.succeeded == 1'

# Killed at random
kills=${KILLS:-20} made=0
start
for ((i = 0; i < kills; i++)); do
	if [ $((i % 3)) -eq 0 ]; then
		made=$((made + 1))
		job "killed-$made" $((1 + RANDOM % 5)) >/dev/null
	fi
	sleep "$((RANDOM % 2)).$((RANDOM % 10))"
	end KILL
	start
done
within 60 lowtide status
all_done() { [ "$(k get jobs -o json | jq '[.items[] | select((.metadata.name | startswith("killed")) and .status.succeeded == 1)] | length')" -eq $made ]; }
passes "after $kills times kill -9 all have run" within 300 all_done
restart
passes 'and are charged what their pods had' within 120 is_charged
echo "# charged $(charged) micros for $(runs) pods, by the pods $(owed)"
echo "1..$n"
[ $bad -eq 0 ]
