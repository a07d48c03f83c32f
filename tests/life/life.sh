#!/bin/bash
# make life: NOTICES (100) that a node is taken back, at random moments, of the
# nodes of JOBS (20) that can resume; 30 of them in one second, some told twice,
# some withdrawn; and lowtided is killed at random all the while. Nothing may be
# lost, nothing done twice, nothing paid for that nobody has admitted.
set -euo pipefail
cd "$(dirname "$0")/../.."
notices=${NOTICES:-100} jobs=${JOBS:-20} seed=${SEED:-$$}
RANDOM=$seed
steps=240    # of half a second: two minutes of work
most_lost=14 # steps: the interval of 5 s, and a second to write one
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-life.XXXXXX")
chmod 755 "$D"
cluster=$PWD/tests/cluster/cluster.sh
here=$PWD
cleanup() {
	[ -z "${watching:-}" ] || kill "$watching" 2>/dev/null || true
	"$cluster" down "$D/c"
	[ -n "${KEEP:-}" ] || rm -rf "$D"
}
trap cleanup EXIT
goal() { # goal NAME VALUE WANT: met if VALUE <= WANT
	printf 'goal %-52s %-10s <=%-8s %s\n' "$1" "$2" "$3" \
	    "$(awk -v v="$2" -v w="$3" 'BEGIN { print v <= w ? "met" : "missed" }')" | tee -a "$D/goals"
}
part() { "$cluster" "$1" "$D/c" "${@:2}"; }
told=0
notice() { # notice NODE SECONDS: until lowtided has heard it
	local _
	for _ in $(seq 100); do
		! lowtide notice "$1" --in "$2s" > /dev/null 2>&1 || { told=$((told + 1)); return; }
		sleep .1
	done
	echo "nobody hears of $1" >&2
	exit 1
}
a_node() { printf 's%02d\n' $((1 + RANDOM % 20)); }
back() { # who has left comes again, as a cloud's nodes do
	local gone leaving
	leaving=$(lowtide notice --json 2>/dev/null | jq -r '.notices[].node') || return 0
	gone=$(sinfo -hN -p spot -t drain,down -o %N | sort -u)
	gone=$(comm -23 <(echo "$gone") <(sort <<< "$leaving"))
	[ -z "$gone" ] || scontrol update nodename="$(tr '\n' , <<< "$gone")" state=resume 2>/dev/null || true
}
unheld() { # each 2 s: who runs without a hold that is open
	while sleep 2; do
		squeue -h -t R -o %A | sort > "$D/runs"
		sqlite3 "$D/c/lowtide/ledger.db" 'SELECT job_id FROM holds WHERE state = 0' 2>/dev/null | sort > "$D/held" || continue
		comm -23 "$D/runs" "$D/held" | sed "s/^/$SECONDS /" >> "$D/unheld.seen"
	done
}

LAYOUT=tests/life/layout.conf POLICY=tests/life/policy.yaml ACCOUNTS=vision \
    EXTRA='KillWait=2' "$cluster" up "$D/c"
. "$D/c/env"
echo "# seed $seed"
mkdir -m 1777 "$D/jobs"
cd "$D/jobs"
for ((i = 0; i < jobs; i++)); do
	sbatch -Q -A vision --carbon-aware=cost --checkpoint=signal=USR1,write=1s,every=5s --exclusive \
	    --time=20 -o /dev/null --wrap "srun sh $here/tests/life/counter.sh $steps"
done
cd "$here"
: > "$D/unheld.seen"
unheld &
watching=$!
sleep 5

