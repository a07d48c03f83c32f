/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A preloaded library: the wall clock of a process is off by what a file says, seconds as text,
 * read anew by each call. For a whole private cluster at once (LD_PRELOAD, CLOCK_SHIFT=FILE); write
 * the file in place, never truncate it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 16, WALL_FROM_S = 1000000000 }; /* of other clocks: less */

static const char *text;
static __typeof__(clock_gettime) *real_clock_gettime;
static __typeof__(pthread_cond_timedwait) *real_timedwait;

__attribute__((constructor)) static void
begin(void)
{
	const char *const path = getenv("CLOCK_SHIFT");
	const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	void *const shared =
	    fd < 0 ? MAP_FAILED : mmap(NULL, TEXT_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (shared != MAP_FAILED)
		text = shared;
	if (fd >= 0)
		close(fd);
}

static time_t
shift(void)
{
	char copy[TEXT_BYTES + 1] = "";

	for (size_t i = 0; text != NULL && i < TEXT_BYTES; i++)
		copy[i] = ((const volatile char *)text)[i];
	return (time_t)strtoll(copy, NULL, 10);
}

int
clock_gettime(clockid_t id, struct timespec *now)
{
	if (real_clock_gettime == NULL)
		*(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");

	const int rc = real_clock_gettime(id, now);

	if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		now->tv_sec += shift();
	return rc;
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
		return -1;
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *out)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
		return -1;
	if (out != NULL)
		*out = now.tv_sec;
	return now.tv_sec;
}

/* Until a time of the shifted clock: the kernel has its own. */
int
pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
    const struct timespec *restrict until)
{
	struct timespec wanted = *until;

	if (real_timedwait == NULL)
		*(void **)&real_timedwait =
		    dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (real_timedwait == NULL)
		return EINVAL;
	if (wanted.tv_sec >= WALL_FROM_S)
		wanted.tv_sec -= shift();
	return real_timedwait(condition, mutex, &wanted);
}
