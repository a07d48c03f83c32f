/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens what names the API server and us, a kubeconfig or a pod's ServiceAccount, and reads tokens
 * and certificates again as they are renewed:
 * a pod's token lives for an hour.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "http.h"
#include "kubeconfig.h"
#include "plain_file.h"

static const char pod_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/* ---- secrets in files ---- */

static int
check_token(const char *where, char *text, struct lt_error *err)
{
	size_t length = strlen(text);

	while (length > 0 && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]))
			return lt_fail(err, LT_EINPUT,
			    "%.300s: got blanks or other bytes within, want a token", where);
	if (length == 0 || length > LT_KUBE_TOKEN_MAX)
		return lt_fail(err, LT_EINPUT, "%.300s: got a token of %zu bytes, want 1 to %d",
		    where, length, LT_KUBE_TOKEN_MAX);
	return LT_OK;
}

/* Refuses an encrypted key: OpenSSL would ask for its password at a terminal and wait. */
static int
check_pem(const char *where, const char *text, struct lt_error *err)
{
	if (strstr(text, "-----BEGIN ") == NULL)
		return lt_fail(err, LT_EINPUT,
		    "%.300s: got something else, want PEM text (-----BEGIN ...)", where);
	if (strstr(text, "ENCRYPTED") != NULL)
		return lt_fail(err, LT_EINPUT,
		    "%.300s: got a key with a password, want one without (openssl pkey takes it off)",
		    where);
	return LT_OK;
}

static int
check_secret(const struct lt_kube_config *config, const struct lt_kube_secret *secret,
    const char *where, char *text, struct lt_error *err)
{
	return secret == &config->token ? check_token(where, text, err)
					: check_pem(where, text, err);
}

static int
read_secret(
    const struct lt_kube_config *config, struct lt_kube_secret *secret, struct lt_error *err)
{
	char *bytes = NULL;
	size_t byte_count = 0;
	struct stat status;

	/* Before it is read: what is written in between is seen again. */
	if (stat(secret->path, &status) != 0)
		return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%.300s: %s",
		    secret->path, strerror(errno));
	int code = lt_plain_file_read(secret->path, &bytes, &byte_count, err);
	if (code != LT_OK)
		return code;
	bytes[byte_count] = '\0';
	if (byte_count > LT_KUBECONFIG_BYTES_MAX)
		code = lt_fail(err, LT_ELIMIT, "%.300s: %zu bytes, limit %d", secret->path,
		    byte_count, LT_KUBECONFIG_BYTES_MAX);
	else
		code = check_secret(config, secret, secret->path, bytes, err);
	if (code == LT_OK) {
		char *const old = secret->text;

		secret->text = bytes;
		bytes = old;
		secret->changed = status.st_mtim;
		secret->inode = status.st_ino;
		secret->read_ms = lt_monotonic_ms();
	}
	if (bytes != NULL)
		explicit_bzero(bytes, strlen(bytes));
	free(bytes);
	return code;
}

static bool
is_old(const struct lt_kube_secret *secret)
{
	struct stat status;

	if (lt_monotonic_ms() - secret->read_ms >= LT_KUBE_SECRET_AGE_MS)
		return true;
	return stat(secret->path, &status) == 0 &&
	       (status.st_ino != secret->inode || status.st_mtim.tv_sec != secret->changed.tv_sec ||
		   status.st_mtim.tv_nsec != secret->changed.tv_nsec);
}

int
lt_kube_config_refresh(struct lt_kube_config *config, bool force, struct lt_error *err)
{
	struct lt_kube_secret *const secrets[] = {
	    &config->ca, &config->certificate, &config->key, &config->token};

	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		struct lt_kube_secret *const secret = secrets[i];

		if (secret->path == NULL || (!force && !is_old(secret)))
			continue;
		const int code = read_secret(config, secret, force ? err : NULL);
		if (code != LT_OK && force)
			return code;
	}
	return LT_OK;
}

/* ---- where they are ---- */

static int
join_path(char **out, const char *dir, const char *name, struct lt_error *err)
{
	if (asprintf(out, "%s/%s", dir, name) >= 0)
		return LT_OK;
	*out = NULL;
	return lt_fail(err, LT_ENOMEM, "%.200s", dir);
}

