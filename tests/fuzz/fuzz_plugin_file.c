/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor's reader of plugin_version in an ELF file: any bytes give a version or a refusal that says
 * why.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	uint32_t version;
	struct lt_error err = {0};
	char path[64];
	const int fd = memfd_create("plugin", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, byte_count) != (ssize_t)byte_count)
		__builtin_trap();
	if (lt_plugin_version(path, &version, &err) != LT_OK && err.text[0] == '\0')
		__builtin_trap();
	close(fd);
	return 0;
}
