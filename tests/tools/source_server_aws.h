/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AWS as it answers, under /aws: EC2 prices and placement scores, the Spot Advisor's file, instance
 * metadata. Prices change every six hours, by a rule that a test can follow. Included after
 * source_server.h.
 */
#ifndef LT_SOURCE_SERVER_AWS_H
#define LT_SOURCE_SERVER_AWS_H

#include "source_server.h"

enum {
	AWS_STEP_S = 21600,
	AWS_ZONES = 3,
	AWS_PAGE = 100, /* records, whatever MaxResults says: more pages */
	AWS_BODY_SIZE = 65536,
	AWS_VALUE_SIZE = 512,
};

/* Where the last request is written, for a test that looks at it. */
static char aws_record_path[64];

/* Micros per hour of zone 0 to 2 at that time. */
static inline int64_t
aws_price(int zone, int64_t utc_s)
{
	return 400000 + 10000 * (utc_s / AWS_STEP_S % 7) + 50000 * zone;
}

/* A value of the form that was posted, decoded; "" without it. */
static inline const char *
aws_form(const struct exchange *exchange, const char *key, char out[AWS_VALUE_SIZE])
{
	char wanted[64];
	const char *at;
	size_t length = 0;

	snprintf(wanted, sizeof(wanted), "&%s=", key);
	at = strstr(exchange->body, wanted);
	at = at == NULL ? "" : at + strlen(wanted);
	for (; *at != '\0' && *at != '&' && length + 1 < AWS_VALUE_SIZE; at++) {
		unsigned byte = (unsigned char)*at;

		if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1)
			at += 2;
		out[length++] = (char)byte;
	}
	out[length] = '\0';
	return out;
}

static inline void
aws_error(const struct exchange *exchange, int status, const char *code, const char *message)
{
	char body[1024];

	snprintf(body, sizeof(body),
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors>"
	    "<Error><Code>%s</Code><Message>%s</Message></Error></Errors>"
	    "<RequestID>dfb14b43-9a55-4d8e-b676-e8034d12bbeb</RequestID>"
	    "</Response>",
	    code, message);
	server_answer(exchange, status, "text/xml;charset=UTF-8", "", body);
}

static inline int
aws_record(char *out, size_t size, const char *type, const char *product, int zone, int64_t utc_s,
    const char *region)
{
	const int64_t micros = aws_price(zone, utc_s);
	char time_text[32];

	lt_utc_text(time_text, sizeof(time_text), utc_s);
	return snprintf(out, size,
	    "        <item>\n"
	    "            <instanceType>%s</instanceType>\n"
	    "            <productDescription>%s</productDescription>\n"
	    "            <spotPrice>%lld.%06lld</spotPrice>\n"
	    "            <timestamp>%.19s.000Z</timestamp>\n"
	    "            <availabilityZone>%s%c</availabilityZone>\n"
	    "            <availabilityZoneId>euw2-az%d</availabilityZoneId>\n"
	    "        </item>\n",
	    type, product, (long long)(micros / 1000000), (long long)(micros % 1000000), time_text,
	    region, 'a' + zone, zone + 1);
}

/* Page 2 is named by a token that must come back as it is. */
static inline void
aws_page_token(char out[AWS_VALUE_SIZE], int first, const char *path)
{
	if (strncmp(path, "/aws/loop", 9) == 0)
		snprintf(out, AWS_VALUE_SIZE, "again");
	else
		snprintf(out, AWS_VALUE_SIZE, "a+b/c=&amp;%d", first);
}

