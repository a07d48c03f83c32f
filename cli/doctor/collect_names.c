/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces the names of a site, for doctor --collect. The letters come from the system's random
 * numbers and not from the name, so that there is nothing to guess. A name that was met before gets
 * the same replacement.
 */
#include "collect_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { TRIES = 64, GRES_PARTS = 8 };

struct alias {
	enum lt_alias_kind kind;
	char *name, *other;
};

struct lt_aliases {
	struct alias *all;
	size_t count, room;
};

struct lt_aliases *
lt_aliases_open(void)
{
	return calloc(1, sizeof(struct lt_aliases));
}

void
lt_aliases_close(struct lt_aliases *aliases)
{
	for (size_t i = 0; aliases != NULL && i < aliases->count; i++) {
		free(aliases->all[i].name);
		free(aliases->all[i].other);
	}
	if (aliases != NULL)
		free(aliases->all);
	free(aliases);
}

static bool
is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* True for a product that can be bought: it does not identify a site. */
static bool
is_gpu(const char *name)
{
	static const char *const parts[] = {"k80", "p40", "p100", "v100", "t4", "a2", "a10", "a16",
	    "a30", "a40", "a100", "l4", "h100", "h200", "b200", "b300", "rtx", "gtx", "titan",
	    "quadro", "tesla", "nvidia", "mi50", "mi100", "mi2", "mi3", "gfx", "1g.", "2g.", "3g.",
	    "4g.", "7g.", NULL};
	char lower[256];
	size_t i = 0;

	for (; name[i] != '\0' && i + 1 < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	lower[i] = '\0';
	for (const char *const *part = parts; *part != NULL; part++)
		if (strstr(lower, *part) != NULL)
			return true;
	return false;
}

static bool
stays(enum lt_alias_kind kind, const char *name)
{
	static const char *const gres[] = {"gpu", "shard", "mps", "nic", "craynetwork", "bandwidth",
	    "lscratch", "localtmp", "tmp", "fpga", NULL};
	static const char *const usual[] = {"", "root", "normal", "ALL", NULL};

	switch (kind) {
	case LT_ALIAS_GRES:
		return is_one_of(name, gres);
	case LT_ALIAS_FEATURE:
		return is_gpu(name);
	default:
		return is_one_of(name, usual);
	}
}

static char
random_of(char letter)
{
	unsigned char byte = 0;

	if (getrandom(&byte, 1, 0) != 1)
		abort();
	if (isdigit((unsigned char)letter))
		return (char)('0' + byte % 10);
	if (isupper((unsigned char)letter))
		return (char)('A' + byte % 26);
	if (isalpha((unsigned char)letter) || (letter & 0x80))
		return (char)('a' + byte % 26);
	return letter;
}

static bool
is_taken(const struct lt_aliases *aliases, enum lt_alias_kind kind, const char *other)
{
	for (size_t i = 0; i < aliases->count; i++)
		if (aliases->all[i].kind == kind && strcasecmp(aliases->all[i].other, other) == 0)
			return true;
	return false;
}

/* Returns a new name of the same form, the caller's; NULL: no memory. If a short form has no free
 * names left, it grows by a letter. */
static char *
other_name(const struct lt_aliases *aliases, enum lt_alias_kind kind, const char *name)
{
	size_t length = strlen(name);
	char *const other = calloc(1, length + TRIES + 1);

	if (other == NULL || stays(kind, name))
		return other != NULL ? strcpy(other, name) : NULL;
	for (int i = 0; i < 2 * TRIES; i++) {
		for (size_t at = 0; at < length; at++)
			other[at] = random_of(name[at] != '\0' ? name[at] : 'x');
		if (!is_taken(aliases, kind, other))
			break;
		if (i >= TRIES)
			other[length++] = 'x';
	}
	return other;
}

static const struct alias *
find_alias(struct lt_aliases *aliases, enum lt_alias_kind kind, const char *name)
{
	for (size_t i = 0; i < aliases->count; i++)
		if (aliases->all[i].kind == kind && strcmp(aliases->all[i].name, name) == 0)
			return &aliases->all[i];
	return NULL;
}

static const struct alias *
add_alias(struct lt_aliases *aliases, enum lt_alias_kind kind, const char *name, char *other)
{
	if (aliases->count == aliases->room) {
		const size_t room = aliases->room * 2 + 64;
		struct alias *const all = realloc(aliases->all, room * sizeof(*all));

		if (all == NULL)
			return NULL;
		aliases->all = all;
		aliases->room = room;
	}
	struct alias *const new = &aliases->all[aliases->count];

	*new = (struct alias){kind, strdup(name), other};
	if (new->name == NULL || new->other == NULL)
		return NULL;
	aliases->count++;
	return new;
}

const char *
lt_alias(struct lt_aliases *aliases, enum lt_alias_kind kind, const char *name)
{
	const struct alias *alias = find_alias(aliases, kind, name);

	if (alias == NULL)
		alias = add_alias(aliases, kind, name, other_name(aliases, kind, name));
	/* Without memory, hide the name altogether. */
	return alias != NULL ? alias->other : "x";
}

const char *
lt_alias_at(const struct lt_aliases *aliases, enum lt_alias_kind kind, size_t n)
{
	for (size_t i = 0; i < aliases->count; i++)
		if (aliases->all[i].kind == kind && n-- == 0)
			return aliases->all[i].other;
	return NULL;
}

bool
lt_alias_is_new(struct lt_aliases *aliases, const char *first, const char *second)
{
	char pair[512];

	snprintf(pair, sizeof(pair), "%s|%s", first, second);
	if (find_alias(aliases, LT_ALIAS_SEEN, pair) != NULL)
		return false;
	return add_alias(aliases, LT_ALIAS_SEEN, pair, strdup("")) != NULL;
}

void
lt_alias_gres(struct lt_aliases *aliases, FILE *out, const char *gres)
{
	char copy[512], *rest = copy;
	bool of_gpu = false;

	snprintf(copy, sizeof(copy), "%s", gres);
	for (int i = 0; i < GRES_PARTS && rest != NULL; i++) {
		const char *const part = strsep(&rest, ":");
		const bool is_word = i == 0 || !(isdigit((unsigned char)part[0]) &&
						   part[strspn(part, "0123456789")] == '\0');

		if (i == 0)
			of_gpu = strcmp(part, "gpu") == 0 || strcmp(part, "shard") == 0 ||
				 strcmp(part, "mps") == 0;
		else
			fputc(':', out);
		if (!is_word || strcmp(part, "no_consume") == 0 ||
		    (of_gpu && i > 0 && is_gpu(part)) ||
		    (i > 0 && isdigit((unsigned char)part[0]) &&
			strlen(part + strspn(part, "0123456789")) == 1))
			fputs(part, out);
		else
			fputs(lt_alias(aliases, LT_ALIAS_GRES, part), out);
	}
}

void
lt_alias_tres(struct lt_aliases *aliases, FILE *out, const char *tres)
{
	const char *const slash = strchr(tres, '/');

	if (strncmp(tres, "gres/", 5) == 0) {
		fputs("gres/", out);
		lt_alias_gres(aliases, out, slash + 1);
	} else if (strncmp(tres, "license/", 8) == 0) {
		fprintf(out, "license/%s", lt_alias(aliases, LT_ALIAS_LICENSE, slash + 1));
	} else {
		fputs(tres, out);
	}
}
