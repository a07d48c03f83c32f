/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command's reader of slurm.conf: any bytes give values that end and counts within their
 * bounds, or a refusal that says why.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slurm_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct lt_conf conf;
	struct lt_error err = {0};
	char path[64];
	const int fd = memfd_create("slurm.conf", MFD_CLOEXEC);

	/* what it includes lies beside it: nothing, in /proc/self/fd */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, byte_count) != (ssize_t)byte_count)
		__builtin_trap();
	if (lt_conf_parse(&conf, path, &err) == LT_OK) {
		if (conf.host_count > LT_CONF_HOSTS_MAX ||
		    strnlen(conf.slurm_user, sizeof(conf.slurm_user)) == sizeof(conf.slurm_user))
			__builtin_trap();
	} else if (err.text[0] == '\0') {
		__builtin_trap();
	}
	close(fd);
	return 0;
}
