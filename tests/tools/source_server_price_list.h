/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Price lists of clouds as they answer: under /catalog/sky SkyPilot's files, /catalog/cudo CUDO's
 * machine types, /catalog/gcp Google's SKUs by pages, /catalog/oci Oracle's products.
 */
#ifndef LT_SOURCE_SERVER_PRICE_LIST_H
#define LT_SOURCE_SERVER_PRICE_LIST_H

#define PRICE_LIST_FIXTURES "tests/fixtures/"
#define PRICE_LIST_KEY "catalog-key" /* what the two with keys accept */

static inline void
price_list_sky(const struct exchange *exchange)
{
	char cloud[32] = "", file[128];
	int version = 0;

	if (sscanf(exchange->path, "/catalog/sky/v%d/%31[a-z0-9]/vms.csv", &version, cloud) == 2 &&
	    version == 10 && strcmp(cloud, "lambda") == 0) {
		server_answer(exchange, 200, "text/plain", "", "Offer,Currency,Amount\n1,USD,3\n");
		return;
	}
	/* A mirror of one version has it without its name. */
	if (sscanf(exchange->path, "/catalog/plain/%31[a-z0-9]/vms.csv", cloud) == 1 &&
	    strcmp(cloud, "aws") == 0)
		version = 9;
	/* Verda is in an old version only. */
	if (version != (strcmp(cloud, "verda") == 0 ? 8 : 9))
		cloud[0] = '\0';
	snprintf(
	    file, sizeof(file), PRICE_LIST_FIXTURES "skypilot_catalog/%s_SYNTHETIC.csv", cloud);
	if (access(file, R_OK) != 0)
		server_answer(exchange, 404, "text/plain", "", "404: Not Found");
	else
		server_file(exchange, file, "text/plain; charset=utf-8");
}

/* A wrong key is refused as a gRPC gateway does; none at all is fine. */
static inline void
price_list_cudo(const struct exchange *exchange)
{
	char login[512];

	server_header(exchange, "Authorization", login);
	if (login[0] != '\0' && strcmp(login, "bearer " PRICE_LIST_KEY) != 0)
		server_answer(exchange, 401, "application/json", "",
		    "{\"code\":16,\"message\":\"Request unauthenticated\","
		    "\"details\":[]}");
	else
		server_file(exchange,
		    PRICE_LIST_FIXTURES "cudo_compute/machine_types_SYNTHETIC.json",
		    "application/json");
}

static inline void
price_list_gcp_error(const struct exchange *exchange, int status, const char *headers,
    const char *name, const char *message)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\n  \"error\": {\n    \"code\": %d,\n    \"message\": \"%s\",\n"
	    "    \"status\": \"%s\"\n  }\n}\n",
	    status, message, name);
	server_answer(exchange, status, "application/json; charset=UTF-8", headers, body);
}

static inline void
price_list_gcp(const struct exchange *exchange)
{
	static const struct {
		const char *token, *file;
	} pages[] = {
	    {"pageToken=cGFnZTI%3D", "gcp_billing_sku/page2_SYNTHETIC.json"},
	    {"pageToken=cGFnZTM%3D", "gcp_billing_sku/page3_SYNTHETIC.json"},
	    {"pageToken=", NULL},
	    {"", "gcp_billing_sku/page1_SYNTHETIC.json"},
	};
	const char *const path = exchange->path;
	char file[128];
	size_t i = 0;

	if (strstr(path, "&key=" PRICE_LIST_KEY) == NULL) {
		price_list_gcp_error(exchange, 400, "", "INVALID_ARGUMENT",
		    "API key not valid. Please pass a valid API key.");
		return;
	}
	if (strstr(path, "/v1/services/6F81-5844-456A/skus?") == NULL) {
		price_list_gcp_error(exchange, 404, "", "NOT_FOUND", "No such service.");
		return;
	}
	while (strstr(path, pages[i].token) == NULL)
		i++;
	if (pages[i].file == NULL) {
		price_list_gcp_error(
		    exchange, 400, "", "INVALID_ARGUMENT", "Request contains an invalid argument.");
		return;
	}
	snprintf(file, sizeof(file), PRICE_LIST_FIXTURES "%s", pages[i].file);
	server_file(exchange, file, "application/json; charset=UTF-8");
}

/* Faults of Google's kind. */
static inline bool
price_list_gcp_fault(const struct exchange *exchange)
{
	const char *const path = exchange->path;

	if (strncmp(path, "/catalog/gcp-denied/", 20) == 0)
		price_list_gcp_error(exchange, 403, "", "PERMISSION_DENIED",
		    "Cloud Billing API has not been used in project 1 before "
		    "or it is disabled.");
	else if (strncmp(path, "/catalog/gcp-quota/", 19) == 0)
		price_list_gcp_error(exchange, 429, "Retry-After: 60\r\n", "RESOURCE_EXHAUSTED",
		    "Quota exceeded for quota metric.");
	else if (strncmp(path, "/catalog/gcp-loop/", 18) == 0)
		server_answer(exchange, 200, "application/json", "",
		    "{\"skus\":[],\"nextPageToken\":\"again\"}");
	else if (strncmp(path, "/catalog/gcp-empty/", 19) == 0)
		server_answer(exchange, 200, "application/json", "", "{}");
	else
		return false;
	return true;
}

static inline void
price_list_oci(const struct exchange *exchange)
{
	if (strstr(exchange->path, "/v1/products/?currencyCode=USD") == NULL)
		server_answer(exchange, 200, "application/json", "", "{\"items\":[]}");
	else
		server_file(exchange, PRICE_LIST_FIXTURES "oci_price_list/products.json",
		    "application/json");
}

static inline bool
serve_price_list(const struct exchange *exchange)
{
	static const struct {
		const char *path;
		void (*serve)(const struct exchange *exchange);
	} routes[] = {
	    {"/catalog/sky/", price_list_sky},
	    {"/catalog/plain/", price_list_sky},
	    {"/catalog/cudo/v1/vms/machine-types", price_list_cudo},
	    {"/catalog/gcp/", price_list_gcp},
	    {"/catalog/oci/", price_list_oci},
	};

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strncmp(exchange->path, routes[i].path, strlen(routes[i].path)) == 0) {
			routes[i].serve(exchange);
			return true;
		}
	return price_list_gcp_fault(exchange);
}

#endif
