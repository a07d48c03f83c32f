/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes what finds a list's parts in its text: all parts lie within it, in order, and each walk
 * ends. Of what is JSON, the objects are those that jansson finds.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "send.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

static void
check_within(struct lt_kube_span part, struct lt_kube_span whole)
{
	if (part.at < whole.at || part.end <= part.at || part.end > whole.end)
		__builtin_trap();
}

/* How many there are, or -1 for what is no list. */
static long
count_items(struct lt_kube_span body)
{
	struct lt_kube_span items, rest, element, value;
	char name[64];
	long count = 0;
	int more = -1;

	if (!lt_kube_member(body, "items", &items))
		return -1;
	check_within(items, body);
	if (!lt_kube_elements(items, &rest))
		return -1;
	while ((more = lt_kube_next(&rest, &element)) == 1) {
		check_within(element, items);
		if (lt_kube_member(element, "name", &value)) {
			check_within(value, element);
			lt_kube_text(value, name, sizeof(name));
		}
		count++;
	}
	return more == 0 ? count : -1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const struct lt_kube_span body = {(const char *)bytes, (const char *)bytes + byte_count};
	const long count = count_items(body);
	json_t *const json = json_loadb(
	    (const char *)bytes, byte_count, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
	const json_t *const items = json_object_get(json, "items");

	if (json_is_array(items) && (long)json_array_size(items) != count)
		__builtin_trap();
	json_decref(json);
	return 0;
}
