/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `notify:`: how messages leave the site, and who owns a team's budgets. lowtided reads from it
 * what to write, lowtide-notify where to send it. Reads YAML nodes, writes struct lt_policy; a
 * wrong value is a complaint with its line.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"
#include "units.h"

static char *
target(const struct lt_key *key, void *object)
{
	return (char *)object + key->offset;
}

static void
read_address(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *const text = lt_scalar_peek(node);

	if (text == NULL || !lt_address_is(text))
		lt_unwanted(reader, key, node, "");
	else
		snprintf(target(key, object), key->size, "%s", text);
}

/* Without a user, a blank or a control character in it. */
static bool
is_url(const char *text, const char *scheme)
{
	const size_t length = strlen(scheme);

	return strncmp(text, scheme, length) == 0 && text[length] != '\0' &&
	       strpbrk(text, "@\"'<> \t\r\n\177") == NULL;
}

static void
read_server(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *const text = lt_scalar_peek(node);

	if (text == NULL || strlen(text) >= key->size ||
	    (!is_url(text, "smtp://") && !is_url(text, "smtps://")))
		lt_unwanted(reader, key, node, "");
	else
		snprintf(target(key, object), key->size, "%s", text);
}

static void
read_webhook(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *const text = lt_scalar_peek(node);

	if (text == NULL || strlen(text) >= key->size ||
	    (!is_url(text, "https://") && !(is_url(text, "http://") && lt_url_is_loopback(text))))
		lt_unwanted(reader, key, node, "");
	else
		snprintf(target(key, object), key->size, "%s", text);
}

#define AT(field) offsetof(struct lt_policy, notify.field)
static const struct lt_key mail_keys[] = {
    {"server", read_server, AT(mail_server), .size = LT_VALUE_SIZE,
	.want = "smtp://HOST or smtps://HOST such as smtp://localhost"},
    {"from", read_address, AT(mail_from), .size = LT_ADDRESS_SIZE,
	.want = "an address such as lowtide@hpc.example.org"},
    {.name = NULL},
};
static const struct lt_key webhook_keys[] = {
    {"url", read_webhook, AT(webhook_url), .size = LT_VALUE_SIZE, .required = true,
	.want =
	    "https://HOST/PATH (http:// on this host only) such as https://chat.example.org/hooks/1"},
    {"secret_file", lt_read_path, AT(webhook_secret_file), .size = LT_VALUE_SIZE, .required = true,
	.want = "the absolute path of a file of mode 0600"},
    {.name = NULL},
};
#undef AT

/* Reads it with its defaults, which count once there is the key. */
static void
read_mail(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_notify *const notify = &reader->policy->notify;

	snprintf(notify->mail_server, sizeof(notify->mail_server), "smtp://localhost");
	snprintf(notify->mail_from, sizeof(notify->mail_from), "lowtide");
	if (!lt_is_nothing(node))
		lt_read_keys(reader, key, node, object);
}

/* A user and the address of their mail. */
struct owner {
	char user[LT_NAME_SIZE], to[LT_ADDRESS_SIZE];
};
static const struct lt_key owner_keys[] = {
    {"user", lt_read_name, offsetof(struct owner, user), .size = LT_NAME_SIZE, .required = true,
	.want = "a user of the system such as alice"},
    {"mail", read_address, offsetof(struct owner, to), .size = LT_ADDRESS_SIZE, .required = true,
	.want = "an address such as alice@example.org"},
    {.name = NULL},
};

/* Reads a name or an address. A name without a host is a user's, who gets mail by it. No user is
 * ever guessed from an address: anybody who can have that address would be that user. */
static void
read_owner(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    struct owner *owner)
{
	const struct lt_key body = {.name = key->name, .want = key->want, .keys = owner_keys};

	*owner = (struct owner){.user = ""};
	if (node->type == YAML_MAPPING_NODE) {
		lt_read_keys(reader, &body, node, owner);
		return;
	}
	struct lt_key address = *key;
	address.offset = offsetof(struct owner, to);
	read_address(reader, &address, node, owner);
	if (strchr(owner->to, '@') == NULL && strlen(owner->to) < sizeof(owner->user))
		(void)strcpy(owner->user, owner->to);
}

