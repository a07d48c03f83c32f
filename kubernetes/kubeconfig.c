/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a kubeconfig: its current context's cluster and user. What lowtide does not do (plugins,
 * unverified TLS) is refused by name, never left out.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "address.h"
#include "base64.h"
#include "kubeconfig.h"
#include "text_mend.h"

enum { DEPTH_MAX = 16, SHOWN_MAX = 60 };

struct reading {
	const char *file;
	yaml_document_t document;
	struct lt_kube_config *config;
	struct lt_error *err;
};

struct refused { /* a key that changes who we are or whom we ask */
	const char *key, *words;
};

static const struct refused refused_of_clusters[] = {
    {"proxy-url", "want it in the environment, as HTTPS_PROXY"},
    {"tls-server-name", "want a server whose certificate has its own name"},
    {NULL, NULL},
};

#define PLUGIN_WORDS                                                                               \
	"lowtide runs no plugins; want the token of a ServiceAccount (kubectl create token), a tokenFile or a client-certificate"

static const struct refused refused_of_users[] = {
    {"exec", PLUGIN_WORDS},
    {"auth-provider", PLUGIN_WORDS},
    {"username", "want a token or a client-certificate"},
    {"password", "want a token or a client-certificate"},
    {"as", "want the user itself: lowtide acts as nobody else"},
    {"as-uid", "want the user itself: lowtide acts as nobody else"},
    {"as-groups", "want the user itself: lowtide acts as nobody else"},
    {"as-user-extra", "want the user itself: lowtide acts as nobody else"},
    {NULL, NULL},
};

static int fail_at(const struct reading *reading, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int
fail_at(const struct reading *reading, const yaml_node_t *at, const char *format, ...)
{
	va_list arguments;
	char text[LT_ERROR_TEXT_SIZE];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (at == NULL)
		lt_fail(reading->err, LT_EINPUT, "%.200s: %s", reading->file, text);
	else
		lt_fail(reading->err, LT_EINPUT, "%.200s:%zu:%zu: %s", reading->file,
		    at->start_mark.line + 1, at->start_mark.column + 1, text);
	return lt_error_mend(reading->err, LT_EINPUT);
}

/* ---- YAML ---- */

static int
complain_yaml(const struct reading *reading, const yaml_parser_t *parser)
{
	lt_fail(reading->err, LT_EINPUT, "%.200s:%zu:%zu: YAML: %s", reading->file,
	    parser->problem_mark.line + 1, parser->problem_mark.column + 1,
	    parser->problem != NULL ? parser->problem : "out of memory");
	return lt_error_mend(reading->err, LT_EINPUT);
}

/* libyaml's time grows by the square of the depth, so tokens are counted before it builds
 * anything. */
static int
check_depth(const struct reading *reading, yaml_parser_t *parser)
{
	int depth = 0, code = LT_OK;
	bool more = true;

	while (more && code == LT_OK) {
		yaml_token_t token;

		if (!yaml_parser_scan(parser, &token))
			return complain_yaml(reading, parser);
		const yaml_token_type_t type = token.type;
		if (type == YAML_BLOCK_SEQUENCE_START_TOKEN ||
		    type == YAML_BLOCK_MAPPING_START_TOKEN ||
		    type == YAML_FLOW_SEQUENCE_START_TOKEN || type == YAML_FLOW_MAPPING_START_TOKEN)
			depth++;
		else if (type == YAML_BLOCK_END_TOKEN || type == YAML_FLOW_SEQUENCE_END_TOKEN ||
			 type == YAML_FLOW_MAPPING_END_TOKEN)
			depth--;
		if (depth > DEPTH_MAX)
			code = lt_fail(reading->err, LT_EINPUT,
			    "%.200s:%zu: YAML nested deeper than %d levels", reading->file,
			    token.start_mark.line + 1, DEPTH_MAX);
		more = type != YAML_STREAM_END_TOKEN;
		yaml_token_delete(&token);
	}
	return code;
}

static int
load_step(struct reading *reading, const char *bytes, size_t byte_count,
    int step(struct reading *reading, yaml_parser_t *parser))
{
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return lt_fail(reading->err, LT_ENOMEM, "%.200s", reading->file);
	yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, byte_count);
	const int code = step(reading, &parser);
	yaml_parser_delete(&parser);
	return code;
}

static int
depth_step(struct reading *reading, yaml_parser_t *parser)
{
	return check_depth(reading, parser);
}

static int
document_step(struct reading *reading, yaml_parser_t *parser)
{
	return yaml_parser_load(parser, &reading->document) ? LT_OK
							    : complain_yaml(reading, parser);
}

