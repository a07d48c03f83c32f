/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools of a Kubernetes cluster whose nodes are of several machines, or sold in
 * several ways: one price would be wrong for most of them, so each part gets
 * its own.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "init.h"
#include "limits.h"
#include "text.h"

/* A part: of a machine, "" where none has a label of it, and how it is sold. */
struct part {
	char machine[LT_NAME_SIZE];
	bool is_spot;
};

/* "instance-type=m5.large,zone=eu-west-2a,spot" */
static struct part
part_of(const json_t *shape)
{
	static const char key[] = "instance-type=";
	const char *const features = lt_json_text(shape, "features", "");
	struct part part = {.is_spot = lt_text_is_among("spot", features)};

	if (strncmp(features, key, strlen(key)) == 0) {
		const char *const machine = features + strlen(key);

		snprintf(part.machine, sizeof(part.machine), "%.*s",
		    (int)strcspn(machine, ","), machine);
	}
	return part;
}

struct differences { /* between parts of a pool */
	bool machine, sold;
};

static struct differences
differences_of(const json_t *shapes)
{
	const struct part first = part_of(json_array_get(shapes, 0));
	struct differences differ = {false, false};
	const json_t *shape;
	size_t i;

	json_array_foreach(shapes, i, shape) {
		const struct part part = part_of(shape);

		differ.machine |= strcmp(part.machine, first.machine) != 0;
		differ.sold |= part.is_spot != first.is_spot;
	}
	return differ;
}

/* POOL/MACHINE, POOL/SOLD or POOL/MACHINE/SOLD; false: too long, or of nodes
 * that do not say their machine. */
static bool
name_part(char name[LT_NAME_SIZE], const char *pool, const struct part *part,
    const struct differences *differ)
{
	const int length = snprintf(name, LT_NAME_SIZE, "%s%s%s%s", pool,
	    differ->machine ? "/" : "", differ->machine ? part->machine : "",
	    !differ->sold   ? ""
	    : part->is_spot ? "/spot"
			    : "/on-demand");

	return length < LT_NAME_SIZE &&
	       (!differ->machine || part->machine[0] != '\0');
}

/* The part of that name, made where there is none. */
static json_t *
find_or_add(json_t *parts, const char *name, const json_t *pool)
{
	json_t *part;
	size_t i;

	json_array_foreach(parts, i, part)
		if (strcmp(lt_json_text(part, "name", ""), name) == 0)
			return part;
	part = json_copy((json_t *)pool);
	json_object_set_new(part, "name", json_string(name));
	json_object_set_new(part, "nodes", json_integer(0));
	json_object_set_new(part, "shapes", json_array());
	json_array_append_new(parts, part);
	return part;
}

/* NULL: it has none, or they can't be named. */
static json_t *
parts_of(const json_t *pool)
{
	const json_t *const shapes = json_object_get(pool, "shapes");
	const struct differences differ = differences_of(shapes);
	json_t *const parts = json_array();
	const json_t *shape;
	size_t i;

	json_array_foreach(shapes, i, shape) {
		const struct part part = part_of(shape);
		char name[LT_NAME_SIZE];
		int64_t nodes = 0, more = 0;

		if ((!differ.machine && !differ.sold) ||
		    !name_part(
			name, lt_json_text(pool, "name", ""), &part, &differ)) {
			json_decref(parts);
			return NULL;
		}
		json_t *const one = find_or_add(parts, name, pool);
		lt_json_int(one, "nodes", &nodes);
		lt_json_int(shape, "nodes", &more);
		json_object_set_new(one, "nodes", json_integer(nodes + more));
		json_array_append(
		    json_object_get(one, "shapes"), (json_t *)shape);
	}
	return parts;
}

void
lt_init_part(json_t *facts)
{
	json_t *const all = json_array();
	json_t *pool;
	size_t i;

	json_array_foreach(json_object_get(facts, "partitions"), i, pool) {
		json_t *const parts = parts_of(pool);

		if (parts != NULL)
			json_array_extend(all, parts);
		else
			json_array_append(all, pool);
		json_decref(parts);
	}
	json_object_set_new(facts, "partitions", all);
}
