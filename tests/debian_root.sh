# Sourced by what runs in another Debian, as root and in the project's folder: a
# root of its own, by debootstrap, which is installed where it is missing.

command -v debootstrap >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends debootstrap >/dev/null

make_root() { # make_root SUITE FOLDER: as the suite has it when new; starts no service
	local mirror file
	mirror=$(tests/debian_mirror.sh)
	rm -rf --one-file-system "$2"
	debootstrap --variant=minbase "$1" "$2" "$mirror" >/dev/null
	# The machine's own settings; a package's file would be asked about there.
	for file in /etc/apt/apt.conf.d/*; do
		dpkg -S "$file" >/dev/null 2>&1 || cp "$file" "$2/etc/apt/apt.conf.d/"
	done
	printf '#!/bin/sh\nexit 101\n' > "$2/usr/sbin/policy-rc.d"
	chmod 755 "$2/usr/sbin/policy-rc.d"
}

# Objects of the last run stay: times are kept, so make builds what changed. A
# file that was edited while the last copy was built has an older time than the
# objects made of that copy, so what is newer than the last copy is touched.
copy_project() { # copy_project FOLDER
	mkdir -p "$1"
	touch "$1.copying"
	find "$1" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	git -c safe.directory="$PWD" ls-files -coz --exclude-standard |
	    xargs -0 cp --parents --preserve=mode,timestamps -t "$1"
	[ ! -e "$1.copied" ] || find "$1" -path "$1/build" -prune -o \
	    -type f -newer "$1.copied" -exec touch {} +
	mv "$1.copying" "$1.copied"
}