/* NULL too for what is there and says nothing: "token:", "token: null". */
static const yaml_node_t *
value_of(struct reading *reading, const yaml_node_t *mapping, const char *key)
{
	if (mapping == NULL || mapping->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top; pair++) {
		const yaml_node_t *const name =
		    yaml_document_get_node(&reading->document, pair->key);
		const yaml_node_t *const value =
		    yaml_document_get_node(&reading->document, pair->value);

		if (name->type != YAML_SCALAR_NODE ||
		    strcmp((const char *)name->data.scalar.value, key) != 0)
			continue;
		if (value->type != YAML_SCALAR_NODE)
			return value;
		const char *const text = (const char *)value->data.scalar.value;
		const bool is_plain = value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		return text[0] == '\0' || (is_plain && (strcmp(text, "~") == 0 ||
							   strcasecmp(text, "null") == 0))
			   ? NULL
			   : value;
	}
	return NULL;
}

/* *text is NULL without the key, and lent until the document is deleted. */
static int
text_of(struct reading *reading, const yaml_node_t *mapping, const char *key, const char **text)
{
	const yaml_node_t *const node = value_of(reading, mapping, key);

	*text = NULL;
	if (node == NULL)
		return LT_OK;
	if (node->type != YAML_SCALAR_NODE)
		return fail_at(reading, node, "%s: got a %s, want a text", key,
		    node->type == YAML_MAPPING_NODE ? "mapping" : "list");
	*text = (const char *)node->data.scalar.value;
	if (strlen(*text) != node->data.scalar.length)
		return fail_at(reading, node, "%s: got a NUL byte, want a text", key);
	return LT_OK;
}

/* The mapping `part` of the item called name in a list at the top. */
static int
find_named(struct reading *reading, const char *list, const char *part, const char *name,
    const yaml_node_t **found)
{
	const yaml_node_t *const root = yaml_document_get_root_node(&reading->document);
	const yaml_node_t *const items = value_of(reading, root, list);

	if (items == NULL || items->type != YAML_SEQUENCE_NODE)
		return fail_at(reading, items != NULL ? items : root,
		    "%s: got no list, want one with a %s \"%.*s\"", list, part, SHOWN_MAX, name);
	for (const yaml_node_item_t *item = items->data.sequence.items.start;
	     item < items->data.sequence.items.top; item++) {
		const yaml_node_t *const node = yaml_document_get_node(&reading->document, *item);
		const char *text;

		if (text_of(reading, node, "name", &text) != LT_OK)
			return LT_EINPUT;
		if (text == NULL || strcmp(text, name) != 0)
			continue;
		*found = value_of(reading, node, part);
		if (*found != NULL && (*found)->type == YAML_MAPPING_NODE)
			return LT_OK;
		return fail_at(
		    reading, node, "\"%.*s\": got no mapping %s, want one", SHOWN_MAX, name, part);
	}
	return fail_at(
	    reading, items, "%s: got none with the name \"%.*s\"", list, SHOWN_MAX, name);
}

/* ---- the parts ---- */

static int
check_refused(struct reading *reading, const yaml_node_t *mapping, const struct refused *keys,
    const char *whose)
{
	for (; keys->key != NULL; keys++) {
		const yaml_node_t *const node = value_of(reading, mapping, keys->key);
		const char *command = NULL;

		if (node == NULL)
			continue;
		if (text_of(reading, node, "command", &command) != LT_OK ||
		    (command == NULL && text_of(reading, node, "name", &command) != LT_OK))
			return LT_EINPUT;
		return fail_at(reading, node, "%.*s: got %s%s%.*s%s: %s", SHOWN_MAX, whose,
		    keys->key, command != NULL ? " (" : "", SHOWN_MAX,
		    command != NULL ? command : "", command != NULL ? ")" : "", keys->words);
	}
	return LT_OK;
}

/* Relative to the kubeconfig, as kubectl has it. */
static char *
path_of(const struct reading *reading, const char *path)
{
	const char *const slash = strrchr(reading->file, '/');
	char *joined = NULL;

	if (path[0] == '/' || slash == NULL)
		return strdup(path);
	if (asprintf(&joined, "%.*s/%s", (int)(slash - reading->file), reading->file, path) < 0)
		return NULL;
	return joined;
}

