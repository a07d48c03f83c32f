/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name of this host's time zone, by TZ or /etc/localtime.
 */
#include "host_zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "/usr/share/zoneinfo/";

static void
named_by(char *out, size_t size, const char *name)
{
	char path[1024];

	name += name[0] == ':';
	snprintf(path, sizeof(path), "%s%s", folder, name);
	if (name[0] == '\0')
		name = "UTC";
	else if (strcmp(name, "UTC") != 0 && access(path, R_OK) != 0)
		name = "";
	snprintf(out, size, "%s", name);
}

void
lt_host_zone(char *out, size_t size)
{
	static const char mark[] = "/zoneinfo/";
	const char *const named = getenv("TZ");
	char link[1024];

	if (named != NULL) {
		named_by(out, size, named);
		return;
	}
	const ssize_t length = readlink("/etc/localtime", link, sizeof(link) - 1);
	const bool is_none = length < 0 && errno == ENOENT;

	link[length > 0 ? length : 0] = '\0';
	const char *const at = strstr(link, mark);
	snprintf(out, size, "%s", at != NULL ? at + sizeof(mark) - 1 : is_none ? "UTC" : "");
}
