# shellcheck shell=bash
# For tests: lowtide-kube beside the played API server of kube.sh, on a clock
# that a test can set ahead for both. To be sourced; $work is the test's folder.
#
#   l_policy [TEXT]      the policy: two pools of the played nodes, and TEXT
#   l_up [OPTION...]     starts lowtide-kube, waits until it answers
#   l_start [OPTION...]  only starts it
#   l_end [SIGNAL]       ends it
#   l_ahead HOURS        sets the clock ahead, from the start of the test
#   l_day CLEAN DIRTY    of the hours to come, these are clean
#   lowtide ...          the command, asking this lowtide-kube
#   charged NAMESPACE/NAME [FIELD]   what its pods were charged, in micros
#   owed NAMESPACE/NAME  the same, from what the API server says of its pods
#   within SECONDS COMMAND...        until the command is true, waiting as k_wait does
#
# A second of a node in pool ondemand costs 50 times, in pool spot 25 times, what
# its 64 CPUs, 512 GiB and 8 GPUs do by docs/model.md, (2a), in millionths: so
# all sums are whole.
BUILD=${BUILD:-$top/build}
K_SERVER=$BUILD/tests/kube/server
# shellcheck source=tests/kube/kube.sh
. "$top/tests/kube/kube.sh"
work=$(mktemp -d)
L=$work/lowtide
mkdir -p "$L/state" "$L/run"
# No month ends in a test's hours, whatever day it is.
L_DAY=$(date -u +%-d)
L_FIRST=$((L_DAY > 20 ? (33 - L_DAY) * 86400 : 0))
printf '%-16s' $L_FIRST >"$work/shift"
export CLOCK_SHIFT=$work/shift
# A program with ASan wants its library before ours.
K_PRELOAD="$(ldd "$BUILD/lowtide-kube" | awk '/libasan/ {print $3}') $BUILD/tests/tools/clock_shift.so"
n=0 bad=0 pid=

finish() {
	[ -z "$pid" ] || l_end KILL
	k_down
	rm -rf "$work"
}
trap finish EXIT
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
	if "$@" >"$work/out" 2>&1; then
		is "$name" 0 0
	else
		is "$name" 0 "$?"
		{ head -c 2000 "$work/out"; echo; tail -n 8 "$L/log"; } | sed 's/^/# /'
	fi
}
within() {
	local until=$((SECONDS + PATIENCE * $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}
of() { jq -c "$1"; }
the_end() {
	[ -z "$pid" ] || l_end
	echo "1..$n"
	[ $bad -eq 0 ]
}
now() { echo $(($(date +%s) + $(cat "$work/shift"))); }
l_seconds_ahead() { printf '%-16s' $((L_FIRST + $1)) 1<>"$work/shift"; }
l_ahead() { l_seconds_ahead $(($1 * 3600)); }
k_clock() { # curl has the machine's
	case $1 in
	off) L_SHIFT=$(cat "$work/shift") && printf '%-16s' 0 1<>"$work/shift" ;;
	on) printf '%-16s' "$L_SHIFT" 1<>"$work/shift" ;;
	esac
}

l_day() {
	local hour g
	hour=$(($(now) / 3600 * 3600))
	{
		echo time,g
		for h in $(seq -1 99); do
			g=${L_DIRTY:-400}
			if [ "$h" -ge "$1" ] && [ "$h" -lt "$2" ]; then g=${L_CLEAN:-100}; fi
			echo "$((hour + h * 3600)),$g"
		done
	} >"$work/day.next"
	mv "$work/day.next" "$work/day.csv"
}

l_policy() {
	cat >"$work/policy.next" <<-TEXT
		mode: ${L_MODE:-enforce}
		currency: USD
		timezone: UTC
		max_delay: 24h
		sources:
		  day: {adapter: file, quantity: carbon, path: $work/day.csv, value: g}
		partitions:
		  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: ${L_ONDEMAND:-2122640.64}, gpu: A100-SXM4-40GB}
		  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: ${L_SPOT:-1061320.32}, gpu: A100-SXM4-40GB, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
		${1-}
	TEXT
	mv "$work/policy.next" "$work/policy.yaml"
}

# As an operator has it outside: its token is in a file of its own.
kubeconfig() { sed "s|token: .*|tokenFile: $KUBE/token|" "$KUBE/kubeconfig" >"$work/kubeconfig"; }
lowtide() { LD_PRELOAD=$K_PRELOAD LOWTIDE_RUN_DIR=$L/run "$BUILD/lowtide" "$@"; }
answers() { lowtide status >/dev/null 2>&1; }
l_kube() { LD_PRELOAD=$K_PRELOAD KUBECONFIG=$work/kubeconfig "$BUILD/lowtide-kube" "$@"; }
l_start() {
	kubeconfig
	# By itself, not in a subshell: $! is its own id.
	LD_PRELOAD=$K_PRELOAD KUBECONFIG=$work/kubeconfig "$BUILD/lowtide-kube" \
	    --config "$work/policy.yaml" --state "$L/state" --run "$L/run" \
	    --log "$L/log" "$@" >"$L/out" 2>&1 3>&- &
	pid=$!
}
l_up() {
	l_start "$@"
	within 30 answers || { cat "$L/out" "$L/log" >&2; return 1; }
}
l_end() {
	local status
	kill "-${1:-TERM}" "$pid"
	wait "$pid" 2>/dev/null
	status=$?
	pid=
	[ -n "${1-}" ] || { is 'lowtide-kube ends with status 0' 0 $status; [ $status -eq 0 ] || sed 's/^/# /' "$L/out"; }
	[ -n "${1-}" ] || is 'and has kept what nodes are' 0 "$(grep -c 'event=[a-z]*_not_kept' "$L/log")"
}
fetched() { # fetched SINCE: what it decides by is not of the days before
	lowtide signals --json | jq -e --arg at "$(date -u -d "@$1" +%FT%TZ)" '.sources[0].fetched >= $at'
}
l_restart() {
	local since
	l_end
	since=$(now)
	l_up && within 10 fetched "$since" >/dev/null
}