/* kubectl writes one line; breaks within are no part of base64. */
static char *
text_of_data(const char *data)
{
	const size_t length = strlen(data);
	char *const packed = malloc(length + 1);
	char *const text = malloc(length + 1);
	size_t used = 0;
	long count = -1;

	if (packed != NULL && text != NULL) {
		for (const char *at = data; *at != '\0'; at++)
			if (strchr(" \r\n", *at) == NULL)
				packed[used++] = *at;
		packed[used] = '\0';
		count = lt_base64_decode((unsigned char *)text, length, packed);
		explicit_bzero(packed, used);
	}
	free(packed);
	if (count < 0) {
		free(text);
		return NULL;
	}
	text[count] = '\0';
	return text;
}

/* KEY-data, else the file KEY. */
static int
read_pem(struct reading *reading, const yaml_node_t *mapping, const char *key,
    struct lt_kube_secret *secret)
{
	char data_key[64];
	const char *data, *path;

	snprintf(data_key, sizeof(data_key), "%s-data", key);
	if (text_of(reading, mapping, data_key, &data) != LT_OK ||
	    text_of(reading, mapping, key, &path) != LT_OK)
		return LT_EINPUT;
	if (data != NULL) {
		secret->text = text_of_data(data);
		if (secret->text == NULL || strstr(secret->text, "-----BEGIN ") == NULL)
			return fail_at(reading, value_of(reading, mapping, data_key),
			    "%s: got something else, want PEM text in base64", data_key);
	} else if (path != NULL) {
		secret->path = path_of(reading, path);
		if (secret->path == NULL)
			return lt_fail(reading->err, LT_ENOMEM, "%.200s", reading->file);
	}
	return LT_OK;
}

/* Verification is not what a file may turn off. */
static int
check_verified(struct reading *reading, const yaml_node_t *cluster)
{
	static const char key[] = "insecure-skip-tls-verify";
	const char *text;

	if (text_of(reading, cluster, key, &text) != LT_OK)
		return LT_EINPUT;
	if (text == NULL || strcasecmp(text, "false") == 0)
		return LT_OK;
	return fail_at(reading, value_of(reading, cluster, key),
	    "%s: got \"%.*s\": whoever answered would get lowtide's token; want certificate-authority or certificate-authority-data",
	    key, SHOWN_MAX, text);
}

static int
read_server(struct reading *reading, const yaml_node_t *cluster)
{
	const char *text;

	if (text_of(reading, cluster, "server", &text) != LT_OK)
		return LT_EINPUT;
	const bool is_url =
	    text != NULL &&
	    (strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0) &&
	    strchr("/:", text[strcspn(text, "/") + 2]) == NULL &&
	    strpbrk(text, " \t\r\n?#@") == NULL && strlen(text) < 512;
	if (!is_url) {
		const yaml_node_t *const node = value_of(reading, cluster, "server");

		return fail_at(reading, node != NULL ? node : cluster,
		    "server: got \"%.*s\", want https://HOST:PORT", SHOWN_MAX,
		    text == NULL ? "" : text);
	}
	char *const server = strdup(text);
	if (server == NULL)
		return lt_fail(reading->err, LT_ENOMEM, "%.200s", reading->file);
	for (size_t length = strlen(server); length > 0 && server[length - 1] == '/'; length--)
		server[length - 1] = '\0';
	reading->config->server = server;
	return LT_OK;
}

static int
read_cluster(struct reading *reading, const char *name)
{
	const yaml_node_t *cluster;
	int code = find_named(reading, "clusters", "cluster", name, &cluster);

	if (code == LT_OK)
		code = check_refused(reading, cluster, refused_of_clusters, name);
	if (code == LT_OK)
		code = check_verified(reading, cluster);
	if (code == LT_OK)
		code = read_server(reading, cluster);
	if (code == LT_OK)
		code = read_pem(reading, cluster, "certificate-authority", &reading->config->ca);
	return code;
}

/* A token in the clear is everyone's, but to a proxy on this host. */
static int
check_clear(struct reading *reading, const yaml_node_t *user)
{
	const char *const server = reading->config->server;

	if (strncmp(server, "https://", 8) == 0 || lt_url_is_loopback(server))
		return LT_OK;
	return fail_at(
	    reading, user, "a token for \"%.*s\", want a server with https://", SHOWN_MAX, server);
}

