#!/bin/bash
# What holds of the sources and products as a whole, one TAP line each: who
# includes whom, what the two plugins export and need, which words have no
# place here, and that every page is there and formats.
set -u
cd "$(dirname "$0")/.." || exit 1
n=0 bad=0
check() { # check NAME OFFENDERS: passes when there are none
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /' | head -n 20
	fi
}
includes() { # includes PATTERN PLACE...: lines of these places that match
	local pattern=$1
	shift
	grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($pattern)" -r "$@" --include='*.[ch]' 2>/dev/null
}

# Quoted includes obey the -I lists of layers.mk; these are the others.
check 'Slurm headers only in plugin/ and adapters/slurm/' \
    "$(includes 'slurm/' policy daemon cli adapters kubernetes node notify | grep -v '^adapters/slurm/')"
check 'libcurl only in adapters/lib/curl_library.h, for HTTP and SMTP' \
    "$(includes 'curl/' . | grep -vE '^(\./)?(adapters/lib/curl_library\.h|build/)';
	git grep -l curl_library.h -- '*.[ch]' | grep -vE '^adapters/lib/(curl_library|http|smtp)\.c$')"
check 'jansson and expat only in adapters/, daemon/, kubernetes/, node/, notify/ and cli/' \
    "$(includes 'jansson|expat' policy plugin)"
check 'libyaml only in policy/file, kubernetes/kubeconfig.c and cli/lib/manifest.c' \
    "$(includes 'yaml' policy/include policy/core policy/model policy/snapshot policy/ledger adapters daemon cli plugin kubernetes node notify |
	grep -vE '^(kubernetes/kubeconfig|cli/lib/manifest)\.c:')"
check 'SQLite only in policy/ledger and the store of pods' \
    "$(includes 'sqlite3' policy/include policy/core policy/model policy/snapshot policy/file adapters daemon cli plugin kubernetes node notify |
	grep -v '^kubernetes/store')"
check 'libmicrohttpd only in daemon/ and cli/web/web_serve.c' \
    "$(includes 'microhttpd' policy adapters cli plugin kubernetes node notify | grep -v '^cli/web/web_serve\.c:')"
check 'libelf only in cli/doctor/plugin_file.c' \
    "$(includes 'gelf|libelf' policy adapters daemon plugin cli node notify | grep -v '^cli/doctor/plugin_file\.c:')"
check 'zlib only in cli/reconcile/reconcile_unpack.[ch], and linked into the command alone' \
    "$(includes 'zlib' policy adapters daemon plugin cli kubernetes node notify | grep -v '^cli/reconcile/reconcile_unpack\.[ch]:'
	for p in lowtided lowtide-kube lowtide-node lowtide-notify; do
		readelf -d build/$p | grep -F '[libz.'
	done)"
check 'liblowtide and the simulator include only the C library' \
    "$(grep -nE '^#[[:space:]]*include[[:space:]]*<' -r policy/include policy/core policy/model policy/snapshot simulate --include='*.[ch]' |
	grep -vE '<(arpa/inet|assert|errno|fcntl|inttypes|limits|locale|math|netinet/in|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|time|unistd|ctype|float|pthread|endian|sys/(stat|types|random|uio)|nmmintrin|x86intrin|cpuid)\.h>')"
check 'policy/ and simulate/ read no clock' \
    "$(grep -nE '\btime ?\(NULL\)|clock_gettime|gettimeofday' -r policy simulate --include='*.[ch]')"
check 'adapters include no policy file, ledger, daemon' \
    "$(grep -nE '^#[[:space:]]*include[[:space:]]*"(policy|ledger|daemon|cli)\.h"' -r adapters kubernetes)"
check 'the command, lowtide-node and lowtide-notify include no ledger, daemon, Slurm' \
    "$(grep -nE '^#[[:space:]]*include[[:space:]]*"(ledger|daemon|slurm)\.h"' cli/*.[ch] cli/*/*.[ch] node/*.[ch] notify/*.[ch])"

check 'what a mode allows is asked of lt_mode_may() alone' \
    "$(git grep -nE '[!=]= *LT_MODE_' -- policy adapters daemon cli plugin node notify)"

check 'the lower rooms of lowtided take what they use, never the whole' \
    "$(git grep -nwE 'lt_daemon(_[a-z_]+)?|daemon\.h' -- daemon/lib daemon/signals daemon/market daemon/jobs daemon/charges daemon/holds daemon/plans daemon/life daemon/alerts)"

check 'functions take at most seven parameters' \
    "$(tests/params.pl 7 adapters cli daemon kubernetes node notify plugin policy simulate tests/tools)"

