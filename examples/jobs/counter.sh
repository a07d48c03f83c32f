#!/bin/sh
#SBATCH --job-name=counter --time=1:00:00
#SBATCH --carbon-aware --checkpoint=write=1s --signal=B:USR1@60
#SBATCH --open-mode=append
# Counts to $1 (default 600), one a second: the smallest job that checkpoints,
# goes on from its checkpoint and stops early. $2 is the checkpoint's file.
to=${1:-600}
file=${2:-counter.checkpoint}
every=${LOWTIDE_CHECKPOINT_INTERVAL_SECONDS:-3600}

# How far it is, for lowtide, if LOWTIDE_PROGRESS_FILE is exported and the job
# is asked by --checkpoint=signal=: by that it proves that it goes on.
# train-checkpoint.sh does both.
tell() {
	[ -z "${LOWTIDE_PROGRESS_FILE:-}" ] || echo "$*" > "$LOWTIDE_PROGRESS_FILE"
}

# The new one takes the old one's place at once: a kill leaves either, whole.
checkpoint() {
	echo "$count" > "$file.new" && sync "$file.new" && mv "$file.new" "$file"
	written=$(date +%s)
	tell "$count saved"
	echo "checkpoint at $count"
}

# USR1: the time limit comes, as --signal= asked; the B: is for this script, not
# for steps. TERM: the job is requeued, or its node is taken; Slurm kills soon
# after.
stop=
trap 'stop=USR1' USR1
trap 'stop=TERM' TERM

count=0
if [ -s "$file" ]; then
	read -r count < "$file"
	echo "resumed at $count, restart ${LOWTIDE_RESTARTS:-0}"
fi
tell "$count"
written=$(date +%s)
while [ "$count" -lt "$to" ]; do
	# In the background: a signal ends the wait, and the trap is run at once.
	sleep 1 &
	wait $! || true
	if [ -n "$stop" ]; then
		checkpoint
		echo "stopped early by $stop"
		# Not an error, nor done: who asks finds out by the checkpoint.
		exit 0
	fi
	count=$((count + 1))
	tell "$count"
	if [ $(($(date +%s) - written)) -ge "$every" ]; then
		checkpoint
	fi
done
rm -f "$file"
echo "counted to $count"
