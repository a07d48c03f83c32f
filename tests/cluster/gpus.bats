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
  bw: {price_per_node_hour: 60, carbon: 500, node_idle_w: 400, node_cpu_w: 800}
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
	cat "$BATS_TEST_TMPDIR/plan"
	grep -E "^[ *>]*$name " "$BATS_TEST_TMPDIR/plan"
}

@test "a GPU that no table has is not 0 W: no carbon, no target by carbon" {
	run plan new --gpus=1
	[[ $output != *"best"*new* ]]
	plan new --gpus=1 | grep -F 'no carbon known to compare'
}

@test "nor is it at home: n/a" {
	plan new -p new --gpus=1 | grep -E 'n/a|-'
	! plan new -p new --gpus=1 | grep -E '[0-9] k?g '
}

@test "a type of 44 bytes stays where it is, and runs" {
	local type=nvidia_rtx_pro_6000_blackwell_server_edition id
	plan bw -p bw --gres=gpu:$type:1
	id=$(sbatch --parsable -p bw --gres=gpu:$type:1 --time=5 --carbon-aware --wrap 'sleep 1')
	[ "$(squeue -h -j "$id" -o %P)" = bw ] || [ -z "$(squeue -h -j "$id")" ]
	wait_for 'sacct -nXj '"$id"' -o state | grep -q COMPLETED'
}

@test "of two types a job gets the one that it names" {
	local id
	id=$(sbatch --parsable -p mixed --gres=gpu:nvidia_a100_3g.20gb:1 --time=5 --carbon-aware --wrap 'sleep 1' 2>&1)
	[[ $id != *"can't run"* ]]
	plan mixed -p mixed --gres=gpu:nvidia_a100_3g.20gb:4
	plan mixed -p mixed --gres=gpu:a100:4
	plan mixed -p mixed --gpus=8
}

@test "doctor names the GPU, its partition and the key to write" {
	run lowtide doctor
	[[ $output == *"partition new: GPU of Gres type abacus_9000"* ]]
	[[ $output == *"node_gpu_w:"* ]]
	[[ $output != *"partition mixed: GPU"* ]]
	[[ $output != *"partition bw: GPU"* ]]
}
