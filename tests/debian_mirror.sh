#!/bin/bash
# Where this machine gets Debian itself from, as debootstrap wants it. apt reads
# its own files: *.list and *.sources, not what is disabled or a backup.
#
#   debian_mirror.sh [FOLDER]   in place of /etc/apt
set -euo pipefail
etc=${1:-/etc/apt}
# A release with a suffix is security or updates; others than Debian have
# another component, or another path.
mirror=$(apt-get update --print-uris -o Dir::Etc="$etc" | sed -nE \
    "s|^'(.*debian.*)/dists/[^/-]+/main/binary-.*|\1|p" | awk 'NR == 1')
# Debian's cloud images: mirror+file:/etc/apt/mirrors/debian.list, which has
# a mirror a line.
if [[ $mirror == mirror+file:* ]]; then
	mirror=$(awk '/^[a-z]+:/ && !n++ { print $1 }' "$etc/mirrors/${mirror##*/}")
fi
[ -n "$mirror" ] || { echo "no Debian mirror in $etc" >&2; exit 1; }
echo "$mirror"