/* As kubectl: the file counts where both stand. */
static int
read_token(struct reading *reading, const yaml_node_t *user)
{
	struct lt_kube_secret *const token = &reading->config->token;
	const char *text, *path;

	if (text_of(reading, user, "token", &text) != LT_OK ||
	    text_of(reading, user, "tokenFile", &path) != LT_OK)
		return LT_EINPUT;
	if (text == NULL && path == NULL)
		return LT_OK;
	if (path == NULL && (strlen(text) > LT_KUBE_TOKEN_MAX || strpbrk(text, " \t\r\n") != NULL))
		return fail_at(reading, value_of(reading, user, "token"),
		    "token: got blanks in it or more than %d bytes, want a token",
		    LT_KUBE_TOKEN_MAX);
	if (path != NULL)
		token->path = path_of(reading, path);
	else
		token->text = strdup(text);
	if (token->path == NULL && token->text == NULL)
		return lt_fail(reading->err, LT_ENOMEM, "%.200s", reading->file);
	return check_clear(reading, user);
}

static int
read_user(struct reading *reading, const char *name)
{
	struct lt_kube_config *const config = reading->config;
	const yaml_node_t *user;
	int code = find_named(reading, "users", "user", name, &user);

	if (code == LT_OK)
		code = check_refused(reading, user, refused_of_users, name);
	if (code == LT_OK)
		code = read_pem(reading, user, "client-certificate", &config->certificate);
	if (code == LT_OK)
		code = read_pem(reading, user, "client-key", &config->key);
	if (code == LT_OK)
		code = read_token(reading, user);
	if (code != LT_OK)
		return code;
	const bool has_certificate =
	    config->certificate.path != NULL || config->certificate.text != NULL;
	const bool has_key = config->key.path != NULL || config->key.text != NULL;
	if (has_certificate != has_key)
		return fail_at(reading, user,
		    "got a %s alone, want client-certificate and client-key",
		    has_key ? "client-key" : "client-certificate");
	return LT_OK;
}

static int
read_context(struct reading *reading)
{
	const yaml_node_t *const root = yaml_document_get_root_node(&reading->document);
	const char *name, *cluster, *user, *name_space;
	const yaml_node_t *context;

	if (root == NULL || root->type != YAML_MAPPING_NODE)
		return fail_at(
		    reading, root, "got no mapping, want a kubeconfig with current-context");
	if (text_of(reading, root, "current-context", &name) != LT_OK)
		return LT_EINPUT;
	if (name == NULL)
		return fail_at(
		    reading, root, "current-context: missing (kubectl config use-context sets it)");
	if (find_named(reading, "contexts", "context", name, &context) != LT_OK ||
	    text_of(reading, context, "cluster", &cluster) != LT_OK ||
	    text_of(reading, context, "user", &user) != LT_OK ||
	    text_of(reading, context, "namespace", &name_space) != LT_OK)
		return LT_EINPUT;
	if (cluster == NULL || user == NULL)
		return fail_at(reading, context, "context \"%.*s\": got no %s, want its name",
		    SHOWN_MAX, name, cluster == NULL ? "cluster" : "user");
	if (name_space != NULL && strlen(name_space) >= sizeof(reading->config->name_space))
		return fail_at(reading, context, "namespace: got %zu characters, want at most 63",
		    strlen(name_space));
	snprintf(reading->config->name_space, sizeof(reading->config->name_space), "%s",
	    name_space == NULL ? "" : name_space);
	const int code = read_cluster(reading, cluster);
	return code == LT_OK ? read_user(reading, user) : code;
}

int
lt_kubeconfig_parse(struct lt_kube_config *config, const char *file, const char *bytes,
    size_t byte_count, struct lt_error *err)
{
	struct reading reading = {.file = file, .config = config, .err = err};

	*config = (struct lt_kube_config){0};
	if (byte_count > LT_KUBECONFIG_BYTES_MAX)
		return lt_fail(err, LT_ELIMIT, "%.200s: %zu bytes, limit %d", file, byte_count,
		    LT_KUBECONFIG_BYTES_MAX);
	int code = load_step(&reading, bytes, byte_count, depth_step);
	if (code == LT_OK)
		code = load_step(&reading, bytes, byte_count, document_step);
	if (code != LT_OK)
		return code;
	code = read_context(&reading);
	yaml_document_delete(&reading.document);
	if (code != LT_OK)
		lt_kube_config_free(config);
	return code;
}

static void
secret_free(struct lt_kube_secret *secret)
{
	if (secret->text != NULL)
		explicit_bzero(secret->text, strlen(secret->text));
	free(secret->text);
	free(secret->path);
}

void
lt_kube_config_free(struct lt_kube_config *config)
{
	secret_free(&config->ca);
	secret_free(&config->certificate);
	secret_free(&config->key);
	secret_free(&config->token);
	free(config->server);
	*config = (struct lt_kube_config){0};
}
