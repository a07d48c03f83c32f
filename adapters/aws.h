/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the sources of Amazon EC2, between web.h and an adapter:
 * credentials, one action with all its pages, and the items of answers.
 */
#ifndef LT_AWS_H
#define LT_AWS_H

#include "web.h"

/* ---- answers: <root><set><item><field>text</field>... ---- */
enum {
	LT_AWS_FIELDS_MAX = 6,
	LT_AWS_DEPTH_MAX = 32, /* nested elements; more are refused */
	LT_AWS_TEXT_SIZE = 512,
	LT_AWS_PAGE_TOKEN_SIZE = 2048, /* longer: refused */
};

struct lt_aws_text { /* within the answer; at NULL = no such field */
	const char *at;
	size_t length;
};

/* Which items of an answer are wanted. Names are local ones: prefixes and
 * the namespace, whose version differs, are not looked at. */
struct lt_aws_items {
	const char *root, *set;
	const char *fields[LT_AWS_FIELDS_MAX];
	/* Each item, texts in the order of fields; anything but LT_OK ends. */
	int (*take)(
	    void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX], struct lt_error *err);
};
struct lt_aws_page { /* one answer */
	const char *bytes;
	size_t byte_count;
	/* Written on success: the text of <nextToken>, at NULL or length 0 = there is no further
	 * page. */
	struct lt_aws_text next;
};
/*
 * Gives all items of one answer to items->take() with the context. LT_EINPUT with line and column
 * if it is not XML, has another root or a DTD, or is an error. Pure; takes time for the bytes only,
 * and no memory.
 */
int lt_aws_items_read(const struct lt_aws_items *items, void *context, struct lt_aws_page *page,
    struct lt_error *err);
/* Copies a text and replaces the five entities; false if it does not fit, or is absent (out is ""
 * then). */
bool lt_aws_text_copy(char *out, size_t size, const struct lt_aws_text *text);
bool lt_aws_text_is(const struct lt_aws_text *text, const char *wanted);

/* ---- credentials ---- */
struct lt_aws_login {			 /* secret: wiped by the caller (explicit_bzero) */
	char pair[LT_SECRET_SIZE];	 /* "KEY ID:SECRET" */
	char header[LT_TOKEN_SIZE + 32]; /* of a session's token; "" = none */
};
/* The options of credentials, for an adapter's table. */
#define LT_AWS_LOGIN_OPTIONS                                                                       \
	{"credentials", false, "environment, file or instance", "environment"},                    \
	    {"credentials_file", false, "absolute path, mode 0600; for credentials: file", NULL},  \
	    {"profile", false, "section of that file", "default"},                                 \
	{                                                                                          \
		"imds_url", false, "base URL of the instance metadata", "http://169.254.169.254"   \
	}
int lt_aws_login_check(const struct lt_source_options *options, struct lt_error *err);
/* Gets credentials from the environment, the file, or the instance's role, which web->memory keeps
 * until five minutes before they end. Errors have no secret. */
int lt_aws_login_get(
    struct lt_web *web, int64_t now_utc_s, struct lt_aws_login *login, struct lt_error *err);
/* Read credentials from the two kinds of texts; pure, for the above and tests. */
int lt_aws_login_of_file(
    struct lt_aws_login *login, char *text, const char *profile, struct lt_error *err);
int lt_aws_login_of_role(struct lt_aws_login *login, const char *bytes, size_t byte_count,
    int64_t *until_utc_s, struct lt_error *err);

/* ---- requests ---- */
/* Checks the options region and url (default https://ec2.REGION.amazonaws.com). */
int lt_aws_region_check(const struct lt_source_options *options, struct lt_error *err);
/* True for names of instance types and zones: letters, digits, ".-", at most 63. */
bool lt_aws_is_name(const char *text);

struct lt_aws_action {
	const char *name; /* "DescribeSpotPriceHistory" */
	const char *form; /* "&InstanceType.1=..." */
	const struct lt_aws_items *items;
	void *context; /* of items->take() */
	int pages_max;
	void (*error_text)(char *out, size_t size, const char *body, size_t length);
};
/* Asks for all pages. It may fail after some items were taken. */
int lt_aws_do(struct lt_web *web, const struct lt_aws_login *login,
    const struct lt_aws_action *action, struct lt_error *err);
/* Writes "CODE (what to do): message" for an error body; permission: IAM action. */
void lt_aws_error_text(
    char *out, size_t size, const char *body, size_t length, const char *permission);

#endif
