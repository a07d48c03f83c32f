/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: the system's directory of users takes as many seconds for each answer as the file that
 * SLOW_USERS names says; none where it is not there.
 */
#include <dlfcn.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void
wait_for_it(void)
{
	const char *const path = getenv("SLOW_USERS");
	FILE *const file = path != NULL ? fopen(path, "re") : NULL;
	unsigned seconds = 0;

	if (file == NULL)
		return;
	if (fscanf(file, "%u", &seconds) != 1)
		seconds = 0;
	fclose(file);
	while (seconds > 0)
		seconds = sleep(seconds);
}

/* The C library's function of that name, after the wait. */
#define LATER(name)                                                                                \
	__typeof__(&name) next;                                                                    \
	wait_for_it();                                                                             \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

struct passwd *
getpwnam(const char *name)
{
	LATER(getpwnam);
	return next(name);
}

struct passwd *
getpwuid(uid_t uid)
{
	LATER(getpwuid);
	return next(uid);
}

int
getpwnam_r(const char *name, struct passwd *user, char *text, size_t size, struct passwd **found)
{
	LATER(getpwnam_r);
	return next(name, user, text, size, found);
}

int
getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size, struct passwd **found)
{
	LATER(getpwuid_r);
	return next(uid, user, text, size, found);
}

int
getgrouplist(const char *user, gid_t group, gid_t *groups, int *count)
{
	LATER(getgrouplist);
	return next(user, group, groups, count);
}
