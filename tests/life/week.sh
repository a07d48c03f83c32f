#!/bin/bash
# make week: a week of South Australia's grid (GAIA's, tests/fixtures/simulate),
# an hour of it in HOUR_S (10) seconds, on a private Slurm: jobs that may be
# suspended. When they stand still has to be as `lowtide simulate` has it of the
# same week, event by event, by its own account of their work: it is told when
# lowtided looked and how late Slurm did what it was asked, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."
hour=${HOUR_S:-10} from=2022-10-19T16:00Z delay=108
work=(60 48 24 18) # hours of each job
build=${BUILD:-$PWD/build}
cluster=$PWD/tests/cluster/cluster.sh
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-week.XXXXXX")
chmod 755 "$D"
cleanup() {
	"$cluster" down "$D/c"
	[ -n "${KEEP:-}" ] || rm -rf "$D"
}
trap cleanup EXIT
goal() { # goal NAME VALUE WANT: met if VALUE <= WANT
	printf 'goal %-52s %-10s <=%-8s %s\n' "$1" "$2" "$3" \
	    "$(awk -v v="$2" -v w="$3" 'BEGIN { print v <= w ? "met" : "missed" }')" | tee -a "$D/goals"
}
grid() { # grid BEGIN: two of these weeks, from then on
	awk -F, -v begin="$1" -v hour="$hour" -v from="$from" '
		BEGIN { print "time,value" }
		$1 == from { on = 1 }
		on && i < 336 { printf "%d,%s\n", begin + i++ * hour, $2 }' tests/fixtures/simulate/au-sa.csv
}
limit_of() { echo $((work[0] * hour / 60 + 2 + $1)); } # minutes; each job has its own

cat > "$D/layout" <<'E2'
NodeName=v[1-4] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@,@PORT+2@,@PORT+3@,@PORT+4@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
PartitionName=main Nodes=v[1-4] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
E2
cat > "$D/policy.yaml" <<E2
mode: enforce
currency: USD
timezone: UTC
waiting_carbon_per_hour: 0
max_delay: $((delay * hour))s
sources:
  grid: {adapter: file, quantity: carbon, path: $D/grid.csv}
partitions:
  main: {carbon: grid, pue: 10, gpu: V100-SXM2}
classes:
  patient: {account: vision, pause: suspend}
E2
# It counts its own work: a step of 0.2 s that took a second stood still. A
# second less than is expected of it: what goes on longer is decided otherwise.
cat > "$D/worker" <<'E2'
#!/bin/bash
done=0 last=${EPOCHREALTIME/./}
while [ $done -lt $(($1 * 1000000 - 1000000)) ]; do
	sleep .2
	now=${EPOCHREALTIME/./} step=$((now - last)) last=$now
	done=$((done + (step < 1000000 ? step : 200000)))
done
E2
mkdir "$D/bin"
ln -s "$build"/* "$D/bin"
ln -sf "$build/tests/life/lowtided" "$D/bin/lowtided"
export BUILD=$D/bin LOOKS=$D/looks TZ=UTC SLURM_TIME_FORMAT=%s
grid $(($(date +%s) - 86400)) > "$D/grid.csv"
LAYOUT=$D/layout POLICY=$D/policy.yaml ACCOUNTS=vision "$cluster" up "$D/c"
. "$D/c/env"
# It reads the week when it starts.
"$cluster" stop "$D/c" lowtided
begin=$(($(date +%s) + 5))
grid $begin > "$D/grid.csv"
"$cluster" start "$D/c" lowtided
while [ "$(date +%s)" -lt $begin ]; do sleep .1; done
ids=()
for i in "${!work[@]}"; do # at once: when a job begins is another decision
	ids+=("$(sbatch --parsable -o /dev/null -A vision --begin=now --gres=gpu:8 -N1 -n1 --time="$(limit_of "$i")" \
	    --carbon-aware=carbon --expected-time=0:00:$((work[i] * hour)) "$D/worker" $((work[i] * hour)) 2>/dev/null)")
done
echo "# jobs ${ids[*]}: ${work[*]} hours of work, an hour is $hour s"
while squeue -h -t R,S,PD -o %A | grep -q .; do sleep 2; done
settled() { ! sacct -nX -o State | grep -vq COMPLETED; }
for _ in $(seq 30); do settled && break; sleep 1; done
sacct -nXP -o JobID,State,ElapsedRaw,Suspended | sed 's/^/# /'

week=$(date -u -d "$from" +%s)
sed '1s/.*/time,value/' tests/fixtures/simulate/au-sa.csv > "$D/hours.csv"
mysql --no-defaults -uroot -S "$D/c/run/db.sock" slurm_acct_db -Ne \
    'SELECT id_job, s.time_start, s.time_end FROM tide_suspend_table s JOIN tide_job_table USING (job_db_inx) ORDER BY 2' > "$D/suspends"
