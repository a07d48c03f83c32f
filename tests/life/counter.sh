#!/bin/sh
# A job that counts to $1 in steps of half a second, saves each 5 s and when it
# is asked to, and goes on from what it saved. NAME.log: where it began, what
# the run before had reached, when and on which node it was asked, and its end.
id=$SLURM_JOB_ID
save() { echo "$n" > "$id.part" && mv "$id.part" "$id.saved"; }
n=$(cat "$id.saved" 2>/dev/null || echo 0)
echo "from $n reached $(cat "$id.count" 2>/dev/null || echo 0)" >> "$id.log"
trap 'save; echo "asked $(date +%s.%N) $SLURMD_NODENAME" >> "$id.log"' USR1
while [ "$n" -lt "$1" ]; do
	n=$((n + 1))
	echo "$n" > "$id.now" && mv "$id.now" "$id.count"
	[ $((n % 10)) -ne 0 ] || save
	sleep .5
done
echo "done $n" >> "$id.log"
