#!/bin/bash
# What touches Slurm, compiled against the headers of each release's newest tag
# in a repository of Slurm (github.com/SchedMD/slurm): warnings are errors. It
# says nothing of how the release behaves; make matrix runs on those of Debian.
#
#   versions.sh REPOSITORY [RELEASE...]
set -euo pipefail
cd "$(dirname "$0")/.."
repository=${1:?versions.sh REPOSITORY [RELEASE...]}
shift
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(22.05 23.02 23.11 24.05 24.11 25.05 25.11 26.05)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
slurm() { git -C "$repository" "$@"; }

headers() { # headers TAG RELEASE
	local file number
	mkdir -p "$work/$2/slurm"
	for file in $(slurm ls-tree --name-only "$1" slurm/ | grep -E '\.h(\.in)?$'); do
		slurm show "$1:$file" > "$work/$2/${file%.in}"
	done
	# configure replaces the #undef in slurm_version.h.in.
	number=$(slurm show "$1:META" | awk '$1 == "Major:" { m = $2 } $1 == "Minor:" { n = $2 } $1 == "Micro:" { o = $2 }
		END { printf "0x%02x%02x%02x", m, n, o }')
	sed -i "s/^#undef SLURM_VERSION_NUMBER/#define SLURM_VERSION_NUMBER $number/" "$work/$2/slurm/slurm_version.h"
}

for release in "${releases[@]}"; do
	tag=$(slurm tag | grep -E "^slurm-${release/./-}-[0-9]+-1$" | sort -t- -k4 -n | tail -n 1)
	if [ -z "$tag" ]; then
		echo "not ok - $release: no tag in $repository"
		failed=$((failed + 1))
		continue
	fi
	headers "$tag" "$release"
	if make --no-print-directory CI=true B="$work/build-$release" \
	    CFLAGS="-O1 -I$work/$release" slurm-objects > "$work/log" 2>&1; then
		echo "ok - $tag"
		passed=$((passed + 1))
	else
		echo "not ok - $tag"
		grep -E 'error|warning' "$work/log" | head -n 20 | sed 's/^/# /'
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