/* Newest first, zones mixed; the change before StartTime is there, too. */
static inline void
aws_prices(const struct exchange *exchange)
{
	static char body[AWS_BODY_SIZE];
	char type[AWS_VALUE_SIZE], product[AWS_VALUE_SIZE], start[AWS_VALUE_SIZE],
	    token[AWS_VALUE_SIZE] = "", id[AWS_VALUE_SIZE], name[AWS_VALUE_SIZE];
	const char *const region = "eu-west-2";
	int64_t start_utc_s, at = server_time();
	int first = 0, count = 0, length;

	aws_form(exchange, "InstanceType.1", type);
	aws_form(exchange, "ProductDescription.1", product);
	aws_form(exchange, "AvailabilityZoneId", id);
	aws_form(exchange, "AvailabilityZone", name);
	aws_form(exchange, "NextToken", token);
	sscanf(token, "a+b/c=&%d", &first);
	if (lt_utc_parse(aws_form(exchange, "StartTime", start), &start_utc_s, NULL) != LT_OK) {
		aws_error(
		    exchange, 400, "InvalidParameterValue", "Invalid format for date: StartTime");
		return;
	}
	if (first > 0 && strncmp(exchange->path, "/aws/no-past", 12) == 0) {
		aws_error(exchange, 503, "RequestLimitExceeded", "Request limit exceeded.");
		return;
	}
	length = sprintf(body, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<DescribeSpotPriceHistoryResponse "
			       "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\n"
			       "    <requestId>59dbff89-35bd-4eac-99ed-be587EXAMPLE</requestId>\n"
			       "    <spotPriceHistorySet>\n");
	token[0] = '\0';
	at -= at % AWS_STEP_S;
	for (bool more = true; more && token[0] == '\0'; at -= AWS_STEP_S) {
		more = at > start_utc_s;
		for (int zone = 0; zone < AWS_ZONES; zone++) {
			char zone_id[24], zone_name[32];

			snprintf(zone_id, sizeof(zone_id), "euw2-az%d", zone + 1);
			snprintf(zone_name, sizeof(zone_name), "%s%c", region, 'a' + zone);
			if ((id[0] != '\0' && strcmp(id, zone_id) != 0) ||
			    (name[0] != '\0' && strcmp(name, zone_name) != 0) || count++ < first)
				continue;
			if (count > first + AWS_PAGE) {
				aws_page_token(token, first + AWS_PAGE, exchange->path);
				break;
			}
			length += aws_record(body + length, (size_t)(AWS_BODY_SIZE - length), type,
			    product, zone, at, region);
		}
	}
	/* Seen on last pages. */
	snprintf(body + length, (size_t)(AWS_BODY_SIZE - length),
	    "        <item><instanceType>%s</instanceType></item>\n"
	    "    </spotPriceHistorySet>\n    <nextToken>%s</nextToken>\n"
	    "</DescribeSpotPriceHistoryResponse>",
	    type, token);
	server_answer(exchange, 200, "text/xml;charset=UTF-8", "", body);
}

static inline void
aws_scores(const struct exchange *exchange)
{
	char region[AWS_VALUE_SIZE], single[AWS_VALUE_SIZE], body[2048];
	int length;

	aws_form(exchange, "RegionName.1", region);
	aws_form(exchange, "SingleAvailabilityZone", single);
	length = sprintf(body, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<GetSpotPlacementScoresResponse "
			       "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"
			       "<requestId>req-0000</requestId><spotPlacementScoreSet>");
	if (strcmp(single, "true") != 0)
		length += sprintf(
		    body + length, "<item><region>%.60s</region><score>7</score></item>", region);
	for (int zone = 1; strcmp(single, "true") == 0 && zone <= 3; zone++)
		length += sprintf(body + length,
		    "<item><region>%.60s</region><availabilityZoneId>"
		    "euw2-az%d</availabilityZoneId><score>%d</score></item>",
		    region, zone, 10 - 2 * zone);
	strcpy(body + length, "</spotPlacementScoreSet>"
			      "</GetSpotPlacementScoresResponse>");
	server_answer(exchange, 200, "text/xml;charset=UTF-8", "", body);
}

/* Is it signed at all? By whom, a test looks at itself. */
static inline void
aws_ec2(const struct exchange *exchange)
{
	char authorization[512], action[AWS_VALUE_SIZE];
	FILE *const record = aws_record_path[0] == '\0' ? NULL : fopen(aws_record_path, "w");

	if (record != NULL) {
		fputs(exchange->request, record);
		fclose(record);
	}
	server_header(exchange, "Authorization", authorization);
	if (strcmp(exchange->method, "POST") != 0 ||
	    strncmp(authorization, "AWS4-HMAC-SHA256 Credential=AK", 30) != 0) {
		aws_error(exchange, 401, "AuthFailure",
		    "AWS was not able to validate the provided access "
		    "credentials");
		return;
	}
	if (strncmp(exchange->body, "Action=", 7) != 0 ||
	    sscanf(exchange->body + 7, "%511[^&]", action) != 1)
		action[0] = '\0';
	if (strcmp(action, "DescribeSpotPriceHistory") == 0)
		aws_prices(exchange);
	else if (strcmp(action, "GetSpotPlacementScores") == 0)
		aws_scores(exchange);
	else
		aws_error(
		    exchange, 400, "InvalidAction", "The action is not valid for this endpoint.");
}

