#!/usr/bin/env bats
# GPUs as sites have them: names of 44 bytes, one that no table has, a node of
# two types of which one is MIG.
load helper

setup_file() {
	export LAYOUT=$BATS_TEST_DIRNAME/gpus.conf
	export GRES=$BATS_FILE_TMPDIR/gres.conf
	cat > "$GRES" <<-'G'
	NodeName=v1 Name=gpu Type=v100 File=@DIR@/gpu/g[0-7]
	NodeName=b1 Name=gpu Type=nvidia_rtx_pro_6000_blackwell_server_edition File=@DIR@/gpu/g[0-7]
	NodeName=n1 Name=gpu Type=abacus_9000 File=@DIR@/gpu/g[0-7]
	NodeName=x1 Name=gpu Type=a100 File=@DIR@/gpu/g[0-3]
	NodeName=x1 Name=gpu Type=nvidia_a100_3g.20gb File=@DIR@/gpu/g[4-7]
	G
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
max_delay: 1h
partitions:
  home: {price_per_node_hour: 24, carbon: 500, node_idle_w: 400, node_cpu_w: 800}
  bw: {price_per_node_hour: 600, carbon: 500, node_idle_w: 400, node_cpu_w: 800}
  new: {price_per_node_hour: 8, carbon: 500, node_idle_w: 400, node_cpu_w: 800}
  mixed: {price_per_node_hour: 16, carbon: 500, node_idle_w: 400, node_cpu_w: 800}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

plan() { # plan PARTITION ARGUMENTS: the plan's line of it
	local name=$1
	shift
	lowtide plan --time=2:00:00 --carbon-aware=carbon "$@" --wrap x \
	    > "$BATS_TEST_TMPDIR/plan" 2>&1 || true
	cat "$BATS_TEST_TMPDIR/plan" >&2
	grep -E "^[ *]*$name " "$BATS_TEST_TMPDIR/plan"
}

@test "a GPU that no table has is not 0 W: no carbon, no target by carbon" {
	run plan new --gpus=1
	[[ $output == *"new "*"no carbon known to compare"* ]]
	[[ $output != *"* new "* ]]
}

@test "nor is it at home: carbon is not known, in plan and explain" {
	run plan new -p new --gpus=1
	[[ $output == *'* new '*'$2.00         -  '* ]]
	job -p new --gpus=1 --time=5 --wrap 'sleep 1'
	within 60 settled "$id"
	lowtide explain "$id" | grep -F 'nobody knows the power of the GPUs of new'
	[ "$(runs_of "$id" carbon_mg)" = 0 ]
	lowtide explain "$id" | grep -F '800 W CPUs + GPUs that nobody knows the power of a node'
}

# By hand, of 1 of 64 CPUs: 400 W / 8 + 800 W / 64 + 600 W for 2 h at 500 g/kWh.
@test "a type of 44 bytes stays where it is, is known, and runs" {
	local type=nvidia_rtx_pro_6000_blackwell_server_edition
	run plan bw -p bw --gres=gpu:$type:1
	[[ $output == *'* bw '*'$150.00     663 g  best'* ]]
	job -p bw --gres=gpu:$type:1 --time=5 --carbon-aware --wrap 'sleep 1'
	within 60 done_job "$id"
	state_is "$id" COMPLETED
}

# Nobody named a partition, and home is cheaper: it has no such GPU.
@test "nor is it moved to where Slurm would refuse it" {
	local type=nvidia_rtx_pro_6000_blackwell_server_edition
	scontrol update partition=bw default=yes
	part stop lowtided
	part start lowtided
	job --gpus=1 --time=5 --carbon-aware=cost --hold --wrap 'sleep 1'
	[ "$(field "$id" %P)" = home ]
	scancel "$id"
	for asks in "gpu:$type:1" "gpu:$type:8"; do
		job --gres="$asks" --time=5 --carbon-aware=cost --hold --wrap 'sleep 1'
		[ "$(field "$id" %P)" = bw ]
		scancel "$id"
	done
	scontrol update partition=home default=yes
	part stop lowtided
	part start lowtided
}

# 400 W / 8 x GPUs + 12.5 W + 400 W for each A100 and 171 for each slice.
@test "of two types a job gets, and is counted with, the one that it names" {
	job -p mixed --gres=gpu:nvidia_a100_3g.20gb:1 --time=5 --carbon-aware --wrap 'sleep 1'
	[[ $said != *"can't run"* ]]
	within 60 done_job "$id"
	state_is "$id" COMPLETED
	plan mixed -p mixed --gres=gpu:nvidia_a100_3g.20gb:4 | grep -F '897 g'
	plan mixed -p mixed --gres=gpu:a100:4 | grep -F '1.8 kg'
	plan mixed -p mixed --gpus=8 | grep -F '2.7 kg'
	plan mixed -p mixed --gpus=1 | grep -F '463 g'
}

@test "several types at once are left to Slurm" {
	run plan mixed -p mixed --gres=gpu:a100:1,gpu:nvidia_a100_3g.20gb:1
	[[ $output != *"can't run"* ]]
	job -p mixed --gres=gpu:a100:1,gpu:nvidia_a100_3g.20gb:1 --time=5 --carbon-aware --wrap 'sleep 1'
	within 60 done_job "$id"
	state_is "$id" COMPLETED
}

@test "doctor names the GPU, its partition and the key to write" {
	run lowtide doctor
	[[ $output == *"partition new: GPU of Gres type abacus_9000"* ]]
	[[ $output == *"node_gpu_w:"* ]]
	[[ $output != *"partition mixed: GPU"* ]]
	[[ $output != *"partition bw: GPU"* ]]
}
