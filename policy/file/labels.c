/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `labels:` of a team, as finance knows it: texts by key, that reports show
 * and nothing else reads; and lines of text as they are in them.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "text.h"

#define KEY_CHARACTERS                                                         \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-"
#define OUR_PREFIX "lowtide/" /* of what reports say of jobs themselves */

bool
lt_label_key_is_valid(const char *key)
{
	return key[0] != '\0' && key[strspn(key, KEY_CHARACTERS)] == '\0' &&
	       strlen(key) < LT_LABEL_KEY_SIZE &&
	       strncmp(key, OUR_PREFIX, strlen(OUR_PREFIX)) != 0;
}

static bool
take_key(struct lt_reader *reader, const struct lt_policy_team *team,
    const yaml_node_t *node, struct lt_policy_label *label)
{
	const struct lt_key key = {.name = team->name,
	    .want =
		"a key of 1 to 63 letters, digits, _ . / or -, not beginning with lowtide/"};
	const char *const text = lt_scalar_peek(node);

	if (text == NULL || !lt_label_key_is_valid(text)) {
		lt_unwanted(reader, &key, node, "");
		return false;
	}
	for (int i = 0; i < team->label_count; i++)
		if (strcmp(team->labels[i].key, text) == 0) {
			lt_complain(reader, node,
			    "%s: got %s twice, want it once", team->name, text);
			return false;
		}
	(void)strcpy(label->key, text);
	return true;
}

static bool
take_line(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, char *line)
{
	const char *const text = lt_scalar_peek(node);
	char shown[LT_LABEL_SIZE];

	if (text != NULL && strlen(text) < key->size &&
	    strlen(text) >= (size_t)key->min) {
		snprintf(shown, sizeof(shown), "%s", text);
		lt_text_line(shown);
		if (strcmp(shown, text) == 0) {
			(void)strcpy(line, text);
			return true;
		}
	}
	lt_unwanted(reader, key, node, "");
	return false;
}

void
lt_read_line(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	take_line(reader, key, node, (char *)object + key->offset);
}

static bool
take_value(struct lt_reader *reader, const yaml_node_t *node,
    struct lt_policy_label *label)
{
	const struct lt_key key = {.name = label->key,
	    .size = sizeof(label->value),
	    .want = "a text of at most 255 bytes, no control characters"};

	return take_line(reader, &key, node, label->value);
}

void
lt_read_labels(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	struct lt_policy_team *const team = item;
	const struct lt_key body = {.name = team->name,
	    .want = "a mapping such as {cost_center: 4711}"};

	(void)name;
	if (node->type != YAML_MAPPING_NODE) {
		lt_unwanted(reader, &body, node, "");
		return;
	}
	const yaml_node_pair_t *const pairs = node->data.mapping.pairs.start;
	const ptrdiff_t count = node->data.mapping.pairs.top - pairs;
	if (count > LT_LABELS_MAX) {
		lt_complain(reader, node, "%s: got %td labels, want at most %d",
		    team->name, count, LT_LABELS_MAX);
		return;
	}
	team->labels = calloc((size_t)count + 1, sizeof(*team->labels));
	if (team->labels == NULL) {
		lt_complain(reader, node, "%s: out of memory", team->name);
		return;
	}
	for (ptrdiff_t i = 0; i < count && !lt_errors_full(reader); i++) {
		struct lt_policy_label *const label =
		    &team->labels[team->label_count];

		if (take_key(reader, team,
			yaml_document_get_node(reader->document, pairs[i].key),
			label) &&
		    take_value(reader,
			yaml_document_get_node(
			    reader->document, pairs[i].value),
			label))
			team->label_count++;
	}
}