/* The owners of one team. */
static void
read_owners(struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	struct lt_policy_owners *const owners = item;
	const struct lt_key key = {.name = owners->team,
	    .size = LT_ADDRESS_SIZE,
	    .want = "a list of users or addresses such as [alice, bob@example.org]"};

	lt_place(name, &owners->line, &owners->column);
	if (node->type != YAML_SEQUENCE_NODE) {
		lt_unwanted(reader, &key, node, "");
		return;
	}
	for (const yaml_node_item_t *one = node->data.sequence.items.start;
	     one < node->data.sequence.items.top; one++) {
		const yaml_node_t *const at = yaml_document_get_node(reader->document, *one);
		struct owner owner;

		if (owners->count == LT_MESSAGE_TO_MAX) {
			lt_complain(reader, at,
			    "%s: got more than %d owners, want at most that many", owners->team,
			    LT_MESSAGE_TO_MAX);
			return;
		}
		read_owner(reader, &key, at, &owner);
		if (owner.to[0] == '\0')
			continue;
		memcpy(owners->to[owners->count], owner.to, sizeof(owner.to));
		memcpy(owners->user[owners->count++], owner.user, sizeof(owner.user));
	}
}

#define AT(field) offsetof(struct lt_policy, notify.field)
static const struct lt_key unusual_keys[] = {
    {"percent", lt_read_u32, AT(alerts.unusual.percent), .min = 1, .max = 10000, .required = true,
	.want = "a whole percent from 1 to 10000 such as 50"},
    {"amount", lt_read_money_limit, AT(alerts.unusual.floor), .min = 0, .max = LT_MONEY_MAX,
	.is_money = true, .want = "money from 0 such as 100"},
    {"kg_co2e", lt_read_carbon_limit, AT(alerts.unusual.floor), .min = 0, .max = 1e12,
	.want = "kg CO2e from 0 such as 20"},
    {.name = NULL},
};
#undef AT

static void
read_unusual(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const struct lt_amount *const floor = &reader->policy->notify.alerts.unusual.floor;
	const int errors = reader->errors->count;

	lt_read_keys(reader, key, node, object);
	if (reader->errors->count == errors && !floor->has_money && !floor->has_carbon)
		lt_complain(reader, node,
		    "unusual_day: got neither amount nor kg_co2e, want one: by how much at least");
}

#define AT(field) offsetof(struct lt_policy, notify.field)
static const struct lt_items owner_items = {
    .item_size = sizeof(struct lt_policy_owners),
    .name_size = LT_ACCOUNT_SIZE,
    .is_account = true,
    .max = LT_BUDGETS_MAX,
    .count_offset = AT(owner_count),
    .read = read_owners,
};
static const struct lt_key notify_keys[] = {
    {"spool", lt_read_path, AT(spool), .size = LT_VALUE_SIZE,
	.want = "an absolute path such as /var/spool/lowtide"},
    {"mail", read_mail, 0, .keys = mail_keys,
	.want = "a mapping such as {server: smtp://localhost}"},
    {"webhook", lt_read_keys, 0, .keys = webhook_keys,
	.want = "a mapping such as {url: https://..., secret_file: /...}"},
    {"command", lt_read_path, AT(command), .size = LT_VALUE_SIZE,
	.want = "the absolute path of a program"},
    {"digest_hour", lt_read_u32, AT(digest_hour), .min = 0, .max = 23,
	.want = "a whole hour of the day from 0 to 23 such as 7"},
    {"run_above", lt_read_double, AT(alerts.run_above), .min = 1, .max = 1000,
	.want = "a number from 1 to 1000 such as 3"},
    {"unusual_day", read_unusual, 0, .keys = unusual_keys,
	.want = "a mapping such as {percent: 50, amount: 100}"},
    {"idle_gpus", lt_read_duration, AT(alerts.idle_gpus_s), .min = 600, .max = 30 * LT_DAY_S,
	.want = "a duration from 10m to 30d such as 1h"},
    {"owners", lt_read_items, AT(owners), .items = &owner_items,
	.want = "a mapping such as {vision: [alice, bob@example.org]}"},
    {.name = NULL},
};
#undef AT

void
lt_read_notify(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_notify *const notify = &reader->policy->notify;
	const int errors = reader->errors->count;
	const struct lt_key body = {.name = key->name, .want = key->want, .keys = notify_keys};

	snprintf(notify->spool, sizeof(notify->spool), "/var/spool/lowtide");
	if (!lt_read_body(reader, &body, node, object) || reader->errors->count > errors)
		return;
	if (notify->mail_server[0] == '\0' && notify->webhook_url[0] == '\0' &&
	    notify->command[0] == '\0')
		lt_complain(reader, node,
		    "notify: got none of mail, webhook and command, want at least one");
	notify->is_set = true;
}

const struct lt_policy_owners *
lt_policy_owners_of(const struct lt_policy *policy, const char *team)
{
	for (int i = 0; i < policy->notify.owner_count; i++)
		if (strcmp(policy->notify.owners[i].team, team) == 0)
			return &policy->notify.owners[i];
	return NULL;
}

bool
lt_policy_is_owner(const struct lt_policy_owners *owners, const char *user)
{
	for (int i = 0; owners != NULL && user[0] != '\0' && i < owners->count; i++)
		if (strcmp(owners->user[i], user) == 0)
			return true;
	return false;
}
