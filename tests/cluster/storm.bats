#!/usr/bin/env bats
# Two cycles of tests/storm, the same each time; `make storm` is the long run.
load helper

@test "two cycles of chaos: no budget passed, each run charged once, a rebuild says the same" {
	[ -n "$ROOT" ] || echo '# without root: one user, no strangers' >&3
	run env SEED=12 "$PROJECT/tests/storm/storm.sh" 2
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^goal .* met$' <<< "$output")" -eq 3 ]
	[ "$(grep -c '^cycle ' <<< "$output")" -eq 2 ]
}
