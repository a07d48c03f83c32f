#!/usr/bin/env bats
# What plain sbatch takes, lowtide does not lose: random sites and jobs, the
# same each time. tests/places/places.sh is the long run; a seed that fails goes
# to tests/places/kept.
load helper

setup() { export BUILD=$PROJECT/build GOALS=few; }
teardown() { :; }

@test "no job of random sites is refused or stuck where lowtide moves it" {
	run env SITES=2 JOBS=20 SEED=4 LANES=1 "$PROJECT/tests/places/places.sh" 3>&- 4>&-
	echo "$output"
	grep -q '^goal sites that came up .* met$' <<< "$output"
	grep -q '^goal refused that plain sbatch takes .* met$' <<< "$output"
	grep -q '^goal never start, plain ones do .* met$' <<< "$output"
}

@test "a site that doctor --collect wrote has none of its names and can be replayed" {
	local site=$PROJECT/tests/places/sites/magic-castle.site name
	D=$BATS_FILE_TMPDIR/c
	perl -I"$PROJECT/tests/places" -MSite -e \
	    'print Site::up(Site::read_file($ARGV[0]), @ARGV[1, 2])' "$site" "$D" "$(id -un)" 3>&- 4>&-
	(. "$D/env" && cd "$BATS_FILE_TMPDIR" && lowtide doctor --collect=m.site) > "$BATS_FILE_TMPDIR/said"
	"$CLUSTER" down "$D" 3>&- 4>&-
	grep -q '^m.site has 4 partitions, 10 nodes in 4 shapes' "$BATS_FILE_TMPDIR/said"
	[ "$(stat -c %a "$BATS_FILE_TMPDIR/m.site")" = 600 ]
	for name in cpubase gpubase pool def-sponsor; do
		run -1 grep -i "$name" "$BATS_FILE_TMPDIR/m.site"
	done
	grep -q '^NodeName=.* CPUs=16 .* Gres=gpu:v100:2' "$BATS_FILE_TMPDIR/m.site"
	run env JOBS=6 SEED=1 LANES=1 "$PROJECT/tests/places/places.sh" "$BATS_FILE_TMPDIR/m.site" 3>&- 4>&-
	echo "$output"
	[ "$status" -eq 0 ]
}
