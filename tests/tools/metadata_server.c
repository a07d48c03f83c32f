/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata_server PORT FOLDER: the metadata services of AWS, Google Cloud and Azure for any number
 * of machines, each under /NAME. What FOLDER/NAME has as a file is there: instance-action,
 * rebalance (AWS), preempted, maintenance-event (Google), events (Azure). While it has a file
 * `fault` with a path of source_server.h, every request of the machine gets that. Each request is a
 * line of FOLDER/NAME/log. Prints its port.
 */
#include "source_server.h"

static const char *folder;

/* A file of the machine, or what stands for it. */
static const char *
file_text(const char *name, const char *file, const char *fallback)
{
	static char text[16384];
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, name, file);
	FILE *const in = fopen(path, "r");
	if (in == NULL)
		return fallback;
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return text;
}

static void
log_request(const char *name, const struct exchange *exchange)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s/log", folder, name);
	FILE *const out = fopen(path, "a");
	if (out == NULL)
		return;
	fprintf(out, "%s %s\n", exchange->method, exchange->path);
	fclose(out);
}

static void
answer_token(const struct exchange *exchange)
{
	char ttl[512];
	const int seconds =
	    atoi(server_header(exchange, "X-aws-ec2-metadata-token-ttl-seconds", ttl));

	if (strcmp(exchange->method, "PUT") != 0)
		server_answer(exchange, 405, "text/html", "", "");
	else if (seconds < 1 || seconds > 21600)
		server_answer(exchange, 400, "text/html", "", "Bad Request");
	else
		server_answer(exchange, 200, "text/plain", "", "AQAEAHD-the-token-of-a-test==");
}

static void
answer_aws(const struct exchange *exchange, const char *body)
{
	char token[512];

	server_header(exchange, "X-aws-ec2-metadata-token", token);
	if (strcmp(token, "AQAEAHD-the-token-of-a-test==") != 0)
		server_answer(exchange, 401, "text/html", "", "Unauthorized");
	else if (body == NULL)
		server_answer(exchange, 404, "text/html", "",
		    "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n"
		    "<html><head><title>404 - Not Found</title></head></html>");
	else
		server_answer(exchange, 200, "application/json", "", body);
}

static void
answer_with(const struct exchange *exchange, const char *header, const char *want, const char *body)
{
	char got[512];

	if (strcmp(server_header(exchange, header, got), want) == 0)
		server_answer(exchange, 200, "text/plain", "", body);
	else
		server_answer(exchange, 403, "text/html", "", "Forbidden");
}

static void
answer_machine(const struct exchange *exchange, const char *name, const char *path)
{
	if (strcmp(path, "/latest/api/token") == 0)
		answer_token(exchange);
	else if (strcmp(path, "/latest/meta-data/spot/instance-action") == 0)
		answer_aws(exchange, file_text(name, "instance-action", NULL));
	else if (strcmp(path, "/latest/meta-data/events/recommendations/rebalance") == 0)
		answer_aws(exchange, file_text(name, "rebalance", NULL));
	else if (strcmp(path, "/computeMetadata/v1/instance/preempted") == 0)
		answer_with(
		    exchange, "Metadata-Flavor", "Google", file_text(name, "preempted", "FALSE"));
	else if (strcmp(path, "/computeMetadata/v1/instance/maintenance-event") == 0)
		answer_with(exchange, "Metadata-Flavor", "Google",
		    file_text(name, "maintenance-event", "NONE"));
	else if (strncmp(path, "/metadata/instance/compute/name?", 32) == 0)
		answer_with(exchange, "Metadata", "true", name);
	else if (strcmp(path, "/metadata/scheduledevents?api-version=2020-07-01") == 0)
		answer_with(exchange, "Metadata", "true",
		    file_text(name, "events", "{\"DocumentIncarnation\":1,\"Events\":[]}"));
	else
		server_answer(exchange, 404, "text/html", "", "");
}

static bool
serve_machine(const struct exchange *exchange)
{
	char name[64];
	int length = 0;

	if (sscanf(exchange->path, "/%63[^/]%n", name, &length) != 1)
		return false;
	log_request(name, exchange);
	const char *const fault = file_text(name, "fault", NULL);

	if (fault != NULL) {
		struct exchange faulty = *exchange;

		sscanf(fault, "%2047s", faulty.path);
		server_own = NULL; /* of this process, which answers once */
		server_route(&faulty);
	} else {
		answer_machine(exchange, name, exchange->path + length);
	}
	return true;
}

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: metadata_server PORT FOLDER\n", stderr);
		return 2;
	}
	folder = argv[2];
	server_own = serve_machine;
	const struct server server = server_start(atoi(argv[1]), NULL);

	printf("%d\n", server.port);
	fflush(stdout);
	waitpid(server.pid, NULL, 0);
	return 0;
}
