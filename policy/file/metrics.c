/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `metrics:`: where lowtided serves them, and the file whose token opens those
 * that tell money. Without a token there is health only.
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define LOOPBACK "127.0.0.1"

/* "9102", "10.0.0.1:9102" or "[fd00::1]:9102"; false: another text. */
static bool
parse_listen(struct lt_policy_metrics *metrics, const char *text)
{
	char address[LT_LISTEN_ADDRESS_SIZE] = LOOPBACK, *end;
	const char *port = text;
	const bool is_v6 = text[0] == '[';
	const char *const after = strrchr(text, is_v6 ? ']' : ':');
	unsigned char ignored[sizeof(struct in6_addr)];

	if (is_v6 && (after == NULL || after[1] != ':'))
		return false;
	if (after != NULL) {
		const char *const first = is_v6 ? text + 1 : text;
		const size_t length = (size_t)(after - first);

		if (length >= sizeof(address))
			return false;
		memcpy(address, first, length);
		address[length] = '\0';
		port = after + (is_v6 ? 2 : 1);
	}
	if (inet_pton(is_v6 ? AF_INET6 : AF_INET, address, ignored) != 1 ||
	    port[0] < '1' || port[0] > '9')
		return false;
	const long value = strtol(port, &end, 10);
	if (*end != '\0' || value > UINT16_MAX)
		return false;
	snprintf(metrics->address, sizeof(metrics->address), "%s", address);
	metrics->port = (uint16_t)value;
	return true;
}

static void
read_listen(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_metrics *const metrics = &reader->policy->metrics;
	const char *const text = lt_scalar_peek(node);

	(void)object;
	if (text == NULL || !parse_listen(metrics, text))
		lt_unwanted(reader, key, node, "");
	else if (metrics->port == reader->policy->listen_port)
		lt_complain(reader, node,
		    "listen: got port %u, which is that of listen_port, want another",
		    metrics->port);
}

#define AT(field) offsetof(struct lt_policy, metrics.field)
static const struct lt_key metrics_keys[] = {
    {"listen", read_listen, 0, .required = true,
	.want = "a port, or ADDRESS:PORT such as 127.0.0.1:9102"},
    {"token_file", lt_read_path, AT(token_file), .size = LT_VALUE_SIZE,
	.want = "the absolute path of a file of mode 0600"},
    {.name = NULL},
};
#undef AT

void
lt_read_metrics(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	const struct lt_key body = {
	    .name = key->name, .want = key->want, .keys = metrics_keys};

	(void)lt_read_body(reader, &body, node, object);
}
