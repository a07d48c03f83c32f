#!/usr/bin/env bats
# Holds against what Slurm allocates: random requests, the same each time.
# tests/cover/cover.sh is the long run; a seed that fails goes to kept.txt.
load helper

setup() {
	export PROJECT SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf # only for sbatch --help
	printf "ClusterName=none\nSlurmctldHost=localhost\n" > "$SLURM_CONF"
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "no random request gets more than its hold, and none is refused for it" {
	run env SEED=9 SELECT='CR_Core CR_Core_Memory' "$PROJECT/tests/cover/cover.sh" 150
	echo "$output"
	[ "$(grep -c '^goal above their hold .* met$' <<< "$output")" -eq 2 ]
	[ "$(grep -c '^goal refused that start without .* met$' <<< "$output")" -eq 2 ]
	[ "$(grep -c '^goal started .* met$' <<< "$output")" -eq 2 ]
}

@test "every option of sbatch and every field that may cost is drawn, or named with its reason" {
	local table=$PROJECT/tests/cover/options.txt
	grep -vE '^#' "$table" | grep -vE '^[a-z_-]+ (= [a-z_ 0-9]+|: .+)$' && false
	sbatch --help | grep -oE -- '--[a-z0-9-]+' | sort -u > options
	[ "$(wc -l < options)" -gt 80 ]
	run -0 comm -23 options <(sed -n 's/^\(--[^ ]*\) .*/\1/p' "$table" | sort -u)
	[ -z "$output" ]
	# What the table says is drawn is.
	perl -e 'require "$ENV{PROJECT}/tests/cover/requests.pl"; Requests::start({version => 99});
	    print "$_\n" for Requests::names(), "partition"' | sort -u > drawn
	run -0 comm -13 drawn <(sed -n 's/^[^ ]* = //p' "$table" | tr ' ' '\n' | sort -u)
	[ -z "$output" ]
	sed -nE 's/^\t*(NUMBER|TEXT|TIME)\(([a-z_0-9]+).*/\2/p' "$PROJECT/plugin/common/job_fields.h" | sort -u > fields
	[ "$(wc -l < fields)" -gt 30 ]
	run -0 comm -23 fields <({
		grep -oE 'AT\([a-z_0-9]+' "$PROJECT/tests/cover/request.c" | sed 's/AT(//'
		sed -n 's/^\([a-z_]*\) :.*/\1/p' "$table"
	} | sort -u)
	[ -z "$output" ]
}