check 'what other files use begins with lt_' \
    "$(git ls-files adapters cli daemon kubernetes node notify policy simulate | sed -n 's|\(.*\)\.c$|build/\1.o|p' |
	xargs nm --defined-only | awk '$2 ~ /^[TDBCR]$/ && $3 !~ /^lt_/ {print $3}' |
	grep -vxE 'main|slurmdbd_msg_type_2_str|_?gnutls_global_init(_skip)?')"
check 'no struct has a typedef' \
    "$(git grep -nE '^typedef (const )?(struct|union) ' -- '*.c' '*.h' ':!adapters/slurm/compat.h')"
check 'libraries never print' \
    "$(git grep -nE '\b(v?printf|puts|perror) ?\(|\bf(printf|puts|putc|write)\(.*\bstd(out|err)\b|\bf(printf|puts|putc)\(std' -- \
	policy adapters kubernetes plugin simulate \
	    ':!kubernetes/batch_commands.c')"
check 'SQL stands in policy/ledger/sql*.h' \
    "$(git grep -nE '"(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP) ' -- policy daemon cli | grep -v '^policy/ledger/sql[a-z_]*\.h:')"

check 'no files need each other in a circle' \
    "$(tests/cycles.pl build policy simulate adapters kubernetes daemon cli plugin node notify)"

exports() { nm -D --defined-only "$1" | awk '{print $3}' | grep -v '^_' | sort; }
check 'job_submit_lowtide.so exports what slurmctld looks for, no more' \
    "$(diff <(exports build/job_submit_lowtide.so) <(printf '%s\n' fini init \
	job_modify job_submit plugin_name plugin_type plugin_version))"
check 'spank_lowtide.so exports only SPANK names' \
    "$(exports build/spank_lowtide.so | grep -vE '^(slurm_spank_[a-z_]+|plugin_(name|type|version)|spank_plugin_version)$')"
check 'lowtided exports what its libraries are to find, no more' \
    "$(diff <(nm -D --defined-only build/lowtided | awk '{print $3}' | LC_ALL=C sort) \
	<(printf '%s\n' _gnutls_global_init_skip gnutls_global_init slurmdbd_msg_type_2_str))"
check 'lowtide-node and lowtide-notify are without libslurm' \
    "$(for p in node notify; do readelf -d build/lowtide-$p | grep -i slurm; done)"
check 'liblowtide.so exports only lt_ names' \
    "$(exports build/liblowtide.so | grep -vE '^(lt_|LIBLOWTIDE)')"
for so in build/job_submit_lowtide.so build/spank_lowtide.so build/liblowtide.so; do
	check "$so needs libc and libm only" \
	    "$(readelf -d $so | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' |
		grep -vE '^(libc\.so\.6|libm\.so\.6|ld-linux.*)$')"
	check "$so has neither RPATH nor RUNPATH" "$(readelf -d $so | grep -E 'RPATH|RUNPATH')"
	check "$so has no assertions" "$(nm -D $so | grep __assert_fail)"
done
check 'lowtided and the command have them' "$(for p in lowtided lowtide; do
	nm -D build/$p | grep -q __assert_fail || echo $p; done)"
forbidden='socket|connect|getaddrinfo|gethostby.*|fork|vfork|system|popen|posix_spawn.*|exec[lv].*|sleep|usleep|nanosleep|setenv|putenv|unsetenv|mmap|mmap64|abort|exit|__assert_fail|signal|sigaction|setlocale|chdir|dlopen'
check 'job_submit_lowtide.so calls nothing that can harm slurmctld' \
    "$(nm -D --undefined-only build/job_submit_lowtide.so | awk '{print $2}' |
	sed 's/@.*//' | grep -xE "$forbidden")"

# By the sources that are there: build/ may have objects of others.
objects() { printf '%s\n' policy/"$1"/*.c | sed 's|^|build/|; s|c$|o|'; }
defines() { objects "$1" | xargs nm --defined-only | awk '$2 == "T" {print $3}' | sort -u; }
needs() { objects "$1" | xargs nm --undefined-only | awk '$1 == "U" {print $2}' | sort -u; }
# What a simulator links besides is no business of slurmctld's.
for so in build/job_submit_lowtide.so build/spank_lowtide.so; do
	check "$so has nothing of policy/model" \
	    "$(comm -12 <(defines model) \
		<(nm --defined-only "$so" | awk '{print $3}' | sort -u))"
done
check 'neither plugins nor the core see policy/model' \
    "$(grep -E '^INC_(plugin/[a-z_]+|policy/core) .*model' layers.mk)"

for up in 'core model' 'core snapshot' 'model snapshot' 'snapshot model'; do
	check "policy/${up% *} needs nothing of policy/${up#* }" \
	    "$(comm -12 <(needs "${up% *}") <(defines "${up#* }"))"
done
check 'liblowtide knows no time zone of the process' \
    "$(nm -D --undefined-only build/liblowtide.so | awk '{print $2}' | sed 's/@.*//' |
	grep -xE 'tzset|setenv|unsetenv|putenv|getenv|secure_getenv|mktime|timegm|(localtime|gmtime)(_r)?|strftime')"