# ---- Jobs ----
# Filters for k_job: a limit, wishes, how long its pods run, where.
limit() { echo ".spec.activeDeadlineSeconds = $1"; }
wishes() { echo "$(limit "${2:-60}") | .metadata.annotations = {\"lowtide.dev/carbon-aware\": \"$1\"}"; }
runs() { echo ".spec.template.metadata.annotations[\"test/run-seconds\"] = \"$1\""; }
pool() { echo ".spec.template.spec.nodeSelector = {\"lowtide.dev/pool\": \"$1\"} |
    .spec.template.spec.tolerations = [{key: \"lowtide.dev/spot\", operator: \"Exists\"}]"; }
job() { echo "$K_JOBS/${1%/*}/jobs/${1#*/}"; }
pod() { echo "$K_CORE/${1%/*}/pods/${1#*/}"; }
pods_of() { echo "$K_CORE/${1%/*}/pods?labelSelector=job-name%3D${1#*/}"; }
note() { k_get "$(job "$1")" | jq -r ".metadata.annotations[\"lowtide.dev/$2\"] // \"\""; }
events_of() { # reasons, and texts of them
	k_get "$K_CORE/${1%/*}/events" | jq -c "[.items[] |
	    select(.involvedObject.name == \"${1#*/}\") | .${2:-reason}]"
}
planned() { k_wait "${2:-10}" "$(job "$1")" '.metadata.annotations["lowtide.dev/quote"] != null'; }
done_well() { k_wait "${2:-15}" "$(job "$1")" '.status.succeeded >= 1 and .status.completionTime != null'; }
id_of() {
	sqlite3 -readonly "$L/state/kube.db" \
	    "SELECT id FROM ids WHERE name = '$1' ORDER BY id DESC LIMIT 1"
}
runs_of() { # JSON of its runs in the report
	lowtide report --json --runs | jq -c --argjson id "$(id_of "$1")" \
	    '[.runs[] | select(.job_id == $id or .array_job_id == $id)]'
}
charged() { runs_of "$1" | jq "[.[] | .${2:-money_micros}] | add // 0"; }
# Of pods that have ended: seconds on the node, its price, its part.
OWED='def at: fromdateiso8601;
    def price: if test("^spot") then 25 else 50 end;
    def cpus: if endswith("m") then rtrimstr("m") | tonumber / 1000 else tonumber end;
    def gib: if endswith("Mi") then rtrimstr("Mi") | tonumber / 1024 else rtrimstr("Gi") | tonumber end;
    def worth: 31611 * (.cpu | cpus) + 4237 * (.memory | gib) + 950000 * (.["nvidia.com/gpu"] // "0" | tonumber);
    [.items[] | select(.spec.nodeName and .status.startTime) |
	((.status.containerStatuses[0].state.terminated.finishedAt //
	    (.status.conditions[] | select(.type == "DisruptionTarget") | .lastTransitionTime)) | at) as $to |
	($to - (.status.startTime | at)) * (.spec.nodeName | price) *
	([.spec.containers[].resources.requests | worth] | add)] | add // 0 | . + 0.5 | floor'
owed() { k_get "$(pods_of "$1")" | jq "$OWED"; }
is_owed() { # is_owed NAMESPACE/NAME: charged to the micro
	local want
	want=$(owed "$1")
	[ "$want" -gt 0 ] && [ "$(charged "$1")" == "$want" ]
}

# As the eviction API ends a pod, whose container says when it ended.
evict() {
	local name at
	name=$(k_get "$(pods_of "$1")" | jq -r '.items[0].metadata.name')
	at=$(date -u -d "@$(now)" +%FT%TZ)
	k_patch "$(pod "${1%/*}/$name")/status" merge "$(k_get "$(pod "${1%/*}/$name")" | jq -c --arg at "$at" '
	    {status: {phase: "Failed", conditions: (.status.conditions + [{type: "DisruptionTarget", status: "True",
		reason: "EvictionByEvictionAPI", lastTransitionTime: $at}]),
	    containerStatuses: [.status.containerStatuses[0] | .state = {terminated: {exitCode: 143,
		reason: "Error", startedAt: .state.running.startedAt, finishedAt: $at}}]}}')"
}
