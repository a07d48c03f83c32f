#!/usr/bin/env bats
# The power cap of dirty hours: what the job's environment and Slurm's own
# record of its step say, with a signal that is played; never over the user's
# own value. A GPU's frequency needs a GPU: that srun asks for it is seen here.
load helper

policy() { echo "
mode: $1
currency: USD
timezone: UTC
waiting_carbon_per_hour: 0
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3.60, gpu: A100-SXM4-40GB}
  h100: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 30, gpu: H100-SXM5}
  cpu: {carbon: day, price_per_node_hour: 1}
power_cap:
  above: 300
  rules:
    - {account: vision, gpu: V100-SXM2, gpu_freq: 1200, slow_down: 1.08, power: 0.75}
    - {account: vision, gpu: A100-SXM4-40GB, gpu_freq: medium, cpu_freq: low, slow_down: 1.1, power: 0.8}
    - {qos: slow, partition: cpu, cpu_freq: 1800000, slow_down: 1.2, power: 0.7}
"; }
setup_file() {
	export ACCOUNTS='vision audit' LAYOUT=$BATS_TEST_DIRNAME/env.conf SPANK_ARGS=power_cap=yes
	day 0 0 # 400 g for ever
	cluster_up "$(policy enforce)"
	cluster_use
	sacctmgr -iQ add qos slow
	sacctmgr -iQ modify user "$(id -un)" set qos+=slow
	cd /
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# Its variables, and what Slurm notes of a step that its srun starts.
W='echo "script=${SLURM_GPU_FREQ-unset},${SLURM_CPU_FREQ_REQ-unset},${LOWTIDE_POWER_CAP-unset}"
srun /usr/bin/scontrol show step "$SLURM_JOB_ID.0" | grep -oE "(CPU[A-Za-z_]*|TresFreq)=[^ ]*"'
set_script() { script work "$W"; }
out_of() { within 40 done_job "$1" && cat "slurm-$1.out"; }
explained() { lowtide explain "$1" 2> /dev/null | grep -q "$2"; }
V=(-A vision --gpus=1 --time=60 --expected-time=30m)
grams() { # grams HOURS=G...: from now on, hours and what they have
	local h=-1 n g part now
	now=$(($(date +%s) / 3600 * 3600))
	{
		echo time,g
		echo "$((now - 3600)),${1#*=}"
		for part; do
			n=${part%=*} g=${part#*=}
			for ((; n > 0; n--)); do echo "$((now + ++h * 3600)),$g"; done
		done
	} > "$BATS_FILE_TMPDIR/day.next"
	mv "$BATS_FILE_TMPDIR/day.next" "$BATS_FILE_TMPDIR/day.csv"
}
mode() {
	policy "$1" > "$D/etc/lowtide.yaml"
	restart
}

@test "a dirty hour: capped, told with the slow-down and kWh, and explained" {
	set_script
	job "${V[@]}" work
	# An eighth of the node: 25 W idle, 300 W of the GPU, and a core's 4.5 W.
	# (329.5 x 0.5 - 254.5 x 0.54) Wh = 27.3 Wh.
	[ "$(head -n 1 <<< "$said")" = 'sbatch: lowtide: capped: GPUs at 1200 MHz above 300 g/kWh (400 g): 8 % longer, 27 Wh less' ]
	out=$(out_of "$id")
	echo "$out"
	grep -qx script=1200,unset,1 <<< "$out"
	grep -qx TresFreq=gpu:1200 <<< "$out"
	within 20 explained "$id" 'capped: GPUs at 1200 MHz above 300 g/kWh (400 g): 8 % longer, 27 Wh less, if it starts before '
	[ "$(lowtide explain --json "$id" | jq -c '.quote.capped | [.gpu_freq, .slow_down, .less_wh, .mean_g]')" = '["1200",1.08,27,400]' ]
	# 254.5 W x 0.54 h x 400 g/kWh against 329.5 W x 0.5 h.
	[ "$(lowtide explain --json "$id" | jq '.quote.home_expected.carbon_mg')" -eq 65900 ]
	mg=$(lowtide explain --json "$id" | jq '.quote.plan_expected.carbon_mg')
	# 54,972, and up to a second more of what is planned in whole seconds.
	[ "$mg" -ge 54972 ]
	[ "$mg" -le 55001 ]
}

@test "GPUs and CPUs; CPUs alone, by QOS and partition; --export=NONE" {
	set_script
	job -A vision -p spot --gpus=1 --time=60 --expected-time=30m work
	[[ "$said" == *'capped: GPUs at medium, CPUs at low'* ]]
	spot=$id
	job -A audit -p cpu --qos=slow -n1 --time=60 --expected-time=30m --export=NONE work
	[[ "$said" == *'capped: CPUs at 1800000 kHz above'* ]]
	out=$(out_of "$spot")
	grep -qx script=medium,low,1 <<< "$out"
	grep -qx TresFreq=gpu:medium <<< "$out"
	grep -qx CPU_max_freq=Low <<< "$out"
	out=$(out_of "$id")
	grep -qx script=unset,1800000,1 <<< "$out"
	grep -qx CPU_max_freq=1800000 <<< "$out"
}

@test "the user's own value stands, however it was given" {
	local ids=() i
	set_script
	own() { # own ARGUMENTS: not told of a cap
		job "${V[@]}" "$@" work
		ids+=("$id")
		[[ "$said" != *capped* ]]
	}
	own --gpu-freq=high
	own --cpu-freq=high
	SLURM_GPU_FREQ=700 own
	for i in "${ids[@]}"; do within 40 done_job "$i"; done
	[[ "$(cat "slurm-${ids[0]}.out")" == script=high,unset,unset* ]]
	[[ "$(cat "slurm-${ids[1]}.out")" == script=unset,[Hh]igh,unset* ]]
	[[ "$(cat "slurm-${ids[2]}.out")" == script=700,unset,unset* ]]
}

@test "no rule, no time, no script: not capped" {
	local ids=() i
	set_script
	uncapped() { # uncapped ARGUMENTS: the job of that, for later
		job "$@" work
		ids+=("$id")
		[[ "$said" != *capped* ]]
	}
	uncapped -A audit --gpus=1 --time=60 --expected-time=30m
	uncapped -A vision -p h100 --gpus=1 --time=60 --expected-time=30m
	# 58 minutes x 1.08 pass the limit of an hour; so may what nobody knows.
	uncapped -A vision --gpus=1 --time=60 --expected-time=58m
	uncapped -A vision --gpus=1 --time=60
	run -0 --separate-stderr srun "${V[@]}" sh -c 'echo "${SLURM_GPU_FREQ-unset}"' < /dev/null
	[ "$output" = unset ]
	[[ "$stderr" != *capped* ]]
	for i in "${ids[@]}"; do
		[[ "$(out_of "$i")" == script=unset,unset,unset* ]]
	done
	[ "${#ids[@]}" -eq 4 ]
}

# Within a capped job, a job has its own: audit's has none.
@test "a job of a job is not capped by the outer one" {
	set_script
	job "${V[@]}" --wrap 'echo "$SLURM_GPU_FREQ"; sbatch --wait -A audit -o inner --gpus=1 --time=60 --expected-time=30m ./work'
	[ "$(out_of "$id" | head -n 1)" = 1200 ]
	[[ "$(cat inner)" == script=unset,unset,unset* ]]
}

# Told for a start in the dirty hours: what starts later than they last is not
# capped, by the quote as it is at the start.
@test "a start after the dirty hours" {
	set_script
	job "${V[@]}" --hold work
	[[ "$said" == *capped* ]]
	quote=$(scontrol show job "$id" | sed -n 's/ *AdminComment=//p')
	scontrol update job="$id" admincomment="$(sed -E 's/(cap,1200,-),[0-9]+/\1,1700000000/' <<< "$quote")"
	scontrol release "$id"
	[[ "$(out_of "$id")" == script=unset,unset,unset* ]]
}

@test "doctor wants the line on compute nodes" {
	run lowtide doctor
	[[ "$output" == *"compute nodes ask for a job's power cap"* ]]
	sed -i 's/ power_cap=yes//' "$D/etc/plugstack.conf"
	mend=$(lowtide doctor --json | jq -r '.findings[] | select(.check == "power_cap").mend')
	set_script
	job "${V[@]}" work
	[[ "$(out_of "$id")" == script=unset,unset,unset* ]]
	bash -c "$mend" # the line to paste
	grep ' power_cap=yes' "$D/etc/plugstack.conf"
}

@test "advise tells and changes nothing" {
	set_script
	mode advise
	job "${V[@]}" -p ondemand work
	[[ "$said" == *'would be capped: GPUs at 1200 MHz'* ]]
	[[ "$(out_of "$id")" == script=unset,unset,unset* ]]
	within 20 explained "$id" 'would be capped: GPUs'
	mode enforce
}

@test "clean hours: not capped, and a job that is moved to them is not" {
	set_script
	day 3 9 # dirty for three hours, then clean for six
	restart
	job "${V[@]}" --carbon-aware=carbon work
	[[ "$said" != *capped* ]]
	is_in "$id" 3
	scancel "$id"
	# Not moved, it is.
	job "${V[@]}" work
	[[ "$said" == *capped* ]]
	grep -qx script=1200,unset,1 <<< "$(out_of "$id")"
	day -1 100 # clean from the last hour on
	restart
	job "${V[@]}" work
	[[ "$said" != *capped* ]]
	[[ "$(out_of "$id")" == script=unset,unset,unset* ]]
}

# Decided again by lowtided, while it waits: the cap goes along.
@test "a plan that follows the hours loses its cap, and gets one at once" {
	set_script
	grams 5=500 6=350 180=500 # the best there are, and above the bound
	restart
	job "${V[@]}" -p ondemand --carbon-aware=carbon work
	is_in "$id" 5
	quote() { scontrol show job "$id" | grep -o 'lowtide:1 [^;]*'; }
	[[ "$said" == *'GPUs at 1200 MHz above 300 g/kWh (350 g)'* ]]
	[[ "$(quote)" == *,cap,1200,-,*,300,350* ]]
	grams 2=500 6=100 180=500
	restart
	moved() { is_in "$id" 2; }
	within 40 moved
	[[ "$(quote)" != *,cap,* ]]
	within 20 known "$id"
	lowtide now "$id"
	grep -qx script=1200,unset,1 <<< "$(out_of "$id")"
	[[ "$(quote)" == *,cap,1200,-,*,300,500* ]]
}