iso() { date -u -d "@$((week + ($1 - begin) * 3600 / hour))" +%FT%TZ; } # iso SECOND: in the week
# looks LIMIT_S ID: "at done" of the job. When Slurm had done what was decided, a
# second later where that fell so; and when what was due went on.
looks() {
	awk -v limit="$1" -v id="$2" '
	FILENAME == ARGV[1] {
		if ($1 == id) changed[$2] = changed[$3] = 1
		next
	}
	$1 == limit && !($2 in seen) {
		seen[$2] = 1
		done = $2
		if ($3 ? $4 == 0 : $4 > 0) {
			done += !(done in changed) && done + 1 in changed
			delete changed[done]
		}
		print $2, done
	}
	END { for (at in changed) print at, at }' "$D/suspends" "$LOOKS" | sort -n
}
# simulated LIMIT_S ID HOURS SUBMIT START END: "from until", in seconds of Slurm's.
simulated() {
	looks "$1" "$2" > "$D/looks.$2"
	awk -v begin="$begin" -v week="$week" -v hour="$hour" '
	function iso(at) { return strftime("%Y-%m-%dT%H:%M:%SZ", week + (at - begin) * 3600 / hour, 1) }
	BEGIN { print "at,done" }
	{ print iso($1) "," iso($2) }' "$D/looks.$2" > "$D/looks.csv"
	printf 'arrival_time,length,cpus\n0,%d,1\n' "$3" > "$D/trace.csv"
	# An hour is 3600 / HOUR_S times as long: so is the power less, that each
	# gram is worth deciding for as there.
	lowtide simulate "$D/trace.csv" --unit h --at "$(iso "$5")" --carbon "$D/hours.csv" --forecast perfect \
	    --policy lowtide-suspend --wait "$(((delay * hour - ($5 - $4)) * 3600 / hour))s,0s" --short 1000h \
	    --min-saving 5 --looks "$D/looks.csv" --pauses "$D/pauses.csv" \
	    --watts "$(awk -v h="$hour" 'BEGIN { print 26045 * h / 3600 }')" \
	    --idle "$(awk -v h="$hour" 'BEGIN { print 2000 * h / 3600 }')" > /dev/null
	awk -F, -v begin="$begin" -v week="$week" -v hour="$hour" -v end="$6" '
	function second(t) { gsub(/[-T:Z]/, " ", t); return begin + (mktime(t, 1) - week) * hour / 3600 }
	NR > 1 && second($2) < end { print second($2), second($3) }' "$D/pauses.csv"
}
# late LIMIT_S ID: seconds after a job was to be looked at, or to go on, at most.
late() {
	awk -v limit="$1" '
	FILENAME == ARGV[1] { at[NR] = $1; n = NR; next }
	$1 == limit {
		while (i < n && at[i] <= $2) i++
		if (at[i] > $2 && at[i] - $5 > most) most = at[i] - $5
	}
	END { print most + 0 }' "$D/looks.$2" "$LOOKS"
}

other=0 pauses=0 latest=0
for i in "${!work[@]}"; do
	id=${ids[i]} limit=$(($(limit_of "$i") * 60))
	read -r submit start end < <(sacct -nXP -j "$id" -o Submit,Start,End | tr '|' ' ')
	simulated $limit "$id" "${work[i]}" "$submit" "$start" "$end" > "$D/simulated.$id"
	awk -v id="$id" '$1 == id { print $2, $3 }' "$D/suspends" > "$D/done.$id"
	echo "# job $id, hours of pauses on Slurm: $(awk -v b="$begin" -v h="$hour" '{ printf "%.1f-%.1f ", ($1 - b) / h, ($2 - b) / h }' "$D/done.$id")"
	diff "$D/done.$id" "$D/simulated.$id" | sed 's/^/#   /' || true
	other=$((other + $(diff "$D/done.$id" "$D/simulated.$id" | grep -c '^[<>]' || true)))
	pauses=$((pauses + $(wc -l < "$D/done.$id")))
	late=$(late $limit "$id")
	latest=$((late > latest ? late : latest))
done
goal 'pauses of one and not of the other, to the second' $other 0
goal 'pauses that are too few of 9' $((pauses < 9 ? 9 - pauses : 0)) 0
goal 'seconds that lowtided looked late, at most' $latest 3
! grep -q missed "$D/goals"