/* Not all that runs in a pod has this file: "" then. */
static void
read_namespace(struct lt_kube_config *config, const char *dir)
{
	char *path = NULL;
	char *bytes = NULL;
	size_t byte_count = 0;

	if (join_path(&path, dir, "namespace", NULL) == LT_OK &&
	    lt_plain_file_read(path, &bytes, &byte_count, NULL) == LT_OK &&
	    byte_count < sizeof(config->name_space)) {
		memcpy(config->name_space, bytes, byte_count);
		config->name_space[byte_count] = '\0';
		config->name_space[strcspn(config->name_space, " \t\r\n")] = '\0';
	}
	free(bytes);
	free(path);
}

static int
pod_load(struct lt_kube_config *config, const struct lt_kube_place *place, struct lt_error *err)
{
	const char *const dir = place->account_dir != NULL ? place->account_dir : pod_dir;
	const char *const host = place->host;
	const char *const port = place->port;

	if (host == NULL || host[0] == '\0' || port == NULL || port[0] == '\0')
		return lt_fail(err, LT_EINPUT,
		    "KUBECONFIG is not set, and this is no pod: KUBERNETES_SERVICE_HOST and _PORT are not set either; set KUBECONFIG to a kubeconfig file");
	const bool is_ipv6 = strchr(host, ':') != NULL;
	config->in_pod = true;
	if (asprintf(&config->server, "https://%s%s%s:%s", is_ipv6 ? "[" : "", host,
		is_ipv6 ? "]" : "", port) < 0) {
		config->server = NULL;
		return lt_fail(err, LT_ENOMEM, "KUBERNETES_SERVICE_HOST");
	}
	read_namespace(config, dir);
	const int code = join_path(&config->ca.path, dir, "ca.crt", err);
	return code != LT_OK ? code : join_path(&config->token.path, dir, "token", err);
}

static int
file_load(struct lt_kube_config *config, const char *file, struct lt_error *err)
{
	char *bytes = NULL;
	size_t byte_count = 0;
	int code = lt_plain_file_read(file, &bytes, &byte_count, err);

	if (code == LT_ENOENT && strchr(file, ':') != NULL && err != NULL) {
		*err = (struct lt_error){0};
		return lt_fail(err, LT_ENOENT,
		    "KUBECONFIG: got the list \"%.200s\", want one file (kubectl config view --flatten --minify makes it)",
		    file);
	}
	if (code != LT_OK) {
		lt_context(err, "KUBECONFIG");
		return code;
	}
	code = lt_kubeconfig_parse(config, file, bytes, byte_count, err);
	explicit_bzero(bytes, byte_count);
	free(bytes);
	return code;
}

/* Text in the kubeconfig itself is checked as a file's. */
static int
check_inline(const struct lt_kube_config *config, const char *file, struct lt_error *err)
{
	const struct lt_kube_secret *const secrets[] = {
	    &config->ca, &config->certificate, &config->key, &config->token};

	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (secrets[i]->path == NULL && secrets[i]->text != NULL &&
		    check_secret(config, secrets[i], file, secrets[i]->text, err) != LT_OK)
			return LT_EINPUT;
	return LT_OK;
}

int
lt_kube_config_load(
    struct lt_kube_config *config, const struct lt_kube_place *place, struct lt_error *err)
{
	const char *const file = place->kubeconfig;
	const bool has_file = file != NULL && file[0] != '\0';
	int code;

	*config = (struct lt_kube_config){0};
	code = has_file ? file_load(config, file, err) : pod_load(config, place, err);
	if (code == LT_OK && has_file)
		code = check_inline(config, file, err);
	if (code == LT_OK)
		code = lt_kube_config_refresh(config, true, err);
	if (code != LT_OK)
		lt_kube_config_free(config);
	return code;
}

struct lt_kube_place
lt_kube_place_of_environment(void)
{
	return (struct lt_kube_place){
	    .kubeconfig = getenv("KUBECONFIG"),
	    .host = getenv("KUBERNETES_SERVICE_HOST"),
	    .port = getenv("KUBERNETES_SERVICE_PORT"),
	};
}
