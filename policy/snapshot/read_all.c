/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading under the container and the ring: all of it, or not at all.
 */
#include <errno.h>
#include <unistd.h>

#include "container.h"

int
lt_pread_all(int fd, void *bytes, size_t byte_count, uint64_t offset)
{
	size_t done = 0;

	while (done < byte_count) {
		const ssize_t got = pread(fd, (unsigned char *)bytes + done,
		    byte_count - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return LT_EIO;
		done += (size_t)got;
	}
	return LT_OK;
}
