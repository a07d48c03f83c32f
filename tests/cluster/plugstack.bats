#!/usr/bin/env bats
# One line: SPANK alone decides in the client; lowtided's sweep finds what
# goes past it.
load helper

setup_file() {
	export ACCOUNTS='vision tiny free' SUBMIT=0
	day 12 20
	cluster_up '
mode: enforce
spot_proof: said # nothing proves where SPANK decides alone
currency: USD
timezone: UTC
hold_margin: 0
sources:
  day: {adapter: file, quantity: carbon, path: '"$BATS_FILE_TMPDIR"'/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
  h100: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 36}
power_cap:
  above: 299
  rules:
    - {account: free, gpu: V100-SXM2, gpu_freq: 1200, slow_down: 1.08, power: 0.75}
budgets:
  - {team: vision, period: month, amount: 10000}
  - {team: tiny, period: month, amount: 0.50}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

@test "a carbon-aware job is placed by SPANK in the client" {
	job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: spot"* ]]
	running_in_spot() { [ "$(field "$id" '%T %P')" = 'RUNNING spot' ]; }
	within 20 running_in_spot
	scancel "$id"
}

@test "a job that did not ask stays where it was sent, without a word" {
	job -A vision --gpus=1 --time=10 --wrap 'sleep 1'
	[[ "$said" != *lowtide* ]]
	within 30 done_job "$id"
	# slurmdbd learns the partition of a short job some seconds later.
	at_home() { [ "$(sacct -nXP -j "$id" -o Partition)" = ondemand ]; }
	within 30 at_home
	within 120 settled "$id"
	[ "$(money_of "$id")" -gt 0 ]
}

@test "sbatch of a team at its limit is refused, and told why" {
	run ! sbatch -A tiny --gpus=8 -N1 --time=1:00:00 --wrap true
	[[ "$output" == *'tiny has $0.50 of $0.50 left'* ]]
	[[ "$output" == *'$3.63'* ]]
}

@test "what slips past the plugin is held by the sweep within ten seconds" {
	: > "$D/empty.conf"
	sed "s|^PlugStackConfig=.*|PlugStackConfig=$D/empty.conf|" "$D/etc/slurm.conf" > "$D/etc/bare.conf"
	id=$(SLURM_CONF=$D/etc/bare.conf sbatch --parsable -A tiny --begin=now+30 --gpus=8 -N1 --time=1:00:00 --wrap 'sleep 30')
	held() { [ "$(field "$id" %r)" = JobHeldAdmin ]; }
	within 10 held
	scancel "$id"
}

@test "plan answers with the table and submits nothing" {
	run -0 lowtide plan -- -A vision --gpus=8 -N1 --time=8:00:00 --wrap true
	[[ "$output" == *spot* ]]
	[[ "$output" == *ondemand* ]]
	[ -z "$(squeue -h)" ] || ! squeue -h -o %j | grep -q plan
}

# No quote is written with the job: the command's word goes along with it.
@test "a power cap that SPANK decided reaches the script, and no other job" {
	local w='echo "${SLURM_GPU_FREQ-unset},${LOWTIDE_POWER_CAP-unset}"' ids=() i
	job -A free --gpus=1 --time=60 --expected-time=30m --wrap "$w"
	[[ "$said" == *'capped: GPUs at 1200 MHz above 299 g/kWh (300 g)'* ]]
	ids+=("$id")
	job -A free --gpus=1 --time=60 --expected-time=30m --export=NONE --wrap "$w"
	ids+=("$id")
	job -A free --gpus=1 --time=60 --expected-time=30m --wrap "$w; sbatch --wait -A vision -o inner --gpus=1 --time=60 --expected-time=30m --wrap '$w'"
	ids+=("$id")
	for i in "${ids[@]}"; do
		within 60 done_job "$i"
		[ "$(head -n 1 "slurm-$i.out")" = 1200,1 ]
	done
	[ "$(cat inner)" = unset,unset ]
	job -A free --gpus=1 --time=60 --expected-time=30m --gpu-freq=high --wrap "$w"
	[[ "$said" != *capped* ]]
	within 40 done_job "$id"
	[ "$(cat "slurm-$id.out")" = high,unset ]
}

@test "with the daemon dead and the market gone sbatch goes on" {
	part stop lowtided KILL
	job -A vision --gpus=1 --time=10 --wrap true
	mv "$D/run/lowtide" "$D/run/away"
	job -A vision --carbon-aware --gpus=1 --time=10 --wrap true
	job -A tiny --gpus=1 --time=1 --wrap true
	mv "$D/run/away" "$D/run/lowtide"
	part start lowtided
}

@test "login and compute nodes that have none of lowtide's directories" {
	[ -n "$ROOT" ] || skip 'needs root for a mount namespace'
	script inside "mount -t tmpfs none $D/run/lowtide && mount -t tmpfs none $D/lowtide &&
exec sbatch --parsable -A vision --gpus=1 --time=10 --wrap 'echo ok'"
	id=$(unshare -m ./inside)
	within 30 done_job "$id"
	[ "$(cat "slurm-$id.out")" = ok ]
}

quote() { scontrol show job "$1" | grep -o 'lowtide:1 [^;]*'; }
told() { quote "$1" | grep -q ' ask='; } # lowtided knows what was asked
place() { # place ARGUMENTS...: a job for all of the one node of h100
	job --carbon-aware=carbon -p h100 --exclusive --time=2:00:00 "$@" --wrap 'sleep 60'
}
begins() { for id in "${ids[@]}"; do begin "$id"; done; }
empty() { # empty CLEAN DIRTY: no job is there, nor a plan for one, and a day as day()
	scancel --quiet --user "$(id -un)"
	day "$1" "$2"
	restart
}

@test "submissions right after one another see each other, and those at one time, too" {
	empty 2 24
	ids=()
	for _ in 1 2 3 4 5; do
		place -A free
		ids+=("$id")
	done
	[ "$(begins | sort -u | wc -l)" -eq 5 ]
	[ "$(begins | at_once 7200)" -eq 1 ]
	# And who asks for a plan sees them.
	run -0 lowtide plan -- -A free -p h100 --exclusive --time=2:00:00 --wrap true
	last=$(begins | sort -n | tail -n 1)
	[[ "$output" == *"$(date -u -d "@$((last + 7200))" '+%H:%M')"* ]]
	for i in 1 2 3 4 5; do
		sbatch --parsable -A free --carbon-aware=carbon -p h100 --exclusive --time=2:00:00 \
		    --wrap true > "at_once.$i" 2>/dev/null 3>&- 4>&- &
	done
	wait
	ids+=($(cat at_once.?))
	[ ${#ids[@]} -eq 10 ]
	[ "$(begins | at_once 7200)" -eq 1 ]
	for id in "${ids[@]}"; do within 20 told "$id"; done
	[ "$(begins | at_once 7200)" -eq 1 ]
	scancel "${ids[@]}"
}

@test "a job that waits is decided again, with a budget and without, and explain tells why" {
	empty 12 20
	place -A free
	free=$id
	is_in "$free" 12
	place -A vision --comment 'for the paper'
	mine=$id
	within 20 told "$free"
	within 20 told "$mine"
	day 4 14
	restart
	moved() { is_in "$1" 4 || is_in "$1" 6; }
	within 40 moved "$free"
	within 40 moved "$mine"
	[ "$(begin "$free")" != "$(begin "$mine")" ]
	follows() { [ "$(lowtide explain "$1" --json | jq -r '.quote.plan_start | fromdateiso8601')" = "$(begin "$1")" ]; }
	within 20 follows "$free"
	within 20 follows "$mine"
	[ "$(lowtide explain "$free" --json | jq -r '.plans[0].why')" = submitted ]
	run -0 lowtide explain "$free"
	[[ "$output" == *"Decided by objective carbon in mode enforce."* ]]
	[[ "$output" == *"without lowtide  h100"* ]]
	[[ "$output" == *"Decided "*" times:"*"better by newer figures"* ]]
	# What the user wrote stays, and what is held is for the new hours.
	[ "$(field "$mine" %k)" = 'for the paper' ]
	[ "$(lowtide explain "$mine" --json | jq -r .hold.state)" = open ]
	scancel "$free" "$mine"
}

@test "what the user fixed stays, and so does what he changed since" {
	empty 12 20
	place -A free --begin=now+7hours
	given=$id
	place -A free --deadline=now+20hours # within its half hour of slack
	late=$id
	place -A free
	changed=$id
	within 20 told "$late"
	within 20 told "$changed"
	later() { scontrol update jobid="$changed" starttime="$(date -d '+9 hours' +%FT%T)"; }
	within 20 later
	day 19 24
	restart
	sleep 8
	is_in "$given" 7
	is_in "$changed" 9
	[ "$(begin "$late")" -le $(($(date +%s) + 20 * 3600 - 7200 - 1800)) ]
	! told "$given"
	scancel "$given" "$late" "$changed"
}

@test "a plan that is forged or garbled is harmless, and nobody's but the teller's" {
	[ -n "$ROOT" ] || skip 'needs root to be another'
	empty 12 20
	ask() { # ask USER PATH BODY: the status
		setpriv --reuid="$1" --clear-groups curl -s -o reply.json -w '%{http_code}' \
		    --unix-socket "$D/run/lowtide/lowtided.sock" -d "$3" "http://localhost/v1/plan$2"
	}
	chmod 1777 . && : > reply.json && chmod 666 reply.json
	place -A free
	within 20 told "$id"
	text="$(quote "$id" | sed 's/ lever=[^ ]*//; s/ why=[^ ]*//; s/ run=[^ ]*//');"
	from=$(begin "$id")
	scancel "$id"
	plan() { # plan NODES_PPM START END QUOTE
		echo "{\"generation\":1,\"seen\":9000000000000000000,\"nodes_ppm\":$1,\"start\":$2,\"end\":$3,\"quote\":\"$4\"}"
	}
	[ "$(ask nobody '' "$(plan 1000000 "$from" $((from + 7200)) "$text")")" = 200 ]
	[ "$(ask nobody '?uid=0' "$(plan 1000000 "$from" $((from + 7200)) "$text")")" = 403 ]
	for body in '' '{' '{}' '[]' '{"generation":-1,"seen":0}' '{"generation":1,"seen":"x"}' \
	    "$(plan 1000000 "$from" $((from + 7200)) 'lowtide:1 q=;')" \
	    "$(plan 1000000 "$from" $((from + 7200)) "${text/ ask=*;/;}")" \
	    "$(plan 1000000 "$from" $((from + 7200)) "${text/plan=h100/plan=nowhere}")" \
	    "$(plan 1000001 "$from" $((from + 7200)) "$text")" "$(plan 0 "$from" $((from + 7200)) "$text")" \
	    "$(plan 1000000 "$from" "$from" "$text")" "$(plan 1000000 1 7200 "$text")"; do
		[ "$(ask nobody '' "$body")" = 400 ]
	done
	# Somebody else's job that looks like the one of his plan.
	job -A free -p h100 --exclusive --time=2:00:00 --begin="$(date -d "@$from" +%FT%T)" --comment x --wrap true
	sleep 8
	! told "$id"
	scancel "$id"
	# Until it is known that no job comes, the hour is his.
	place -A free
	[ "$(begin "$id")" -ge $((from + 7200)) ]
	scancel "$id"
}

@test "on a login node lowtided --follow hands plans on" {
	empty 2 20
	mkdir "$D/login"
	sed "s|run_dir=[^ ]*|run_dir=$D/login|" "$D/etc/plugstack.conf" > "$D/etc/login.stack"
	sed "s|^PlugStackConfig=.*|PlugStackConfig=$D/etc/login.stack|" "$D/etc/slurm.conf" > "$D/etc/login.conf"
	LOWTIDE_RUN_DIR=$D/login lowtided --follow "127.0.0.1:$LOWTIDE_PORT" > "$D/log/follow.out" 2>&1 3>&- 4>&- &
	follower=$!
	echo "$follower" > "$D/run/follow.shpid"
	there() { [ -s "$D/login/market" ]; }
	within 30 there
	ids=()
	for _ in 1 2 3; do
		SLURM_CONF=$D/etc/login.conf place -A free
		ids+=("$id")
	done
	kill "$follower"
	[ "$(begins | sort -u | wc -l)" -eq 3 ]
	[ "$(begins | at_once 7200)" -eq 1 ]
	for id in "${ids[@]}"; do within 20 told "$id"; done
	scancel "${ids[@]}"
}
