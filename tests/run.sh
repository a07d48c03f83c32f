#!/bin/bash
# Runs the tests and adds them up: golden texts and static checks; units, fuzz
# corpora and the stories on Kubernetes under ASan/UBSan; TSan; the real cluster.
# Every part speaks TAP; a part that dies or runs nothing counts as one failure.
# Nothing runs twice: what failed once has failed. The last line is
# `N passed, N failed`.
#
#   run.sh all|cluster [FILE.bats...]
#   run.sh fast      units, golden texts and fuzz corpora, as they are compiled
set -u
cd "$(dirname "$0")/.." || exit 1
what=${1:-all}
[ $# -eq 0 ] || shift
files=("$@")
# The longest first: none is left to run alone at the end.
[ $# -gt 0 ] || mapfile -t files < <({
	grep -l '^# bats file_tags=long$' tests/cluster/*.bats
	ls -S tests/cluster/*.bats
} | awk '!seen[$0]++')
KUBE_STORIES=(tests/kube/{server,story,place,charge,faults,lost,tricks,guards,zero,shared,pods,claims,stale,dryrun,limit,resize,cli}.sh)
GOLDENS=(tests/fake_slurm/fake_slurm.sh tests/golden/*.sh)
# They wait longest, or compute longest: none is left to run alone at the end.
FIRST_UNITS=(source_faults focus without_forecast guard kube_follow reclaim api_jobs)
# All makes below want the same flags: others would build everything anew. None
# shares the jobs of the one that started this script.
unset MAKEFLAGS MFLAGS MAKELEVEL
export CMOCKA_MESSAGE_OUTPUT=TAP CI=true CC=gcc
# Fresh memory is never zero by chance: what reads it before it is written fails.
export MALLOC_PERTURB_=165
jobs=$(nproc)
# Clusters wait more than they work.
lanes=$(seq -s ' ' 0 $((jobs < 3 ? 3 * jobs - 1 : 8)))
pool=$(seq -s ' ' 1 $((3 * jobs))) # of units: many wait for their own servers
passed=0 failed=0
log=$(mktemp)
sums=$log.sums times=$log.times
others= # the process group of what runs beside clusters
OTHERS_SLOT=9
trap 'trap "" INT TERM; kill -- $(jobs -p) ${others:+-$others} 2>/dev/null; wait; rm -f "$log" "$log".*' EXIT
started=$SECONDS

part() { # part NAME COMMAND...: run it, count its TAP lines
	local name=$1 from=$SECONDS
	shift
	"$@" >"$log" 2>&1
	count "$name" $? "$log"
	took "$name" $from
}

took() { # took NAME FROM
	echo "$((SECONDS - $2)) $1" >> "$times"
}

# By the shell itself: some 400 parts would each start a row of processes.
count() { # count NAME STATUS LOG: of a part that has ended
	local name=$1 status=$2 ok=0 bad=0 line lines=() rest=()
	mapfile -t lines <"$3"
	for line in "${lines[@]}"; do
		if [[ $line =~ ^[[:space:]]*ok\ [0-9] ]]; then
			ok=$((ok + 1))
			continue
		fi
		rest+=("$line")
		# cmocka words a skipped test as "not ok N # SKIP".
		[[ ! $line =~ ^[[:space:]]*not\ ok\ [0-9] || $line == *'# SKIP'* ]] ||
		    bad=$((bad + 1))
	done
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
	if [ $((ok + bad)) -eq 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad))
	[ ${#rest[@]} -le 60 ] || rest=("${rest[@]: -60}")
	tell "$name" "$ok" "$bad" "${rest[@]}"
}

# In one write, as the parts beside the clusters tell theirs at any time.
tell() { # tell NAME PASSED FAILED LINE...: the lines only of what failed
	local text
	printf -v text '%5ds  %-36s %4d passed' $((SECONDS - started)) "$1" "$2"
	if [ "$3" -eq 0 ]; then
		printf '%s\n' "$text"
	else
		printf -v text '%s\n' "$text, $3 FAILED" "${@:4}"
		cat <<< "${text%$'\n'}"
	fi
}

# Runs COMMAND SLOT FILE for each file, one in each slot at a time, and tells of
# each as it ends. What runs beside the clusters has the last slot, and leaves it.
side_by_side() { # side_by_side SLOTS LABEL COMMAND FILE...
	local label=$2 command=$3 t pid status slot slots
	local -A name_of=() slot_of=() from=()
	read -ra slots <<< "$1"
	shift 3
	if [ -n "$others" ]; then name_of[$others]=others slot_of[$others]=$OTHERS_SLOT; fi
	for t in "$@" ''; do
		while [ ${#name_of[@]} -gt 0 ] && { [ -z "$t" ] || [ ${#slots[@]} -eq 0 ]; }; do
			wait -n -p pid "${!name_of[@]}"
			status=$?
			slot=${slot_of[$pid]}
			if [ "$pid" = "$others" ]; then
				others=
				add_others
			else
				count "${name_of[$pid]}" $status "$log.$slot"
				took "${name_of[$pid]}" "${from[$pid]}"
			fi
			slots+=("$slot")
			unset "name_of[$pid]" "slot_of[$pid]"
		done
		[ -n "$t" ] || break
		slot=${slots[0]}
		slots=("${slots[@]:1}")
		"$command" "$slot" "$t" >"$log.$slot" 2>&1 &
		t=${t#tests/} t=${t#*/tests/unit/}
		name_of[$!]=$label${t#*/tests/fuzz/} slot_of[$!]=$slot from[$!]=$SECONDS
	done
}

# Clusters are on ports of their own, by the slot that they run in.
run_cluster() { PORT_LANE=$1 timeout 1500 bats --tap "$2"; }
run_unit() {
	case $2 in
	*/fuzz/*) corpus "$2" ;;
	*) timeout 600 "$2" ;;
	esac
}
# A network of its own for each, where one can be had: all serve port 6826.
run_story() {
	case ${net[0]-} in
	unshare) timeout 900 "${net[@]}" sh -c 'ip link set lo up; exec "$1"' sh "$2" ;;
	*) timeout 900 "$2" ;;
	esac
}

add_others() { # they wrote their sums, or died
	local ok=0 bad=1
	if [ -s "$sums" ]; then
		read -r ok bad < "$sums"
	else
		tell 'what runs beside clusters' 0 1 'it was ended'
	fi
	passed=$((passed + ok)) failed=$((failed + bad))
}

build() { # build NAME MAKE-ARGUMENTS...: one result, warnings are errors
	local name=$1 from=$SECONDS ok=0 text=
	shift
	make --no-print-directory -j"$jobs" "$@" >"$log" 2>&1 && ok=1
	passed=$((passed + ok)) failed=$((failed + 1 - ok))
	[ $ok -eq 1 ] || text=$(grep -E 'error|warning|undefined|No rule|\*\*\*' "$log" | head -n 30)
	tell "$name" $ok $((1 - ok)) "$text"
	took "$name" $from
}

units() { # units BUILD-FOLDER: the programs, those that take long first
	{
		printf "$1/tests/unit/test_%s\n" "${FIRST_UNITS[@]}"
		printf '%s\n' tests/{unit/test,fuzz/fuzz}_*.c | sed "s|^|$1/|; s|[.]c$||"
	} | awk '!seen[$0]++'
}

corpus() { # one TAP line for a whole corpus
	timeout 300 "$1" "tests/fuzz/corpus/${1##*/fuzz_}" &&
	    echo "ok 1 - corpus" || echo "not ok 1 - corpus of $1"
}

