/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmicrohttpd brings GnuTLS along, which initializes itself when it is loaded: 1 MiB resident for
 * a lowtided that serves no TLS. These two functions come before GnuTLS's own (no_tls.map exports
 * them), so that it is initialized only on a later call, such as by a libcurl made with GnuTLS in a
 * child that fetches.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

int _gnutls_global_init_skip(void);
int gnutls_global_init(void);

static bool all_loaded;

/* A program's own constructors come after those of its libraries. */
__attribute__((constructor)) static void
note_loaded(void)
{
	all_loaded = true;
}

/* GnuTLS asks this for its own constructor; GNUTLS_SKIP_GLOBAL_INIT of its header makes the
 * same. */
int
_gnutls_global_init_skip(void)
{
	return 1;
}

int
gnutls_global_init(void)
{
	int (*init)(void) = NULL;

	if (!all_loaded)
		return 0;
	void *const found = dlsym(RTLD_NEXT, "gnutls_global_init");
	memcpy(&init, &found, sizeof(found));
	return init != NULL ? init() : -1;
}
