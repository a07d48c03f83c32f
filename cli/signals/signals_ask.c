/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All sources, asked of lowtided page by page.
 */
#include "signals.h"

/* One page, its sources appended to those of *answer. */
static int
ask_page(json_t **answer, int64_t *next, const struct lt_cli *cli,
    const char *path, struct lt_error *err)
{
	char page_path[64];
	json_t *page = NULL;
	const int64_t offset = *next;

	snprintf(page_path, sizeof(page_path), "%s?offset=%lld", path,
	    (long long)offset);
	if (lt_client_get(&page, cli, page_path, err))
		return err->code;
	if (!lt_json_int(page, "next", next))
		*next = 0; /* the last one */
	json_object_del(page, "next");
	const json_t *const more = json_object_get(page, "sources");

	if (!json_is_array(more) || (*next != 0 && *next <= offset)) {
		lt_fail(err, LT_EINPUT, "signals: not a page of them");
	} else if (*answer == NULL) {
		*answer = page;
		return LT_OK;
	} else if (json_array_extend(
		       json_object_get(*answer, "sources"), (json_t *)more)) {
		lt_fail(err, LT_ENOMEM, "signals: no memory");
	}
	json_decref(page);
	return err->code;
}

json_t *
lt_signals_ask(const struct lt_cli *cli, const char *path, struct lt_error *err)
{
	json_t *answer = NULL;
	int64_t next = 0;

	do {
		if (ask_page(&answer, &next, cli, path, err)) {
			json_decref(answer);
			return NULL;
		}
	} while (next > 0);
	return answer;
}
