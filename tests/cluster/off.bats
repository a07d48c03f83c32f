#!/usr/bin/env bats
# The off switch: one file, in force within two seconds, with lowtided dead or
# alive, and nothing restarted.
load helper

setup_file() {
	export ACCOUNTS='vision free'
	export METRICS=$((20000 + RANDOM % 9000))
	cluster_up "
metrics: {listen: $METRICS}
mode: enforce
currency: USD
timezone: UTC
on_unknown: hold
spot_proof: said
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2}
classes:
  cheap: {account: free, default: cost}
budgets:
  - {team: vision, period: month, amount: 1, on_exceed: hold}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() {
	last_words
	lowtide on
	scancel -u "$(id -un)"
	[ -S "$D/run/lowtide/lowtided.sock" ] && lowtide status > /dev/null 2>&1 || part start lowtided
}
asks() { job --time=1:00:00 --exclusive "$@" --wrap 'sleep 2'; }
is_held() { [ "$(field "$id" %T)" = PENDING ] && [[ "$(field "$id" %r)" == JobHeld* ]]; }
metrics() { # without curl, which a node need not have
	exec 9<> "/dev/tcp/127.0.0.1/$METRICS"
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&9
	tr -d '\r' <&9
	exec 9>&-
}
# A second and a half: within two, with what a command takes.
thrown() { lowtide off "$@" && sleep 1.5; }

@test "off with lowtided dead: jobs pass, dearer too, as if lowtide were not there" {
	asks -A vision
	is_held
	# It costs 3.78 of 1 in all.
	[[ "$said" == *"held until the budget is raised or --time lowered"* ]]
	first=$id
	within 10 known "$first"
	part stop lowtided KILL
	run -0 thrown "prices are wrong today"
	[[ "$output" == *"lowtide is off on "*" by "*": prices are wrong today"* ]]
	[ "$(stat -c %a "$D/etc/off")" = 644 ]
	asks -A vision
	[[ "$said" != *lowtide* ]]
	within 20 state_is "$id" COMPLETED
	# What was asked is not done, and said.
	asks -A free -p ondemand --carbon-aware
	[[ "$said" == *"lowtide: off since "*": prices are wrong today;"*"as it came"* ]]
	# It may have ended: squeue does not list it then.
	scontrol show job "$id" | grep -q ' *Partition=ondemand '
	[ "$(scontrol show job "$id" | grep -c lowtide:)" -eq 0 ]
	run ! sbatch -A free --carbon-plan --wrap true
	[[ "$output" == *"no plan: off since "* ]]
	asks -A vision --begin=now+1hour
	scontrol update job="$id" TimeLimit=3:00:00
	grep -q 'lowtide: off since .* by .*: prices are wrong today; jobs pass as without lowtide' "$D/log/slurmctld.log"
	run lowtide doctor
	[[ "$output" == *"switched off since "*": prices are wrong today: jobs pass as without lowtide"* ]]
	scancel "$id"
	# And on again, still without lowtided.
	run -0 lowtide on
	sleep 1.5
	asks -A vision
	is_held
	grep -q 'lowtide: switched on again' "$D/log/slurmctld.log"
}

@test "off with lowtided alive: what is held goes, and is charged afterwards" {
	within 20 lowtide status
	asks -A vision
	is_held
	held=$id
	within 10 known "$held"
	run -0 thrown
	asks -A vision
	within 30 state_is "$id" COMPLETED
	within 30 state_is "$held" COMPLETED
	lowtide status | grep -q '^off  *since .* by .*; lowtide on ends it$'
	lowtide status --json | jq -e '.off.by != "" and .off.reason == "" and .mode == "enforce"'
	metrics | grep -q '^lowtide_off 1$'
	grep -q 'event=off why="since ' "$D"/log/lowtided*.out
	# By its class it would have gone to spot.
	asks -A free -p ondemand
	[ "$(field "$id" %P)" = ondemand ]
	within 60 settled "$held"
	within 60 settled "$id"
	lowtide on
	within 5 grep -q 'event=on mode=enforce' "$D"/log/lowtided*.out
	lowtide status --json | jq -e '.off == null'
	asks -A vision
	is_held
}

@test "a file that others can write switches nothing off" {
	within 20 lowtide status
	: > "$D/etc/off"
	chmod 666 "$D/etc/off"
	sleep 1.5
	asks -A vision
	is_held
	run lowtide doctor
	[[ "$output" == *"it looks switched off, and is not: "*"mode is 0666"* ]]
	within 5 grep -q 'event=off_ignored' "$D"/log/lowtided*.out
	chmod 644 "$D/etc/off"
	touch "$D/etc/off"
	sleep 1.5
	asks -A vision
	! is_held
}

@test "SPANK that decides alone looks at it, too" {
	sed "s|^PlugStackConfig=.*|PlugStackConfig=$D/etc/alone.conf|" "$D/etc/slurm.conf" > "$D/etc/alone.slurm.conf"
	sed 's/$/ job_submit=no/' "$D/etc/plugstack.conf" > "$D/etc/alone.conf"
	run -0 thrown "a reason"
	run -0 env SLURM_CONF="$D/etc/alone.slurm.conf" sbatch -A free -p ondemand --time=10 --carbon-aware --wrap true
	[ "$(grep -c 'lowtide: off since .*: a reason; the job goes as it came' <<< "$output")" -eq 2 ]
	[ "$(field "${output##* }" %P)" = ondemand ] || [[ "$output" == *"batch job"* ]]
}
