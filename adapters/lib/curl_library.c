/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads libcurl by its name when it is first needed, so that lowtided itself is not linked with it.
 * A host without libcurl gets an error with the name of the library.
 */
#include <dlfcn.h>
#include <string.h>

#include "curl_library.h"

struct lt_curl lt_curl;
static bool is_loaded, is_ready; /* is_ready: to send */

int
lt_curl_load(struct lt_error *err)
{
	static const char file[] = "libcurl.so.4";
	static const struct {
		void *to;
		const char *name;
	} functions[] = {
	    {&lt_curl.global_init, "curl_global_init"},
	    {&lt_curl.global_cleanup, "curl_global_cleanup"},
	    {&lt_curl.easy_init, "curl_easy_init"},
	    {&lt_curl.easy_setopt, "curl_easy_setopt"},
	    {&lt_curl.easy_perform, "curl_easy_perform"},
	    {&lt_curl.easy_getinfo, "curl_easy_getinfo"},
	    {&lt_curl.easy_strerror, "curl_easy_strerror"},
	    {&lt_curl.easy_reset, "curl_easy_reset"},
	    {&lt_curl.easy_cleanup, "curl_easy_cleanup"},
	    {&lt_curl.slist_append, "curl_slist_append"},
	    {&lt_curl.slist_free_all, "curl_slist_free_all"},
	    {&lt_curl.url, "curl_url"},
	    {&lt_curl.url_set, "curl_url_set"},
	    {&lt_curl.url_get, "curl_url_get"},
	    {&lt_curl.url_cleanup, "curl_url_cleanup"},
	    {&lt_curl.free, "curl_free"},
	    {&lt_curl.getdate, "curl_getdate"},
	};

	if (is_loaded)
		return LT_OK;
	void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return lt_fail(err, LT_EIO, "%s", dlerror());
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *const found = dlsym(library, functions[i].name);

		if (found == NULL)
			return lt_fail(err, LT_EIO, "%s has no %s", file, functions[i].name);
		memcpy(functions[i].to, &found, sizeof(found));
	}
	is_loaded = true;
	return LT_OK;
}

int
lt_curl_init(struct lt_error *err)
{
	if (is_ready)
		return LT_OK;
	const int code = lt_curl_load(err);
	if (code != LT_OK)
		return code;
	const CURLcode result = lt_curl.global_init(CURL_GLOBAL_DEFAULT);
	if (result != CURLE_OK)
		return lt_fail(err, LT_EIO, "libcurl: %s", lt_curl.easy_strerror(result));
	is_ready = true;
	return LT_OK;
}

void
lt_curl_cleanup(void)
{
	if (is_ready)
		lt_curl.global_cleanup();
	is_ready = false;
}
