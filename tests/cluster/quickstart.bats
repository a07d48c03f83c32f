#!/usr/bin/env bats
# The quick starts of docs/quickstart.md: the commands of each, as they stand
# there, on a private Slurm of that kind of site that knows nothing of lowtide.
load helper

# What a private cluster has elsewhere. sudo is a command of its own, below.
mapped() {
	sed -e "s|/etc/slurm/|$D/etc/|" \
	    -e "s|optional spank_lowtide.so|& run_dir=$D/run/lowtide|" \
	    -e "s|systemctl enable --now lowtided|'$CLUSTER' start '$D' lowtided|"
}

# site PARTITIONS...: NAME[:GRES] each, of one node; the first is Slurm's default
site() {
	local n=0 partition default=' Default=YES'
	export LAYOUT=$BATS_TEST_TMPDIR/layout SUBMIT=0 SPANK=0
	for partition; do
		n=$((n + 1))
		echo "NodeName=n$n NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+$n@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000${partition#"${partition%%:*}"}"
		echo "PartitionName=${partition%%:*} Nodes=n$n$default MaxTime=7-00:00:00 DefaultTime=1:00:00"
		default=
	done | sed 's/RealMemory=512000:\(.*\)/RealMemory=512000 Gres=\1/' > "$LAYOUT"
	cluster_up 'mode: observe'
	cluster_use
	rm "$D/etc/lowtide.yaml" # which cluster_up starts lowtided by
	part stop lowtided
	rm -rf "$D/lowtide" "$D/run/lowtide"
	mkdir "$D/bin"
	printf '#!/bin/sh\nexec env "$@"\n' > "$D/bin/sudo"
	chmod 755 "$D/bin/sudo"
	PATH=$D/bin:$PATH
}
teardown() {
	last_words
	cluster_down
}

# follow HEADING: its commands one by one; what the last one said in $said
follow() {
	local command last='' count=0
	while read -r command; do
		last=$command
		count=$((count + 1))
		echo "$command"
		said=$(eval "$(mapped <<< "$command")" 2>&1 3>&- 4>&-) || { echo "$said"; return 1; }
		echo "$said"
	done < <(sed -n "/^## $1\$/,/^## /p" "$PROJECT/docs/quickstart.md" | sed '1,/^```$/d; /^```$/,$d')
	# With the two that install, six at most.
	[ "$count" -ge 1 ]
	[ "$count" -le 4 ]
	[[ $last == 'lowtide plan -- '* ]]
	[ -z "$(squeue -h)" ]
}
row() { grep -E "^[* ] $1 " <<< "$said"; } # row PARTITION: of the plan's table

@test "nodes of one's own" {
	site cpu gpu:gpu:h100:8
	follow 'Nodes of your own'
	row gpu | grep -E '€[0-9.]+ +[0-9.]+ k?g '
	grep -E '^gpu, .*: €[0-9.]+, [0-9.]+ k?g CO2e' <<< "$said"
}

@test "cloud burst with spot nodes" {
	site own:gpu:v100:8 cloud:gpu:v100:8 cloud-spot:gpu:v100:8
	follow 'Cloud burst, with spot nodes'
	row cloud-spot | grep -F '$'
	grep -E '^cloud-spot, .*: \$[0-9.]+, [0-9.]+ k?g CO2e' <<< "$said"
	grep -E '^cloud-spot, .*; saves \$[0-9.]+, (emits )?[0-9.]+ k?g' <<< "$said"
}

@test "CPUs only" {
	site batch highmem
	follow 'CPUs only'
	row batch | grep -E '€[0-9.]+ +[0-9.]+ k?g '
	grep -E '^batch, .*: €[0-9.]+, [0-9.]+ k?g CO2e' <<< "$said"
}

@test "carbon only" {
	site batch gpu:gpu:v100:4
	follow 'Carbon only'
	row gpu | grep -E ' - +[0-9.]+ k?g '
	grep -E '^gpu, .*: [0-9.]+ k?g CO2e' <<< "$said"
	run ! grep '[$£€]' <<< "$said"
}

@test "each section of the page that has commands is followed here" {
	run -0 awk '/^## / { heading = substr($0, 4) } /^```$/ { if (heading) seen[heading] = 1 }
	    END { for (h in seen) print h }' "$PROJECT/docs/quickstart.md"
	[ "${#lines[@]}" -eq 4 ]
	for heading in "${lines[@]}"; do grep -qF "follow '$heading'" "$BATS_TEST_FILENAME"; done
}
