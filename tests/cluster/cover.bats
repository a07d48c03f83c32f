#!/usr/bin/env bats
# Holds against what Slurm allocates: random requests, the same each time.
# tests/cover/cover.sh is the long run; a seed that fails goes to kept.txt.
load helper

@test "no random request gets more than its hold, and none is refused for it" {
	run env SEED=9 SELECT='CR_Core CR_Core_Memory' "$PROJECT/tests/cover/cover.sh" 150
	echo "$output"
	[ "$(grep -c '^goal above their hold .* met$' <<< "$output")" -eq 2 ]
	[ "$(grep -c '^goal refused that start without .* met$' <<< "$output")" -eq 2 ]
	[ "$(grep -c '^goal started .* met$' <<< "$output")" -eq 2 ]
}
