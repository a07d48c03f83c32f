/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Azure's price list, login and Resource Graph as they answer, under /azure:
 * synthetic rows on the documented forms. /azure/fault-NAME/... misbehaves.
 */
#ifndef LT_SOURCE_SERVER_AZURE_H
#define LT_SOURCE_SERVER_AZURE_H

#define AZURE_TOKEN "synthetic.access.token"
#define AZURE_SECRET "s3cret+/= ~%&"
#define AZURE_TENANT "00000000-0000-0000-0000-000000000000"
#define AZURE_CLIENT "00000000-0000-0000-0000-000000000001"
#define AZURE_GRAPH_FIXTURES "tests/fixtures/azure_eviction_rate/"

static const struct azure_row {
	const char *sku, *region, *meter, *product;
	double price;
	const char *since;
} azure_rows[] = {
    {"Standard_NC4as_T4_v3", "eastus", "NC4as T4 v3", "NCasT4 v3 Series", 0.526, "2023-06-01"},
    {"Standard_NC4as_T4_v3", "eastus", "NC4as T4 v3 Spot", "NCasT4 v3 Series Windows", 0.2314,
	"2023-06-01"},
    {"Standard_NC4as_T4_v3", "eastus", "NC4as T4 v3 Low Priority", "NCasT4 v3 Series", 0.1052,
	"2023-06-01"},
    {"Standard_NC4as_T4_v3", "eastus", "NC4as T4 v3 Spot", "NCasT4 v3 Series", 0.11, "2022-01-01"},
    {"Standard_NC4as_T4_v3", "eastus", "NC4as T4 v3 Spot", "NCasT4 v3 Series", 0.1578,
	"2023-06-01"},
    {"Standard_ND96isr_H100_v5", "WestUS3", "ND96isr H100 v5 Spot", "NDsrH100v5 Srs", 29.496,
	"2024-02-01"},
    {"Standard_ND96isr_H100_v5", "WestUS3", "ND96isr H100 v5 Spot", "NDsrH100v5 Srs Win", 33.1,
	"2024-02-01"},
};

enum { AZURE_ROW_COUNT = sizeof(azure_rows) / sizeof(azure_rows[0]) };

/* Percent-decoded; '+' stays, as in OData. */
static inline void
azure_decode(char *out, size_t size, const char *text)
{
	size_t length = 0;
	unsigned byte;

	for (; *text != '\0' && length + 1 < size; text++) {
		if (sscanf(text, "%%%2x", &byte) == 1) {
			out[length++] = (char)byte;
			text += 2;
		} else {
			out[length++] = *text;
		}
	}
	out[length] = '\0';
}

/* As the service: values are compared with their case, and a region by its small letters. */
static inline bool
azure_is_asked(const char *query, const struct azure_row *row)
{
	char sku[128], region[128];

	snprintf(sku, sizeof(sku), "armSkuName eq '%s'", row->sku);
	snprintf(region, sizeof(region), "armRegionName eq '%s'", row->region);
	for (char *at = region + strlen("armRegionName eq '"); *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
	return strstr(query, sku) != NULL && strstr(query, region) != NULL;
}

static inline int
azure_row(char *out, size_t size, const struct azure_row *row, const char *currency)
{
	const double price = strcmp(currency, "EUR") == 0 ? row->price * 0.92 : row->price;

	return snprintf(out, size,
	    "{\"currencyCode\":\"%s\",\"tierMinimumUnits\":0.0,"
	    "\"retailPrice\":%g,\"unitPrice\":%g,\"armRegionName\":\"%s\","
	    "\"effectiveStartDate\":\"%sT00:00:00Z\",\"meterName\":\"%s\","
	    "\"productName\":\"Virtual Machines %s\",\"skuName\":\"%s\","
	    "\"serviceName\":\"Virtual Machines\","
	    "\"unitOfMeasure\":\"1 Hour\",\"type\":\"Consumption\","
	    "\"isPrimaryMeterRegion\":true,\"armSkuName\":\"%s\"}",
	    currency, price, price, row->region, row->since, row->meter, row->product, row->meter,
	    row->sku);
}

/* Two rows a page, as the service has a thousand. fault: "loop" never ends, "other-host" leads
 * elsewhere, "second" ends after a page. */
static inline void
azure_prices(const struct exchange *exchange, const char *fault)
{
	char query[4096], body[8192], link[2304] = "", currency[4] = "USD";
	const char *const start = strchr(exchange->path, '?');
	const char *const skip = strstr(exchange->path, "&$skip=");
	const char *const code = strstr(exchange->path, "currencyCode=%27");
	const int first = skip == NULL ? 0 : atoi(skip + strlen("&$skip="));
	int length, rows = 0, seen = 0;

	azure_decode(query, sizeof(query), start == NULL ? "" : start);
	if (strstr(query, "&$filter=serviceName eq 'Virtual Machines' and "
			  "priceType eq 'Consumption' and ") == NULL ||
	    strstr(exchange->path, "%20") == NULL || strpbrk(start, "+(") != NULL) {
		server_answer(exchange, 400, "application/json", "",
		    "{\"Error\":{\"Code\":\"BadRequest\",\"Message\":"
		    "\"Invalid OData parameters supplied\"}}");
		return;
	}
	if (code != NULL)
		sscanf(code, "currencyCode=%%27%3[A-Z]", currency);
	length = snprintf(body, sizeof(body),
	    "{\"BillingCurrency\":\"%s\",\"CustomerEntityId\":\"Default\","
	    "\"CustomerEntityType\":\"Retail\",\"Items\":[",
	    currency);
	for (int i = 0; i < AZURE_ROW_COUNT; i++) {
		if (!azure_is_asked(query, &azure_rows[i]) || seen++ < first || rows == 2)
			continue;
		length += snprintf(
		    body + length, sizeof(body) - (size_t)length, "%s", rows++ == 0 ? "" : ",");
		length += azure_row(
		    body + length, sizeof(body) - (size_t)length, &azure_rows[i], currency);
	}
	if (seen > first + rows || strcmp(fault, "loop") == 0)
		snprintf(link, sizeof(link), "http://%s:%d%.*s&$skip=%d",
		    strcmp(fault, "other-host") == 0 ? "localhost" : "127.0.0.1", exchange->port,
		    skip == NULL ? 2000 : (int)(skip - exchange->path), exchange->path,
		    first + rows);
	snprintf(body + length, sizeof(body) - (size_t)length,
	    "],\"NextPageLink\":%s%s%s,\"Count\":%d}", link[0] == '\0' ? "" : "\"",
	    link[0] == '\0' ? "null" : link, link[0] == '\0' ? "" : "\"", rows);
	if (strcmp(fault, "second") == 0 && skip != NULL)
		server_answer(exchange, 503, "application/json", "Retry-After: 9\r\n", "{}");
	else
		server_answer(exchange, 200, "application/json; charset=utf-8", "", body);
}

static inline void
azure_file(const struct exchange *exchange, int status, const char *headers, const char *name)
{
	static char body[8192];
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), AZURE_GRAPH_FIXTURES "%s", name);
	file = fopen(path, "rb");
	if (file == NULL) {
		server_answer(exchange, 404, "text/plain", "", path);
		return;
	}
	body[fread(body, 1, sizeof(body) - 1, file)] = '\0';
	fclose(file);
	server_answer(exchange, status, "application/json; charset=utf-8", headers, body);
}