check 'every C file opens with its SPDX line' \
    "$(git ls-files '*.c' | xargs grep -L '^/\* SPDX-License-Identifier: GPL-2.0-or-later \*/')"
check 'no file is over 1,000 lines' \
    "$(git ls-files '*.c' '*.h' '*.sh' '*.bats' | xargs wc -l | awk '$2 != "total" && $1 > 1000')"
check 'the Makefile has at most 250 lines' "$(wc -l < Makefile | awk '$1 > 250')"
check 'clang-format finds nothing (make lint)' \
    "$(git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror 2>&1 | grep -E 'error|clang-format:')"
check 'one dialect: strcmp() == 0, sizeof(x)' \
    "$(git grep -nE '!(str|mem)n?(case)?cmp\(|[^a-z ]sizeof \*?[a-z(]|^[^*]*[(, ]sizeof \*?[a-z(]' -- '*.c' '*.h')"
check 'a blank line after declarations, functions under 70 lines' \
    "$(git ls-files '*.c' '*.h' | xargs tests/shape.pl)"
check 'a table that an enum indexes is as long as that, and read within its bounds' \
    "$(git ls-files adapters cli daemon kubernetes node notify plugin policy simulate | grep '\.[ch]$' |
	xargs tests/tables.pl)"
check 'the docs wrap at 100 columns, but for tables and what is quoted' \
    "$(perl -CSD -ne '$quoted = !$quoted if /^ *```/;
	chomp; print "$ARGV: $.\n" if !$quoted && !/^\|/ && length > 100;
	if (eof) { close ARGV; $quoted = 0 }' \
	README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs/*.md docs/sources/*.md)"
check 'assertions of cluster tests stand alone: && hides all but the last' \
    "$(git grep -nE '^	+(\[+ .* \]+|within .*|job .*) && (\[|within|[a-z]+=)' -- 'tests/cluster/*.bats')"
check 'no function is more complex than 30, all not more than they were (make size)' \
    "$(tests/size.pl complexity 2>&1)"
check 'C of the product has no more lines than docs/design.md allows' \
    "$(most=$(sed -n 's/^Lines of C of the product, at the most: \([0-9,]*\)\..*/\1/p' docs/design.md | tr -d ,)
	lines=$(tests/size.pl lines)
	[ "$lines" -le "${most:-0}" ] || echo "$lines lines, ${most:-no number} allowed")"
check 'comments do not begin with What, Of, By, Who, Is; static names say of what' \
    "$(git ls-files adapters cli daemon kubernetes node notify plugin policy simulate | grep '\.[ch]$' |
	xargs tests/words.pl)"
check 'nothing unfinished is left' \
    "$(git grep -nE '\b(TODO|FIXME|XXX)\b' -- '*.c' '*.h' '*.sh' '*.bats' Makefile '*.mk' | grep -v 'tests/checks.sh')"
check 'each page formats without a warning' "$(for p in man/*.[1-8]; do
	LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$p" 2>&1 >/dev/null |
	    sed "s|^|$p: |"; done)"
check 'each program and file format has its page' "$(for p in lowtide.1 lowtided.8 lowtide-kube.8 lowtide-node.8 lowtide-notify.8 \
	spank_lowtide.8 job_submit_lowtide.8 lowtide.yaml.5 lowtide-files.5; do
	[ -s man/$p ] || echo "man/$p is missing"; done)"
check 'every link in the docs leads to a file, and to a heading of it' \
    "$(tests/links.pl README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs/*.md docs/sources/*.md examples/*/README.md)"
check 'each option that pins a job is in spank_lowtide(8)' \
    "$(grep -oh '"--[a-z-]*' plugin/common/job_fields.h plugin/common/job_pins.c | tr -d '"' | sort -u |
	while read -r option; do
		grep -qE -- "^\.BR? ${option//-/\\\\-}( |=|\\\\|\$)" man/spank_lowtide.8 || echo "$option"
	done)"
well_formed() { python3 -c 'import sys, xml.dom.minidom as xml
try: xml.parse(sys.stdin.buffer)
except Exception as error: print(sys.argv[1], error)' "$1"; }
check 'the pictures are XML, and load and run nothing' "$(for svg in docs/pictures/*.svg; do
	well_formed "$svg" < "$svg"
	grep -HnoP '<(script|foreignObject|image)|href|@import|url\((?!#)|[^a-z]on[a-z]+="' "$svg"; done)"
