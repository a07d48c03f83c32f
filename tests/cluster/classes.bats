#!/usr/bin/env bats
# Each key of a class on a real Slurm: who is placed without asking, how far, at
# what price, and who needs a smoke run first, whatever is tried around it.
load tricks

setup_file() {
	export ACCOUNTS='vision batch cheap big' TZ=UTC SBATCH_OUTPUT=/dev/null
	[ -z "$ROOT" ] || export USERS=daemon
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
on_unknown: reject
max_delay: 12h
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 0.90}
  h100: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 36}
classes:
  batch: {account: batch, default: on, max_delay: 0}
  cheap: {account: cheap, max_price: 2.50}
  big: {account: big, require_smoke: {above_node_hours: 4, within: 7d}}
"
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
is_completed() { squeue -h -t COMPLETED -o %j | grep -qx "$1"; }
refused() { # refused TEXT SBATCH-ARGUMENTS...
	run sbatch "${@:2}"
	[ "$status" -ne 0 ] || { echo "taken: $output"; return 1; }
	# Lines are broken where they would be longer than 100 columns, but for
	# Slurm's own, a component's number and a command to copy.
	[ "$(grep lowtide: <<< "$output" | grep -v 'lowtide: First: ' | sed 's/error: [0-9]*: /error: /' | wc -L)" -le 100 ]
	output=$(sed -E ':a; N; $!ba; s/\nsbatch: error: ([0-9]+: )?lowtide://g' <<< "$output")
	[[ $output == *"$1"* ]] || { echo "no \"$1\" in: $output"; return 1; }
}

@test "default: on places who did not ask, max_delay: 0 at once" {
	run sbatch -A batch -N 1 --exclusive --time=1:00:00 --wrap true
	[ "$status" -eq 0 ]
	[[ $output == *'lowtide: spot, now'* ]]
	[[ $output == *"placed by this site's default; --carbon-aware=off leaves a job alone"* ]]
	run sbatch -A vision -N 1 --exclusive --time=1:00:00 --wrap true
	[ "$status" -eq 0 ]
	[[ $output != *'lowtide:'* ]]
	run sbatch -A batch -N 1 --time=1:00:00 --carbon-aware=plan --wrap true
	[[ $output == *'class batch (account batch): placed without asking (balanced), at most '*' of delay'* ]]
}

@test "max_price rules out what is dearer, and refuses what is left with nothing" {
	refused 'max_price of class cheap: $2.50 a node-hour is the most, and on ondemand it is $3.60' \
	    -A cheap -N 1 --exclusive --time=1:00:00 --wrap true
	run sbatch -A cheap -N 1 --exclusive --time=1:00:00 --carbon-aware=cost --wrap true
	[ "$status" -eq 0 ]
	[[ $output == *'lowtide: spot,'* ]]
	refused '--max-price: $0.50 a node-hour is the most' \
	    -A vision -N 1 --exclusive --time=1:00:00 --carbon-aware=cost --max-price=0.50 --wrap true
	run sbatch -A vision -N 1 --time=1:00:00 --carbon-aware=plan --max-price=1 --wrap true
	[[ $output == *'a node-hour is too dear (36.00 at least, at most 1.00)'* ]]
}

@test "a large job is refused with the command of its smoke run, and taken after it" {
	script train.sh 'sleep 1'
	refused 'class big: above 4 node-hours a job needs a COMPLETED run of its name on at most 2 nodes within 7d, and train has none (this one asks for up to 6)' \
	    -J train -A big -N 2 --exclusive --time=3:00:00 train.sh
	[[ $output == *'First: sbatch --job-name=train --account=big --nodes=2 --time=0:30:00 '*'train.sh'* ]]
	smoke=$(sed -nE 's/.*First: (sbatch .*)/\1/p' <<< "$output")
	# Of four node-hours none is wanted.
	run sbatch -J train -H -A big -N 2 --exclusive --time=2:00:00 train.sh
	[ "$status" -eq 0 ]
	# The very command that was told.
	$smoke
	within 20 is_completed train
	taken() { sbatch -J train -H -A big -N 2 --exclusive --time=3:00:00 train.sh; }
	within 15 taken
	# Digits of a name do not count, another name does.
	run sbatch -J train_7 -H -A big -N 2 --exclusive --time=3:00:00 train.sh
	[ "$status" -ne 0 ]
	refused 'and other has none' -J other -A big -N 2 --exclusive --time=3:00:00 train.sh
	# Nor does another account's run.
	run sbatch -J train -H -A vision -N 2 --exclusive --time=3:00:00 train.sh
	[ "$status" -eq 0 ]
}

@test "nor by an array, a het job, no time limit, or a later change" {
	refused 'needs a COMPLETED run' -J many -A big -N 1 --exclusive --array=1-10 --time=1:00:00 --wrap true
	refused 'needs a COMPLETED run' -J het -A big -N 1 --exclusive --time=3:00:00 : -N 1 --exclusive --time=3:00:00 train.sh
	refused 'needs a COMPLETED run' -J long -A big -N 1 --exclusive --time=UNLIMITED --wrap true
	run sbatch --parsable -H -J small -A big -N 1 -n 2 --exclusive --time=1:00:00 --wrap true
	[ "$status" -eq 0 ]
	small=${lines[-1]}
	within 20 known "$small"
	scontrol update JobId="$small" TimeLimit=1:30:00
	run scontrol update JobId="$small" TimeLimit=9:00:00
	[ "$status" -ne 0 ]
	run scontrol update JobId="$small" NumNodes=2-2 TimeLimit=2:30:00
	[ "$status" -ne 0 ]
	# In two steps, before lowtided has looked between them.
	scontrol update JobId="$small" NumNodes=2-2
	run scontrol update JobId="$small" TimeLimit=2:30:00
	[ "$status" -ne 0 ]
	[ "$(shown "$small" TimeLimit)" = 01:30:00 ]
	# A large one that had its smoke run does not lend its place to a name
	# that had none.
	run sbatch --parsable -H -J train -A big -N 2 --exclusive --time=3:00:00 train.sh
	[ "$status" -eq 0 ]
	train=${lines[-1]}
	within 20 known "$train"
	run scontrol update JobId="$train" JobName=other
	[ "$status" -ne 0 ]
	[ "$(shown "$train" JobName)" = train ]
	# Out of another class into this one.
	run sbatch --parsable -H -J other -A vision -N 2 --exclusive --time=3:00:00 train.sh
	[ "$status" -eq 0 ]
	other=${lines[-1]}
	within 20 known "$other"
	run scontrol update JobId="$other" Account=big
	[ "$status" -ne 0 ]
}

@test "plan says what is missing; in observe the job goes on and explain tells" {
	run sbatch -J other -A big -N 2 --exclusive --time=3:00:00 --carbon-aware=plan --wrap true
	[[ $output == *'class big (account big): a smoke run above 4 node-hours'* ]]
	[[ $output == *'First: the same command with --job-name=other'* ]]
	sed -i 's/^mode: enforce/mode: observe/' "$D/etc/lowtide.yaml"
	observed() { sleep 1; id=$(sbatch --parsable -J other -H -A big -N 2 --exclusive --time=3:00:00 --wrap true 2>/dev/null); }
	within 30 observed
	told() { lowtide explain "$id" | grep -q 'mode enforce would have refused it'; }
	within 20 told
}
