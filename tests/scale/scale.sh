#!/bin/bash
# make scale: a queue of real size. JOBS (default 22000) jobs wait in a private
# cluster, each with a hold, and are cancelled at once. Printed: how long the
# holds lasted, how long lowtided kept somebody waiting meanwhile, and how old
# its budget snapshot was at worst. Then RUNS (100000) runs have ended while it
# was away: what catching up costs, a rebuild, and reports of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=${JOBS:-22000}
runs=${RUNS:-100000}
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-scale.XXXXXX")
chmod 755 "$D"
cluster=tests/cluster/cluster.sh
beside=() # that run beside it
trap 'kill "${beside[@]}" 2>/dev/null || true; "$cluster" down "$D/c"; rm -rf "$D"' EXIT

goal() { # goal NAME VALUE WANT [>=]: met if VALUE <= WANT
	printf 'goal %-38s %-10s %s%-8s %s\n' "$1" "$2" "${4:-<=}" "$3" \
	    "$(awk -v v="$2" -v w="$3" -v o="${4:-<=}" \
		'BEGIN { print (o == "<=" ? v <= w : v >= w) ? "met" : "missed" }')"
}
seconds() { # seconds COMMAND...
	local began
	began=$(now_ms)
	"$@" >/dev/null 2>&1
	awk -v t=$(($(now_ms) - began)) 'BEGIN { print t / 1000 }'
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }
# CPU, 10 ms each, with that of the children that it waited for
ticks() { awk '{ print $14 + $15 + $16 + $17 }' "/proc/$(cat "$D/c/run/$1")/stat"; }
resident() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$(cat "$D/c/run/lowtided.shpid")/status"; }
held() { build/lowtide budget --json | jq '[.budgets[].held_micros // 0] | add'; }

ask() { # somebody does, all the while
	build/tests/bench/bench_answer "$D/c/run/lowtide/lowtided.sock" /v1/status > "$D/answers" &
	asking=$!
	beside+=("$asking")
}
answered() { # answered WHEN
	kill "$asking"
	wait "$asking"
	read -r count failed p50 p99 worst < "$D/answers"
	echo "# $1: $count answers, ms: half of them $p50, worst $worst"
	goal "an answer, $1, 99 of 100, ms" "$p99" 50
	goal "answers that failed, $1" "$failed" 0
}

cat > "$D/policy.yaml" <<'E2'
mode: enforce
currency: USD
partitions:
  ondemand: {price_per_node_hour: 3.60}
budgets:
  - {team: team0000, period: year, amount: 1000000000}
hold_margin: 0
E2
ACCOUNTS=team0000 POLICY=$D/policy.yaml EXTRA="MaxJobCount=$((jobs + 1000))" "$cluster" up "$D/c" >&2
. "$D/c/env"
until sbatch --test-only -A team0000 -n1 --time=1 --wrap true 2>/dev/null; do sleep .2; done
echo "# $(nproc) cores, Slurm $(slurmctld -V | awk '{print $2}'), $jobs jobs"

rate=$(build/tests/bench/bench_submit "$jobs" team0000)
echo "# submitted: $rate a second"
until [ "$(held)" -ge $((jobs * 9375)) ]; do sleep 1; done # a CPU of 64 for 10 minutes
wait_s=${WAIT_S:-60}
from=$(ticks lowtided.shpid)
sdiag -r >/dev/null
ask
sleep "$wait_s"
answered 'all wait'
to=$(ticks lowtided.shpid)
# Nobody but lowtided asks slurmctld now: microseconds of all its answers.
asked=$(sdiag | awk '/Remote Procedure Call statistics by user/ { exit }
	/total_time:/ { sub(/.*total_time:/, ""); t += $1 } END { print t + 0 }')
echo "# lists of jobs in $wait_s s: $(sdiag | awk '$1 == "REQUEST_JOB_INFO" { sub(/.*count:/, ""); print $1 + 0; exit }')"
goal 'lowtided, CPU of a core, all wait, %' "$(awk -v t=$((to - from)) -v s="$wait_s" 'BEGIN { print t / s }')" 3
goal 'slurmctld, of a core, for it, %' "$(awk -v t="$asked" -v s="$wait_s" 'BEGIN { print t / s / 1e4 }')" 0.5
goal 'lowtided, resident, all wait, MiB' "$(resident)" 64

ask
while :; do
	build/lowtide status --json | jq .budget.age_s
	sleep 1
done > "$D/ages" &
beside+=($!)
began=$(now_ms)
scancel -A team0000
sent=$(now_ms)
echo "# cancelled: $((sent - began)) ms"
# Less than one: --test-only above leaves a hold that no job has, for a minute.
until [ "$(held)" -lt 9375 ]; do sleep .5; done
goal 'all holds free after scancel, s' "$(awk -v t=$(($(now_ms) - sent)) 'BEGIN { print t / 1000 }')" 60
answered 'all cancelled'
goal 'age of the budget snapshot, worst, s' "$(sort -n "$D/ages" | tail -n 1)" 5
goal 'lowtided, resident, after it, MiB' "$(resident)" 64

kill "${beside[@]}" 2>/dev/null || true
days=10
since=$(($(date +%s) - (days + 1) * 86400))
"$cluster" stop "$D/c" lowtided
tests/scale/history.sh "$D/c" "$runs" $days
ledger() { sqlite3 "$D/c/lowtide/ledger.db" "$1"; }
ledger "UPDATE named SET value = $since WHERE name IN ('since', 'settled_until')"
began=$(now_ms)
"$cluster" start "$D/c" lowtided >&2
ask
until [ "$(ledger "SELECT value FROM named WHERE name = 'settled_until'")" -gt $((since + 86400)) ]; do
	sleep .2
done
echo "# $runs runs of $days days: caught up after $((($(now_ms) - began) / 1000)) s"
answered 'catching up'
own=$(awk '{ print $14 + $15 }' "/proc/$(cat "$D/c/run/lowtided.shpid")/stat")
goal 'catching up, runs a second of its CPU' $((runs * 100 / own)) 50000 '>='
goal 'lowtided, resident at most, MiB' \
    "$(awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/$(cat "$D/c/run/lowtided.shpid")/status")" 64
ask
echo "# rebuild: $(seconds build/lowtide rebuild) s"
answered 'rebuild'
goal 'report of a year, s' "$(seconds build/lowtide report --period "$(date +%Y)")" 1
took=$(seconds build/lowtide report --period "$(date +%Y)" --runs --format csv)
goal 'report --runs, rows a second' "$(awk -v n="$runs" -v t="$took" 'BEGIN { printf "%d", n / t }')" 200000 '>='
charged=$(build/lowtide report --period "$(date +%Y)" --json 2>/dev/null | jq '.total.charges_micros + .total.corrections_micros')
wanted=$(sacct -aXnP -S "$(date -d "@$since" +%FT%T)" -E now -o ElapsedRaw |
    awk '{ t += $1 } END { printf "%d", t * 125 }') # an eighth of 3.60 an hour
goal "charges and sacct's, micros apart" $((charged > wanted ? charged - wanted : wanted - charged)) 0
