#!/usr/bin/env bats
# lowtide-node: a cloud's notice reaches lowtided and the jobs, from the node
# that it is about and from no other. The clouds are played, by their formats;
# munge, Slurm and the rest are real, and each node has an address of its own.
load tricks

METADATA=$PROJECT/build/tests/tools/metadata_server
declare -A ADDRESS=([v1]=127.0.0.11 [v2]=127.0.0.12)
for n in 1 2 3 4 5 6 7 8; do ADDRESS[s$n]=127.0.0.2$n; done

setup_file() {
	export ACCOUNTS=vision TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export LAYOUT=$BATS_TEST_DIRNAME/node.conf EXTRA='KillWait=2'
	cluster_up "
mode: observe
timezone: UTC
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {carbon: grid}
  spot: {carbon: grid, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
"
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	mkdir "$D/cloud"
	: > "$D/pids"
	"$METADATA" 0 "$D/cloud" > "$D/cloud.port" 2> "$D/log/cloud" 3>&- 4>&- &
	echo $! >> "$D/pids"
	for n in "${!ADDRESS[@]}"; do munged_of $n; done
	within 10 test -s "$D/cloud.port"
}
teardown_file() {
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	[ ! -s "$D/pids" ] || kill $(cat "$D/pids") 2>/dev/null || true
	cluster_down
}
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
}
teardown() {
	[ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 "$D"/log/lowtided* "$D"/log/node.*
	for n in "${!ADDRESS[@]}"; do leave "$n"; done
}

# munge on a node: the cluster's key, and an address of its own.
munged_of() { # munged_of NODE
	munged --foreground --force --origin="${ADDRESS[$1]}" --socket="$D/run/munge.$1" \
	    --key-file="$D/etc/munge.key" --pid-file="$D/run/munged.$1.pid" \
	    --log-file="$D/log/munged.$1.log" --seed-file="$D/run/munge.$1.seed" \
	    >> "$D/log/munged.$1.out" 2>&1 3>&- 4>&- &
	echo $! >> "$D/pids"
	within 10 munge -S "$D/run/munge.$1" -n >/dev/null
}
on() { # on NODE COMMAND...: lowtide or lowtide-node as if there
	exec env LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" LOWTIDE_RUN_DIR=/nowhere \
	    LOWTIDE_MUNGE_SOCKET="$D/run/munge.$1" "${@:2}"
}
watcher() { # watcher NODE ARGUMENTS...
	mkdir -p "$D/cloud/$1"
	rm -f "$D/cloud/$1"/*
	: > "$D/log/node.$1"
	on "$1" "$BUILD/lowtide-node" --node "$1" --metadata "http://127.0.0.1:$(cat "$D/cloud.port")/$1" "${@:2}" \
	    >> "$D/log/node.$1" 2>&1 3>&- 4>&- &
	echo $! > "$D/run/node.$1.pid"
	within 5 grep -q event=started "$D/log/node.$1"
}
leave() { # leave NODE: its watcher ends, cleanly
	[ -s "$D/run/node.$1.pid" ] || return 0
	kill "$(cat "$D/run/node.$1.pid")"
	wait "$(cat "$D/run/node.$1.pid")"
	rm "$D/run/node.$1.pid"
}
cloud() { # cloud NODE FILE TEXT: what its metadata service says from now on
	printf '%s' "$3" > "$D/cloud/$1/$2.next"
	mv "$D/cloud/$1/$2.next" "$D/cloud/$1/$2"
}
in_utc() { date -u -d "now + $1 seconds" +%FT%TZ; }
aws_action() { cloud "$1" instance-action "{\"action\":\"terminate\",\"time\":\"$(in_utc "$2")\"}"; } # NODE SECONDS
of() { scontrol show job "$1" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
state_is() { [ "$(of "$1" JobState)" = "$2" ]; }
node_has() { scontrol show node "$1" | grep -qE "State=[A-Z+]*$2"; }
runs_elsewhere() { state_is "$1" RUNNING && [ "$(of "$1" NodeList)" != "$2" ] && [ "$(of "$1" NodeList)" != '(null)' ]; }
told() { grep -q "event=told node=$1 " "$D/log/node.$1"; }
# A job, on a node that is $was, that counts its signals in a file with their times, and ends
# after SECONDS of work in all, which it keeps at a signal.
worker() { # worker NAME SECONDS
	script "$1" "
srun sh -c '
n=\$(cat $1.saved 2>/dev/null || echo 0)
trap \"echo \\\$n > $1.saved; date +%s.%N >> $1.signals\" USR1
touch $1.signals
while [ \$n -lt \$(($2 * 10)) ]; do n=\$((n + 1)); echo \$n > $1.count; sleep .1; done'"
	job -A vision -p spot -N1 -n1 --checkpoint=signal=USR1,write=1s --time=10 "$1"
	within 20 state_is "$id" RUNNING
	within 20 test -s "$1.count"
	was=$(of "$id" NodeList)
}

@test "AWS: a spot instance that is taken back; its job hears it and goes on elsewhere" {
	local at was
	worker one 600
	watcher "$was" --source aws
	within 5 grep -q instance-action "$D/cloud/$was/log"
	at=$(date +%s.%N)
	aws_action "$was" 12
	within 6 test -s one.signals
	echo "# notice to signal: $(awk -v a="$at" '{ printf "%.2f", $1 - a; exit }' one.signals) s" >&3
	node_has "$was" DRAIN
	within 30 runs_elsewhere "$id" "$was"
	[ "$(of "$id" Restarts)" = 1 ]
	[ "$(wc -l < one.signals)" -eq 1 ]
	[ "$(grep -c event=told "$D/log/node.$was")" -eq 1 ]
	leave "$was"
	grep -q event=ended "$D/log/node.$was"
	end "$id"
	scontrol update nodename="$was" state=resume
}
