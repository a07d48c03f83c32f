#!/usr/bin/env bats
# What plain sbatch takes, lowtide does not lose: what failed before, a random
# site, the same each time, and one that doctor --collect wrote. The long run is
# tests/places/places.sh; what fails there is kept in tests/places/kept.
# bats file_tags=long
load helper

setup() {
	export BUILD=$PROJECT/build GOALS=few LANES=1
	places=$PROJECT/tests/places
}
teardown() { :; }

@test "no job is refused or stuck where lowtide moves it, and some are moved" {
	run env SITES=1 FIRST=1 JOBS=20 SEED=101 "$places/places.sh" 3>&- 4>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" =~ 'site 1: 20 jobs, '.*' '([0-9]+)' of '[0-9]+' moved' ]]
	[ "${BASH_REMATCH[1]}" -ge 5 ]
}

@test "a site that doctor --collect wrote has none of its names and can be replayed" {
	local name user=${ROOT:+daemon}
	: "${user:=$(id -un)}"
	# Sockets have short paths.
	D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-test.XXXXXX")
	chmod 755 "$D"
	perl -I"$places" -MSite -e 'print Site::up(Site::read_file($ARGV[0]), @ARGV[1, 2])' \
	    "$places/sites/magic-castle.site" "$D/c" "$user" 3>&- 4>&-
	(. "$D/c/env" && cd "$BATS_FILE_TMPDIR" && lowtide doctor --collect=m.site) > "$BATS_FILE_TMPDIR/said"
	"$CLUSTER" down "$D/c" 3>&- 4>&-
	rm -rf "$D"
	cat "$BATS_FILE_TMPDIR/said"
	grep -q '^m.site has [0-9]* partitions, [0-9]* nodes in [0-9]* shapes' "$BATS_FILE_TMPDIR/said"
	[ "$(stat -c %a "$BATS_FILE_TMPDIR/m.site")" = 600 ]
	for name in cpubase gpubase pool def-sponsor; do
		run -1 grep -i "$name" "$BATS_FILE_TMPDIR/m.site"
	done
	grep -q '^NodeName=.* Gres=gpu:' "$BATS_FILE_TMPDIR/m.site"
	run env JOBS=6 SEED=1 "$places/places.sh" "$BATS_FILE_TMPDIR/m.site" 3>&- 4>&-
	echo "$output"
	[ "$status" -eq 0 ]
}
