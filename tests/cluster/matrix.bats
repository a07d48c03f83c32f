#!/usr/bin/env bats
# What a job finds of the precision variables: class x GPU x the user's own
# values, each combination once, read back from the environment of a task. A
# step has a task on each GPU; what it should find is worked out here from the
# table of what the vendors' GPUs can do, not by lowtide.
load helper

setup_file() {
	export ACCOUNTS='vision audit' LAYOUT=$BATS_TEST_DIRNAME/matrix.conf
	export SPANK_ARGS='gpu=p1:P100-PCIE-16GB,v1:V100-SXM2,t1:T4,a1:A100-SXM4-40GB,h1:H100-SXM5,m1:MI300X precision=account:audit:off,qos:half:fp16,partition:low:fp8'
	cluster_up '
mode: enforce
partitions:
  all: {carbon: 300}
  low: {carbon: 300}
'
	cluster_use
	sacctmgr -iQ add qos half
	sacctmgr -iQ modify user "$(id -un)" set qos+=half
	cd /
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# Tensor or matrix cores: none on Pascal; FP16 alone on Volta and Turing; BF16
# from Ampere on; FP8 from Hopper on, and on AMD's CDNA 3. n0 has no GPU. A class
# that a GPU lacks becomes the best that it has.
#    node auto bf16 fp16 fp8
TABLE='n0    -    -    -    -
       p1    -    -    -    -
       v1    fp16 fp16 fp16 fp16
       t1    fp16 fp16 fp16 fp16
       a1    bf16 bf16 fp16 bf16
       h1    bf16 bf16 fp16 fp8
       m1    bf16 bf16 fp16 fp8'
# What the user has of the three: ACCELERATE_MIXED_PRECISION,
# PL_TRAINER_PRECISION, NVIDIA_TF32_OVERRIDE.
OWN='-,-,- no,-,- -,32-true,- -,-,1 no,32-true,1 no,-,1'
# Who runs what: job, the rule's class there, and the --amp of its steps, which
# goes before the rule. Of two rules that match the first counts.
JOBS='plain - none,auto,off,bf16,fp16,fp8
      audit off none,auto,fp8
      half fp16 none,off,bf16
      low fp8 none,off,fp16
      both off none'

# Each line "JOB --AMP OWN NODE FOUND", as it should be.
expected() {
	awk -v table="$TABLE" -v own="$OWN" '
	BEGIN {
		lightning["fp16"] = "16-mixed"
		lightning["bf16"] = lightning["fp8"] = "bf16-mixed"
		split("auto bf16 fp16 fp8", class, " ")
		nodes = split(table, rows, "\n")
		for (r = 1; r <= nodes; r++) {
			split(rows[r], f, " ")
			node[r] = f[1]
			for (c in class)
				can[f[1], class[c]] = f[1 + c]
		}
		owns = split(own, mine, " ")
	}
	{
		amps = split($3, amp, ",")
		for (a = 1; a <= amps; a++)
		for (o = 1; o <= owns; o++)
		for (r = 1; r <= nodes; r++) {
			wants = amp[a] == "none" ? $2 : amp[a]
			split(mine[o], have, ",")
			is = wants == "-" || wants == "off" ? "-" : can[node[r], wants]
			if (have[1] == "-" && have[2] == "-" && is != "-") {
				have[1] = is
				have[2] = lightning[is]
			}
			if (have[3] == "-" && wants == "off")
				have[3] = 0
			print $1, amp[a], mine[o], node[r], have[1] "," have[2] "," have[3]
		}
	}' <<< "$JOBS"
}

@test "each class, GPU and value of the user's own" {
	local name rule amps args ids=() i
	script task 'echo "$1 $SLURMD_NODENAME ${ACCELERATE_MIXED_PRECISION--},${PL_TRAINER_PRECISION--},${NVIDIA_TF32_OVERRIDE--}"'
	# NAME AMPS OWN...: a step for each, with the user's own values alone.
	cat > steps <<- 'S'
		#!/bin/bash
		name=$1 amps=$2
		shift 2
		unset ACCELERATE_MIXED_PRECISION PL_TRAINER_PRECISION NVIDIA_TF32_OVERRIDE
		for amp in ${amps//,/ }; do
			for own; do
				IFS=, read -r a p t <<< "$own"
				(
					[ "$a" = - ] || export ACCELERATE_MIXED_PRECISION=$a
					[ "$p" = - ] || export PL_TRAINER_PRECISION=$p
					[ "$t" = - ] || export NVIDIA_TF32_OVERRIDE=$t
					option=()
					[ "$amp" = none ] || option=("--amp=$amp")
					srun --overlap "${option[@]}" ./task "$name $amp $own" < /dev/null
				) &
			done
			wait
		done
	S
	chmod 755 steps
	while read -r name rule amps; do
		args=(-A vision)
		case $name in
		audit) args=(-A audit) ;;
		half) args+=(--qos=half) ;;
		both) args=(-A audit --qos=half) ;;
		low) args+=(-p low) ;;
		esac
		job "${args[@]}" -N7 -n7 --time=10 -o "out.$name" steps "$name" "$amps" $OWN
		ids+=("$id")
	done <<< "$JOBS"
	for i in "${ids[@]}"; do within 90 done_job "$i"; done
	expected | sort > want
	# A busy machine makes srun give up a step that has ended; what it said counts.
	grep -vhE '^srun: (Job step aborted|launch/slurm):' out.* | sort > found
	diff want found > differs || { head -n 40 differs; false; }
	# Of the jobs 6, three times 3 and 1 classes; six sets of values, seven GPUs.
	[ "$(sort -u found | wc -l)" -eq $(((6 + 3 * 3 + 1) * 6 * 7)) ]
	echo "# $(wc -l < found) combinations" >&3
}