burst=$((notices * 3 / 10))
killed=0
: > "$D/withdrawn"
for ((i = 0; told < notices; i++)); do
	if [ -n "$burst" ] && [ $told -ge $((notices / 3)) ]; then
		# All nodes at once, and half of them twice.
		first=$(date +%s%N)
		for ((k = 0; k < burst; k++)); do
			notice "$(printf 's%02d' $((1 + k % 20)))" 12 &
			tellers[k]=$!
		done
		wait "${tellers[@]}"
		told=$((told + burst))
		echo "# $burst notices in $((($(date +%s%N) - first) / 1000000)) ms"
		burst=
	fi
	node=$(a_node)
	notice "$node" $((8 + RANDOM % 12))
	case $((RANDOM % 10)) in
	0) if lowtide notice "$node" --withdraw > /dev/null 2>&1; then echo "$(date +%s.%N) $node" >> "$D/withdrawn"; fi ;;
	1) notice "$node" $((8 + RANDOM % 12)) ;;
	esac
	if [ $((RANDOM % 4)) -eq 0 ]; then
		part stop lowtided KILL
		part start lowtided
		killed=$((killed + 1))
	fi
	back
	sleep ".$((RANDOM % 9))"
	sleep $((RANDOM % 2))
done
echo "# $told notices told, $(wc -l < "$D/withdrawn") withdrawn, lowtided killed $killed times"
over=$((SECONDS + 600))
while [ -n "$(squeue -h)" ] && [ $SECONDS -lt $over ]; do
	back
	sleep 1
done
kill "$watching"
watching=

cd "$D/jobs"
sacct -anXP -S 2000-01-01 -E now -o State | sort | uniq -c | sed 's/^/# /'
restarts=$(cat ./*.log | grep -c '^from ')
echo "# $((restarts - jobs)) times a job went on"
goal 'jobs not COMPLETED' "$(sacct -anXP -S 2000-01-01 -E now -o State | grep -vc COMPLETED)" 0
goal 'jobs that did not count to the end' "$((jobs - $(cat ./*.log | grep -c "^done $steps")))" 0
goal 'restarted from 0, though they had saved' \
    "$(awk 'FNR > 1 && $1 == "from" && $2 == 0 && $4 > 10' ./*.log | wc -l)" 0
goal 'steps lost by one interruption, at most' \
    "$(awk '$1 == "from" && $4 - $2 > w { w = $4 - $2 } END { print w + 0 }' ./*.log)" $most_lost
# A node that stays after all, and then leaves: its job is asked again, and
# rightly so. A job hears it after half a second.
awk 'FILENAME == ARGV[1] { stays[$2] = stays[$2] " " $1; next }
	FNR == 1 || $1 == "from" { last = 0 }
	$1 == "asked" {
		n = split(stays[$3], at, " "); why = ""
		for (i = 1; i <= n; i++) if (at[i] > last - 2 && at[i] < $2) why = "withdrawn"
		if (last) print FILENAME, $3, last, $2, why
		last = $2
	}' "$D/withdrawn" ./*.log > "$D/twice"
echo "# asked again in one run: $(wc -l < "$D/twice"), $(grep -c withdrawn "$D/twice" || true) of them after a withdrawal"
goal 'asked again in one run, though nothing was withdrawn' "$(grep -vc withdrawn "$D/twice" || true)" 0
# Seen twice in a row, else it was between two tables of two clocks.
goal 'runs that no hold was open for' \
    "$(awk '{ if ($2 in t && $1 - t[$2] <= 3) n++; t[$2] = $1 } END { print n + 0 }' "$D/unheld.seen")" 0
want() { sacct -aXnDP -S 2000-01-01 -E now -o Partition,ElapsedRaw | awk -F'|' '
	{ t += $2 * ($1 == "spot" ? 1.2 : 3.6) * 1e6 / 3600 } END { printf "%d", t + 0.5 }'; }
charged() { sqlite3 "$D/c/lowtide/ledger.db" 'SELECT coalesce(sum(money_micros), 0) FROM entries'; }
for ((i = 0; i < 60; i++)); do
	off=$(($(charged) - $(want)))
	[ "${off#-}" -gt 2 ] || break
	sleep 1
done
goal "charges and sacct's, micros apart" "${off#-}" 2
[ -z "${KEEP:-}" ] || { echo "kept: $D"; cp "$D/c/log/lowtided.out" /tmp/life.lowtided.out; }
! grep -q missed "$D/goals"
