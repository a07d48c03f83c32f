#!/bin/bash
# Runs the tests and adds them up: units, golden texts, fuzz corpora, static
# checks, the same under ASan/UBSan and TSan, and the real cluster. Every part
# speaks TAP; a part that dies or runs nothing counts as one failure. The last
# line is `N passed, N failed`.
#
#   run.sh all|fast|cluster [FILE.bats...]
set -u
cd "$(dirname "$0")/.." || exit 1
what=${1:-all}
[ $# -eq 0 ] || shift
files=("$@")
[ $# -gt 0 ] || files=(tests/cluster/*.bats)
# All makes below want the same flags: others would build everything anew.
export CMOCKA_MESSAGE_OUTPUT=TAP CI=true CC=gcc
jobs=$(nproc)
passed=0 failed=0
log=$(mktemp)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -f "$log" "$log".[01]' EXIT
started=$SECONDS

part() { # part NAME COMMAND...: run it, count its TAP lines
	local name=$1
	shift
	"$@" >"$log" 2>&1
	count "$name" $? "$log"
}

count() { # count NAME STATUS LOG: of a part that has ended
	local name=$1 status=$2 log=$3 ok bad
	ok=$(grep -cE '^[[:space:]]*ok [0-9]' "$log")
	# cmocka words a skipped test as "not ok N # SKIP".
	bad=$(grep -E '^[[:space:]]*not ok [0-9]' "$log" | grep -cv '# SKIP')
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
	if [ $((ok + bad)) -eq 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad))
	printf '%5ds  %-36s %4d passed' $((SECONDS - started)) "$name" "$ok"
	if [ "$bad" -gt 0 ]; then
		printf ', %d FAILED\n' "$bad"
		if [ "$ok" -gt 0 ]; then
			grep -vE '^[[:space:]]*ok [0-9]' "$log" | tail -n 60
		else
			tail -n 60 "$log"
		fi
	else
		printf '\n'
	fi
}

# Two clusters at a time, each on ports of its own: they mostly wait.
clusters() { # clusters FILE...
	local t pid status lane lanes=(0 1)
	local -A name_of=() lane_of=()
	for t in "$@" ''; do
		while [ ${#name_of[@]} -gt 0 ] && { [ -z "$t" ] || [ ${#lanes[@]} -eq 0 ]; }; do
			wait -n -p pid "${!name_of[@]}"
			status=$?
			count "${name_of[$pid]#tests/}" $status "$log.${lane_of[$pid]}"
			lanes+=("${lane_of[$pid]}")
			unset "name_of[$pid]" "lane_of[$pid]"
		done
		[ -n "$t" ] || break
		lane=${lanes[0]}
		lanes=("${lanes[@]:1}")
		PORT_LANE=$lane timeout 1500 bats --tap "$t" >"$log.$lane" 2>&1 &
		name_of[$!]=$t lane_of[$!]=$lane
	done
}

build() { # build NAME MAKE-ARGUMENTS...: one result, warnings are errors
	local name=$1
	shift
	if make --no-print-directory -j"$jobs" "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf '%5ds  %-36s    1 passed\n' $((SECONDS - started)) "$name"
	else
		failed=$((failed + 1))
		printf '%5ds  %-36s FAILED\n' $((SECONDS - started)) "$name"
		grep -E 'error|warning|undefined|No rule|\*\*\*' "$log" | head -n 30
	fi
}

units() { # units BUILD-FOLDER LABEL
	local t
	for t in "$1"/tests/unit/test_*; do
		[ -x "$t" ] && [ -f "$t" ] && case $t in *.o | *.d) false ;; esac &&
		    part "$2${t##*/}" timeout 600 "$t"
	done
	for t in "$1"/tests/fuzz/fuzz_*; do
		[ -x "$t" ] && [ -f "$t" ] && case $t in *.o | *.d) false ;; esac &&
		    part "$2${t##*/}" corpus "$t"
	done
}

corpus() { # one TAP line for a whole corpus
	timeout 300 "$1" "tests/fuzz/corpus/$(basename "$1" | sed 's/^fuzz_//')" &&
	    echo "ok 1 - corpus" || echo "not ok 1 - corpus of $1"
}

build "build (gcc, -Werror)" tests
[ "$what" = cluster ] || units build ''
[ "$what" = cluster ] || for t in tests/golden/*.sh tests/fake_slurm/*.sh; do
	[ -x "$t" ] && part "${t#tests/}" timeout 600 "$t"
done

if [ "$what" = all ]; then
	part "checks.sh" tests/checks.sh
	build "build (clang, -Werror)" tests CC=clang B=build/clang
	build "build (ASan, UBSan)" tests B=build/asan SAN=address,undefined
	export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
	units build/asan 'asan '
	for t in tests/fake_slurm/*.sh; do
		[ -x "$t" ] && BUILD=$PWD/build/asan part "asan ${t#tests/}" timeout 600 "$t"
	done
	build "build (TSan)" build/tsan/tests/unit/test_budget_threads B=build/tsan SAN=thread
	part "tsan test_budget_threads" timeout 600 build/tsan/tests/unit/test_budget_threads
fi
if [ "$what" = all ] || [ "$what" = cluster ]; then
	clusters "${files[@]}"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
