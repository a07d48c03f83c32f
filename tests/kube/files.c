/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's folder: ca.crt and the server's certificate, made by openssl at the start; token,
 * namespace and kubeconfig of lowtide's account, as a service account's folder has them;
 * admin-token and port for who tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "server.h"

static void
fail(const char *what)
{
	fprintf(stderr, "kube server: %s: ", what);
	perror("");
	exit(1);
}

static void
path_of(const char *name, char out[4096])
{
	snprintf(out, 4096, "%s/%s", world.options.folder, name);
}

char *
files_read(const char *path)
{
	FILE *const file = fopen(path, "r");
	char *text = calloc(1, 65536);

	if (file == NULL || fread(text, 1, 65535, file) == 0)
		fail(path);
	fclose(file);
	return text;
}

/* Whole or not at all: others read it while it is written. */
static void
write_file(const char *name, const char *text)
{
	char path[4096], beside[4104];
	FILE *file;

	path_of(name, path);
	snprintf(beside, sizeof(beside), "%s.new", path);
	file = fopen(beside, "w");
	if (file == NULL || fputs(text, file) == EOF || fclose(file) != 0 ||
	    rename(beside, path) != 0)
		fail(path);
}

static void
run(const char *command)
{
	char line[16384];

	snprintf(line, sizeof(line), "cd '%s' && { %s; } >openssl.log 2>&1", world.options.folder,
	    command);
	if (system(line) != 0)
		fail("openssl, see openssl.log in the folder");
}

struct certificates
files_certificates(void)
{
	char key[4096], certificate[4096];

	mkdir(world.options.folder, 0700);
	run("umask 077 && "
	    "openssl req -x509 -newkey ec -pkeyopt "
	    "ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "
	    "/CN=played-ca -addext basicConstraints=critical,CA:TRUE "
	    "-addext keyUsage=critical,keyCertSign "
	    "-keyout ca.key -out ca.crt && "
	    "openssl req -x509 -newkey ec -pkeyopt "
	    "ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "
	    "/CN=kube-apiserver -CA ca.crt -CAkey ca.key "
	    "-addext basicConstraints=critical,CA:FALSE "
	    "-addext extendedKeyUsage=serverAuth "
	    "-addext subjectAltName=IP:127.0.0.1,DNS:localhost,"
	    "DNS:kubernetes.default.svc "
	    "-keyout server.key -out server.crt && "
	    "openssl base64 -A -in ca.crt -out ca.base64");
	path_of("server.key", key);
	path_of("server.crt", certificate);
	return (struct certificates){
	    .key = files_read(key),
	    .certificate = files_read(certificate),
	};
}

void
files_token(char out[64])
{
	unsigned char bytes[24];

	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void
write_kubeconfig(const char *name, const char *user, const char *token)
{
	char path[4096], *text, *ca;
	size_t length;
	FILE *out;

	path_of("ca.base64", path);
	ca = files_read(path);
	out = open_memstream(&text, &length);
	fprintf(out,
	    "apiVersion: v1\n"
	    "kind: Config\n"
	    "clusters:\n"
	    "- cluster:\n"
	    "    certificate-authority-data: %s\n"
	    "    server: https://127.0.0.1:%d\n"
	    "  name: played\n"
	    "contexts:\n"
	    "- context:\n"
	    "    cluster: played\n"
	    "    namespace: lowtide\n"
	    "    user: %s\n"
	    "  name: played\n"
	    "current-context: played\n"
	    "preferences: {}\n"
	    "users:\n"
	    "- name: %s\n"
	    "  user:\n"
	    "    token: %s\n",
	    ca, world.options.port, user, user, token);
	fclose(out);
	write_file(name, text);
	free(text);
	free(ca);
}

void
files_access(int port)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", port);
	write_file("token", world.token);
	write_file("namespace", "lowtide");
	write_file("admin-token", world.admin_token);
	write_kubeconfig("kubeconfig", "lowtide", world.token);
	write_kubeconfig("admin-kubeconfig", "admin", world.admin_token);
	write_file("port", text); /* the last: now it can be used */
}