# They wait more than they work.
stories() { # stories LABEL, of $BUILD
	local slots='1 2 3 4' net=()
	case $(id -u) in 0) net=(unshare -n) ;; *) net=(unshare -rn) ;; esac
	"${net[@]}" ip link set lo up 2>/dev/null || slots=1 net=()
	side_by_side "$slots" "$1" run_story "${KUBE_STORIES[@]}"
}

# All but the clusters; into a file, as a process of its own can't add up here.
beside_clusters() {
	local plain
	log=$log.others passed=0 failed=0
	renice -n 19 $BASHPID >/dev/null # clusters have clocks to keep
	# They measure memory, which a sanitizer changes.
	mapfile -t plain < <(grep -l __SANITIZE_ADDRESS__ tests/unit/test_*.c |
	    sed 's|^|build/|; s|[.]c$||')
	build "build of what measures memory (gcc)" "${plain[@]}" build/tests/fake_slurm/fake_slurm
	side_by_side "$pool" '' run_unit "${plain[@]}" "${GOLDENS[@]}"
	part "checks.sh" tests/checks.sh
	build "warnings (clang, -Werror)" warnings CC=clang
	build "build (ASan, UBSan)" tests B=build/asan SAN=address,undefined
	export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
	mapfile -t plain < <(units build/asan)
	side_by_side "$pool" 'asan ' run_unit "${plain[@]}"
	export JOBS=200 BUILD=$PWD/build/asan
	side_by_side "$pool" 'asan ' run_unit tests/fake_slurm/fake_slurm.sh
	stories 'asan '
	unset JOBS BUILD
	build "build (TSan)" build/tsan/tests/unit/test_budget_threads B=build/tsan SAN=thread
	part "tsan test_budget_threads" timeout 600 build/tsan/tests/unit/test_budget_threads
	echo "$passed $failed" > "$sums"
}

build "build (gcc, -Werror)" $([ $what = fast ] && echo tests || echo cluster-tools)
# Else the suites would try what was built before.
[ "$failed" -eq 0 ] || { echo "$passed passed, $failed failed"; exit 1; }
case $what in
fast)
	mapfile -t files < <(printf '%s\n' "${GOLDENS[@]}" | grep -v browser; units build)
	side_by_side "$pool" '' run_unit "${files[@]}"
	;;
cluster) side_by_side "$lanes" '' run_cluster "${files[@]}" ;;
all)
	set -m # a process group of its own, to end all of it
	beside_clusters </dev/null &
	others=$!
	set +m
	side_by_side "$lanes" '' run_cluster "${files[@]}"
	;;
esac

echo 'the slowest:'
sort -rn "$times" | head -n 10 | sed 's/ /s  /; s/^/  /'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