/* /aws/error/STATUS/CODE/ */
static inline void
aws_given_error(const struct exchange *exchange)
{
	char code[64] = "";
	int status = 500;

	sscanf(exchange->path, "/aws/error/%d/%63[A-Za-z.]", &status, code);
	aws_error(exchange, status, code,
	    strcmp(code, "SignatureDoesNotMatch") == 0
		? "The canonical string should have been "
		  "x-amz-security-token:HIDDEN"
		: "As AWS &quot;says&quot; it &amp; no more.");
}

/* IMDSv2: a session first, by PUT with its length; keys for an hour. */
static inline void
aws_metadata(const struct exchange *exchange)
{
	static const char list[] = "/latest/meta-data/iam/security-credentials/";
	const char *const path = strstr(exchange->path, "/latest/");
	char header[512], body[1024], until[32];
	int ttl_s;

	if (path != NULL && strcmp(path, "/latest/api/token") == 0) {
		server_header(exchange, "X-aws-ec2-metadata-token-ttl-seconds", header);
		ttl_s = atoi(header);
		if (strcmp(exchange->method, "PUT") != 0 || ttl_s < 1)
			server_answer(
			    exchange, 400, "text/html", "", "<html>400 - Bad Request</html>");
		else
			server_answer(exchange, 200, "text/plain", "", "AQAEAsession==");
		return;
	}
	server_header(exchange, "X-aws-ec2-metadata-token", header);
	if (strcmp(header, "AQAEAsession==") != 0) {
		server_answer(exchange, 401, "text/html", "", "<html>401 - Unauthorized</html>");
		return;
	}
	if (path == NULL || strncmp(path, list, strlen(list)) != 0 ||
	    strncmp(exchange->path, "/aws/imds-norole/", 17) == 0) {
		server_answer(exchange, 404, "text/html", "", "<html>404 - Not Found</html>");
		return;
	}
	if (strcmp(path, list) == 0) {
		server_answer(exchange, 200, "text/plain", "", "lowtide-role");
		return;
	}
	lt_utc_text(until, sizeof(until), server_time() + 3600);
	snprintf(body, sizeof(body),
	    "{\n  \"Code\" : \"%s\",\n  \"LastUpdated\" : "
	    "\"2026-01-01T00:00:00Z\",\n  \"Type\" : \"AWS-HMAC\",\n"
	    "  \"AccessKeyId\" : \"AKROLE\",\n"
	    "  \"SecretAccessKey\" : \"role/secret\",\n"
	    "  \"Token\" : \"role-session==\",\n  \"Expiration\" : \"%s\"\n}",
	    strncmp(exchange->path, "/aws/imds-bad/", 14) == 0 ? "AssumeRoleUnauthorizedAccess"
							       : "Success",
	    until);
	server_answer(exchange, 200, "text/plain", "", body);
}

static inline bool
serve_aws(const struct exchange *exchange)
{
	static const struct {
		const char *path;
		void (*serve)(const struct exchange *exchange);
	} routes[] = {
	    {"/aws/ec2/", aws_ec2},
	    {"/aws/loop/", aws_ec2},
	    {"/aws/no-past/", aws_ec2},
	    {"/aws/error/", aws_given_error},
	    {"/aws/imds", aws_metadata},
	};

	if (strcmp(exchange->path, "/aws/advisor/spot-advisor-data.json") == 0) {
		server_file(exchange,
		    "tests/fixtures/aws_spot_advisor/"
		    "spot-advisor-data.trimmed.json",
		    "application/json");
		return true;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strncmp(exchange->path, routes[i].path, strlen(routes[i].path)) == 0) {
			routes[i].serve(exchange);
			return true;
		}
	return false;
}

#endif