check 'a terminal is drawn as it was, whatever it showed' \
    "$(drawn=$(printf '$ a <b> & "c" \001\n\tä\n' | docs/pictures/terminal.pl '<&>')
	well_formed drawn <<< "$drawn"
	for text in '<title>&lt;&amp;&gt;</title>' '>a&#160;&lt;b&gt;&#160;&amp;&#160;&quot;c&quot;&#160;?<' '>ä<'; do
		grep -qF "$text" <<< "$drawn" || echo "not drawn: $text"; done)"
check 'the example policies are good' "$(for y in examples/*.yaml; do
	build/lowtide check "$y" >/dev/null 2>&1 || build/lowtide check "$y" 2>&1; done)"
check 'each mutant finds its text exactly once, and its tests' "$(perl -ne '
	next if /^#/ || !/\S/;
	my ($file, $tests, $old) = split / :: /;
	my $re = join "\\s+", map { quotemeta } split " ", $old;
	open my $in, "<", $file or print "no $file\n" and next;
	my $n = () = join("", <$in>) =~ /$re/g;
	print "$file: $n times: $old\n" if $n != 1;
	next if $tests =~ /^cluster only/;
	print "no test $_: $file: $old\n" for grep { !-e "tests/unit/$_.c" &&
	    !-d "tests/$_" } split " ", $tests' tests/mutants/list.txt)"
check 'each fuzzer has a corpus' "$(for f in tests/fuzz/fuzz_*.c; do
	corpus=${f/fuzz_/corpus/}
	[ -n "$(ls "${corpus%.c}" 2>/dev/null)" ] || echo "$f"; done)"
staged=$(mktemp -d)
mkdir "$staged"/{market,sheet,terms}
check "the fuzzers' seeds are of today's formats (make_seeds tests/fuzz/corpus)" \
    "$(build/tests/tools/make_seeds "$staged" 2>&1; cd "$staged" && find . -type f |
	while read -r f; do cmp "$f" "$OLDPWD/tests/fuzz/corpus/$f" 2>&1; done)"
rm -rf "$staged"/*
installed() { # installed TARGET...: the files there after these
	make --no-print-directory "$@" DESTDIR="$staged" prefix=/usr >/dev/null 2>&1 || echo 'make install failed'
	find "$staged" ! -type d | sed "s|^$staged||"
}
check 'a Slurm site gets nothing of Kubernetes' "$(installed install | grep -vx /usr/share/doc/lowtide/docs/kubernetes.md | grep -E 'kube|failed')"
links_of() { (cd "$staged/usr/share/doc/lowtide" && find . -name '*.md' -exec "$OLDPWD/tests/links.pl" {} +); }
check 'no page that is installed links to one that is not' "$(links_of)"
check 'install, install-kube and uninstall leave nothing' "$(installed install-kube uninstall)"
check 'a Kubernetes site gets nothing of Slurm' \
    "$(installed install-kube | grep -E 'slurm|spank|lowtided|\.so|\.service|failed')"
rm -rf "${staged:?}"/*
check 'examples/embed builds against the installed library' "$(make --no-print-directory install \
	DESTDIR="$staged" prefix=/usr >/dev/null 2>&1;
	PKG_CONFIG_SYSROOT_DIR=$staged PKG_CONFIG_LIBDIR=$staged/usr/lib/pkgconfig \
	sh -c 'cc -o "$0/embed" examples/embed/embed.c $(pkg-config --cflags --static --libs lowtide)' \
	"$staged" 2>&1 && LD_LIBRARY_PATH=$staged/usr/lib "$staged/embed" >/dev/null || echo 'embed failed')"
rm -rf "$staged"
# A commit's subject says where and what; older ones were made before this rule.
rule='tests: hold the history to one form of subject'
since=$(git log --format=%H --grep="^$rule\$" -n 1 2>/dev/null)
if [ -n "$since" ]; then
	check 'subjects of commits: "prefix: what it does", at most 72 columns' \
	    "$(git log --no-merges --format='%h %s' "$since..HEAD" |
		grep -vE '^[0-9a-f]+ [a-z0-9][a-z0-9_., /-]*: [^ ].{0,70}[^.]$' |
		sed 's/$/: no prefix, or a full stop/'
		git log --no-merges --format='%h %s' "$since..HEAD" | awk 'length($0) - length($1) - 1 > 72')"
else
	n=$((n + 1))
	echo "ok $n - subjects of commits # skipped: no history here"
fi
echo "1..$n"
[ $bad -eq 0 ]
