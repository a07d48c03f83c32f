# Sourced by scale.sh, soak.sh, passes.sh and reports.sh: a private cluster of one team, what
# its daemons cost, and goals. D: the folder of it all, while the caller runs.
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-scale.XXXXXX")
chmod 755 "$D"
cluster=tests/cluster/cluster.sh
job_micros=9375 # a CPU of 64 for 10 minutes, at 3.60 a node and hour
beside=()       # pids that run beside it
size=           # what the goals are about just now
cleanup() {
	kill "${beside[@]}" 2>/dev/null || true
	"$cluster" down "$D/c"
	rm -rf "$D"
}
trap 'cleanup' EXIT

goal() { # goal NAME VALUE WANT [>=]: met if VALUE <= WANT
	printf 'goal %-52s %-10s %s%-8s %s\n' "$size$1" "$2" "${4:-<=}" "$3" \
	    "$(awk -v v="$2" -v w="$3" -v o="${4:-<=}" \
		'BEGIN { print (o == "<=" ? v <= w : v >= w) ? "met" : "missed" }')" |
	    tee -a "$D/goals"
}
grew() { # grew WHAT COUNT COST: for the curve
	echo "$1;$2;$3" >> "$D/curve"
}
curve() {
	echo '# the power of its size that each grows with, from the size before:'
	awk -F';' '$1 in n && c[$1] > 0 && $3 > 0 {
		printf "# %-28s %8d to %8d: %.2f\n", $1, n[$1], $2, log($3 / c[$1]) / log($2 / n[$1]) }
		{ n[$1] = $2; c[$1] = $3 }' "$D/curve"
}
calc() { awk "BEGIN { printf \"%.${2:-2}f\", $1 }"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
seconds() { # seconds COMMAND...
	local began
	began=$(now_ms)
	"$@" >/dev/null 2>&1
	calc "($(now_ms) - $began) / 1000"
}
pid_of() { cat "$D/c/run/$1.shpid"; }
# CPU, 10 ms each: own, and with that of the children that it waited for
own_ticks() { awk '{ print $14 + $15 }' "/proc/$(pid_of "$1")/stat"; }
ticks() { awk '{ print $14 + $15 + $16 + $17 }' "/proc/$(pid_of "$1")/stat"; }
memory() { # memory VmRSS|VmHWM: of lowtided, MiB
	awk -v k="$1:" '$1 == k { printf "%.1f", $2 / 1024 }' "/proc/$(pid_of lowtided)/status"
}
ledger() { sqlite3 "$D/c/lowtide/ledger.db" "$1"; }
dbd() { mysql --no-defaults -N -uroot -S "$D/c/run/db.sock" slurm_acct_db -e "$1"; }
held() { build/lowtide budget --json | jq '[.budgets[].held_micros // 0] | add'; }
charged() { # in all
	ledger 'SELECT coalesce(sum(money_micros), 0) FROM entries'
}

compare() { # compare MICROS_A_SECOND: charges with sacct's
	local now wanted
	now=$(charged)
	wanted=$(sacct -aXnDP -S 2000-01-01 -E now -o ElapsedRaw |
	    awk -v p="$1" '{ t += $1 } END { printf "%d", t * p + 0.5 }')
	goal "charges and sacct's, micros apart" $((now > wanted ? now - wanted : wanted - now)) 1
}

# Beside all else: "age MADE NOW" of the budget snapshot each second, and "child PID
# MS MIB" of lowtided's children each 0.1 s.
watch() {
	local pid kid key value rest i=0
	pid=$(pid_of lowtided)
	exec 9<> <(:)
	while :; do
		if [ $((i++ % 10)) = 0 ]; then
			echo "age $(stat -c %.3Y "$D/c/lowtide/budget" 2>/dev/null || echo 0) $EPOCHREALTIME"
		fi
		for kid in $(pgrep -P "$pid"); do
			while read -r key value rest; do
				[ "$key" != VmHWM: ] || echo "child $kid $EPOCHREALTIME $((value / 1024))"
			done 2>/dev/null < "/proc/$kid/status" || true
		done
		read -rt .1 -u 9 || true
	done
}
ask() { # somebody does, all the while
	build/tests/bench/bench_answer "$D/c/run/lowtide/lowtided.sock" /v1/status > "$D/answers" &
	asking=$!
	watch > "$D/watched" 2>/dev/null &
	watching=$!
	beside+=("$asking" "$watching")
}
answered() { # answered WHEN
	local count failed p50 p99 worst mib lasted
	kill "$asking" "$watching"
	wait "$asking"
	read -r count failed p50 p99 worst < "$D/answers"
	echo "# $size$1: $count answers, ms: half of them $p50, worst $worst"
	goal "an answer, $1, 99 of 100, ms" "$p99" 50
	goal "answers that failed, $1" "$failed" 0
	goal "age of the budget snapshot, $1, worst, s" \
	    "$(awk '$1 == "age" && $2 > 0 && $3 - $2 > w { w = $3 - $2 } END { printf "%.1f", w }' "$D/watched")" 5
	read -r mib lasted < <(awk '$1 == "child" { if (!($2 in f)) f[$2] = $3
		if ($3 - f[$2] > s) s = $3 - f[$2]
		if ($4 > m) m = $4 } END { print m + 0, s + 0 }' "$D/watched")
	echo "# $size$1: the longest child took $(calc "$lasted" 1) s"
	goal "a child's peak, $1, MiB" "$mib" 256
}
# What slurmctld did for lowtided since `sdiag -r`, ms: the types of RPC that
# nobody else sends here, but for our own sdiag.
asked_ms() {
	sdiag | awk '/Remote Procedure Call statistics by user/ { exit }
	    $1 ~ /^REQUEST_(JOB_INFO|JOB_INFO_SINGLE|JOB_STATE|UPDATE_JOB|PARTITION_INFO|NODE_INFO|BUILD_INFO|STATS_INFO)$/ {
		sub(/.*total_time:/, ""); t += $1 } END { print t / 1000 }'
}
asked_count() { # asked_count RPC
	sdiag | awk -v r="$1" '$1 == r { sub(/.*count:/, ""); print $1 + 0; n = 1; exit } END { if (!n) print 0 }'
}

up() { # up JOBS
	cat > "$D/policy.yaml" <<-E2
	mode: enforce
	currency: USD
	timezone: UTC
	partitions:
	  ondemand: {price_per_node_hour: 3.60}
	budgets:
	  - {team: team0000, period: year, amount: 1000000000}
	  - {team: backlog, period: year, amount: 1000000000}
	hold_margin: 0
	E2
	rm -rf "$D/c"
	ACCOUNTS="team0000 backlog" POLICY=$D/policy.yaml EXTRA="MaxJobCount=$(($1 + 2000))" \
	    "$cluster" up "$D/c" >&2
	. "$D/c/env"
	until sbatch --test-only -A team0000 -n1 --time=1 --wrap true 2>/dev/null; do sleep .2; done
}