static inline void
azure_login(const struct exchange *exchange, const char *fault)
{
	static const char form[] = "grant_type=client_credentials&client_id=" AZURE_CLIENT
				   "&scope=https://management.azure.com/"
				   ".default&client_secret=" AZURE_SECRET;
	char body[4096];

	azure_decode(body, sizeof(body), exchange->body);
	if (strcmp(fault, "echo") == 0) /* a gateway that repeats all */
		server_answer(exchange, 502, "text/plain", "", body);
	else if (strcmp(fault, "bare-token") == 0)
		server_answer(
		    exchange, 200, "application/json", "", "{\"access_token\":s3cret-token}");
	else if (strcmp(fault, "no-token") == 0)
		server_answer(exchange, 200, "application/json", "",
		    "{\"token_type\":\"Bearer\",\"expires_in\":3599}");
	else if (strstr(exchange->path, AZURE_TENANT) == NULL || strcmp(body, form) != 0)
		azure_file(exchange, 401, "", "token_error_SYNTHETIC.json");
	else
		azure_file(exchange, 200, "", "token_SYNTHETIC.json");
}

/* fault "pages": the row is on the second. */
static inline void
azure_graph(const struct exchange *exchange, const char *fault)
{
	static const struct {
		const char *fault, *headers, *file;
		int status;
	} faults[] = {
	    {"invalid", "", "error_400_SYNTHETIC.json", 400},
	    {"forbidden", "", "error_403_SYNTHETIC.json", 403},
	    {"throttled", "Retry-After: 5\r\n", "error_429_SYNTHETIC.json", 429},
	    {"none", "", "no_rows_SYNTHETIC.json", 200},
	};
	char known[512];
	const bool more = strstr(exchange->body, "\"$skipToken\"") != NULL;

	server_header(exchange, "Authorization", known);
	if (strcmp(known, "Bearer " AZURE_TOKEN) != 0 || strcmp(fault, "denied") == 0) {
		azure_file(exchange, 401, "", "error_401_SYNTHETIC.json");
		return;
	}
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (strcmp(faults[i].fault, fault) == 0) {
			azure_file(exchange, faults[i].status, faults[i].headers, faults[i].file);
			return;
		}
	if (strcmp(fault, "endless") == 0 || (strcmp(fault, "pages") == 0 && !more))
		azure_file(exchange, 200, "", "more_SYNTHETIC.json");
	else if (strstr(exchange->body, "\"resultFormat\":\"objectArray\"") == NULL ||
		 strstr(exchange->body, "subscriptions") != NULL)
		azure_file(exchange, 400, "", "error_400_SYNTHETIC.json");
	else
		azure_file(exchange, 200, "", "rates_SYNTHETIC.json");
}

static inline bool
serve_azure(const struct exchange *exchange)
{
	static const char prices[] = "api/retail/prices?", graph[] =
							       "providers/Microsoft.ResourceGraph/"
							       "resources?api-version=2021-03-01";
	char fault[32] = "";
	const char *rest = exchange->path + strlen("/azure/");

	if (strncmp(exchange->path, "/azure/", strlen("/azure/")) != 0)
		return false;
	if (strncmp(rest, "fault-", 6) == 0 && sscanf(rest, "fault-%31[a-z-]/", fault) == 1)
		rest = strchr(rest, '/') + 1;
	if (strncmp(rest, prices, strlen(prices)) == 0)
		azure_prices(exchange, fault);
	else if (strcmp(rest, graph) == 0 && strcmp(exchange->method, "POST") == 0)
		azure_graph(exchange, fault);
	else if (strstr(rest, "/oauth2/v2.0/token") != NULL &&
		 strcmp(exchange->method, "POST") == 0)
		azure_login(exchange, fault);
	else
		server_answer(exchange, 404, "text/plain", "", "no such resource");
	return true;
}

#endif
