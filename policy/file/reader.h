/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside policy/file: how a YAML document becomes a struct. policy.c opens,
 * yaml.c walks by the tables of keys.c, values.c has the scalars, the others
 * what is larger, each with the table of its own keys.
 */
#ifndef LT_READER_H
#define LT_READER_H

#include <yaml.h>

#include "policy.h"

struct lt_reader;
struct lt_key;

/* Read node into object (of the key's table), or complain. */
typedef void lt_read_fn(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object);

struct lt_word { /* ended by name NULL */
	const char *name;
	int value;
};

/* Read one item of a collection; name is NULL in a list. */
typedef void lt_item_fn(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item);

struct lt_items { /* a named mapping, or a list, of equal structs */
	size_t item_size;
	size_t name_size; /* of the name, the item's first field; 0 = a list */
	bool is_account;  /* the name: in lower case, as Slurm has it */
	int max;
	size_t count_offset; /* of the int in struct lt_policy */
	lt_item_fn *read;
};

struct lt_key { /* ended by name NULL */
	const char *name;
	lt_read_fn *read;
	size_t offset;	 /* of the value in the object */
	size_t size;	 /* of a text there */
	double min, max; /* in the file's unit */
	const char *want;
	bool required, is_money;
	const struct lt_word *words;
	const struct lt_key *keys; /* of a mapping within */
	const struct lt_items *items;
};

enum { LT_KEYS_MAX = 44 }; /* of one table */

/* Largest amount of money a policy may name: far from int64_t micros. */
#define LT_MONEY_MAX 1e12

struct lt_reader {
	const char *name; /* of the file */
	yaml_document_t *document;
	struct lt_policy *policy;
	const char *const *known_adapters;
	struct lt_policy_errors *errors;
	const char *money_key; /* first one that needs a currency */
	const yaml_node_t *money_node;
	bool has_currency;		/* right or wrong */
	const struct lt_key *keys_told; /* those of the last list */
};

/* ---- yaml.c ---- */

/* Load the one document of text; false after a complaint. On success
 * the caller deletes the document. */
bool lt_yaml_load(
    struct lt_reader *reader, yaml_document_t *document, const char *text, size_t length);

/* "FILE:LINE:COL: " and the text, into reader->errors. at NULL = 1:1. */
void lt_complain(struct lt_reader *reader, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "KEY: got WHAT STANDS THERE, want KEY'S WANT" and a suffix. */
void lt_unwanted(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    const char *suffix);
/* "; write 5000" for "5,000", "; write 3.60" for "3,60" or "$3.60"; "" for
 * other text. Returns out. */
const char *lt_number_hint(char *out, size_t size, const char *text);
/* True if no more errors have room: stop. */
bool lt_errors_full(const struct lt_reader *reader);

/* A written scalar without NUL inside, or NULL (a mapping, a list, nothing). Lent until the
 * document is deleted. */
const char *lt_scalar_peek(const yaml_node_t *node);
/* Nothing after the colon, "~" or "null". */
bool lt_is_nothing(const yaml_node_t *node);

/* Read a mapping by its table of keys. */
void lt_read_mapping(
    struct lt_reader *reader, const struct lt_key *keys, const yaml_node_t *node, void *object);

/* "; did you mean X?", else "; known: A, B, C", "" without names (ended by NULL). */
void lt_suggest(char *out, size_t size, const char *word, const char *const *names);

/* ---- values.c; what each accepts is its key's `want` ---- */
lt_read_fn lt_read_name, lt_read_account, lt_read_currency, lt_read_timezone, lt_read_word,
    lt_read_word_bits, lt_read_bool, lt_read_duration, lt_read_ppm, lt_read_micros, lt_read_double,
    lt_read_port, lt_read_u32, lt_read_mebibytes, lt_read_capability, lt_read_money_limit,
    lt_read_carbon_limit, lt_read_percents, lt_read_months, lt_read_groups, lt_read_path;
/* "2026-11-01" at 00:00 in zone ("" = the process's); false for another
 * text or a day that is not. */
bool lt_date_utc_s(const char *text, const char *zone, int64_t *utc_s);
/* Copies a name into out; false after a complaint. */
bool lt_take_name(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    char *out, size_t size);
/* Lowers in place; A to Z only, as Slurm does with accounts and QOS. */
void lt_lower(char *text);
/* A code of ISO 4217, in capitals, that money is in today. */
bool lt_currency_is(const char *code);
/* "; did you mean USD?", "" where none is near; returns out. */
const char *lt_currency_hint(char *out, size_t size, const char *code);

/* ---- items.c ---- */
lt_read_fn lt_read_items, lt_read_keys;
lt_item_fn lt_read_source;
/* Reads the body of an item by key's name, want and keys; false after a complaint when it is not a
 * mapping. */
bool lt_read_body(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object);
/* Where node begins, from 1. */
void lt_place(const yaml_node_t *node, int *line, int *column);

/* ---- partitions.c ---- */
lt_item_fn lt_read_gpu, lt_read_partition, lt_read_power_cap;
lt_read_fn lt_read_gpu_name;

/* ---- budgets.c ---- */
lt_item_fn lt_read_budget;
lt_item_fn lt_read_labels;
/* One line of UTF-8 without control characters, of the key's size, and not empty where its min is
 * 1. */
lt_read_fn lt_read_line;

/* ---- classes.c ---- */
lt_item_fn lt_read_class;
lt_read_fn lt_read_defaults; /* gone: says what took its place */

/* ---- precision.c ---- */
lt_item_fn lt_read_precision;

/* ---- notify.c ---- */
lt_read_fn lt_read_notify;

/* ---- keys.c ---- */
extern const struct lt_key lt_policy_keys[];
/* Checks rules that concern more than one key. */
void lt_policy_finish(struct lt_reader *reader);

#endif
