#!/bin/bash
# make soak: MINUTES (60) of 20 submissions a second beside JOBS (5000) that
# wait: most of them wait and are cancelled each half a minute, two a second
# run for some seconds, one of those is requeued each five, and all is reported
# each ten. Nothing may grow: neither lowtided, nor what it is behind by.
set -euo pipefail
cd "$(dirname "$0")/../.."
minutes=${MINUTES:-60}
. tests/scale/common.sh

second() { # second N: what happens in it
	build/tests/bench/bench_submit 18 team0000 >/dev/null
	sbatch -Q -A team0000 -n1 --time=10 --requeue --array=1-2 -o /dev/null \
	    --wrap "sleep $((1 + $1 % 20))"
	[ $(($1 % 30)) != 29 ] || scancel -A team0000 -t PENDING -n bench
	[ $(($1 % 5)) != 4 ] || squeue -h -A team0000 -t R -o %A | head -n 1 |
	    xargs -r scontrol requeue || true
	[ $(($1 % 10)) != 9 ] || build/lowtide report --period "$(date +%Y)" >/dev/null
}
minute() { # minute N: a line, also to $D/minutes
	local ring age
	ring=$(build/lowtide status --json | jq '.ring.highest - .ring.absorbed')
	age=$(awk -v from="$(tail -n 1 "$D/minutes" 2>/dev/null | awk '{ print $5 + 0 }')" \
	    '$1 == "age" && $3 > from && $2 > 0 && $3 - $2 > w { w = $3 - $2 } END { printf "%.1f", w }' "$D/watched")
	echo "$1 $(memory VmRSS) $ring $age $EPOCHREALTIME" >> "$D/minutes"
	echo "# minute $1: resident $(memory VmRSS) MiB, ring behind by $ring, snapshot's age at worst $age s, jobs $(squeue -h | wc -l)"
}
quarter() { # quarter N COLUMN: its mean there
	awk -v q="$1" -v c="$2" '{ v[NR] = $c } END {
		from = int(NR * (q - 1) / 4); to = int(NR * q / 4)
		for (i = from + 1; i <= to; i++) { s += v[i]; n++ }
		printf "%.2f", n ? s / n : 0 }' "$D/minutes"
}

up $((${JOBS:-5000} + 20000))
build/tests/bench/bench_submit "${JOBS:-5000}" backlog >/dev/null
ask
for ((m = 1; m <= minutes; m++)); do
	until=$(($(now_ms) + 60000))
	for ((s = 0; s < 60; s++)); do
		next=$(($(now_ms) + 1000))
		second $s
		left=$((next - $(now_ms)))
		[ $left -le 0 ] || sleep "$(calc "$left / 1000" 3)"
	done
	[ "$(now_ms)" -le $((until + 6000)) ] || echo "# this machine is too slow for 20 a second"
	minute $m
done
answered 'soaking'
goal 'resident, last quarter over the second' "$(calc "$(quarter 4 2) / $(quarter 2 2)" 3)" 1.1
goal 'ring behind by, last quarter' "$(quarter 4 3)" 100
goal "snapshot's age at worst, last quarter, s" "$(quarter 4 4)" 5
scancel -A team0000
scancel -A backlog
until [ -z "$(squeue -h)" ] && [ "$(held)" -lt $job_micros ]; do sleep 1; done
until [ "$(dbd 'SELECT count(*) FROM tide_job_table WHERE time_start > 0 AND time_end = 0')" = 0 ]; do sleep 1; done
sleep 10 # settled by then
compare 15.625
