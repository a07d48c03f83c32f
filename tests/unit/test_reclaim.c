/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clouds' notices: what they say, by their own documents and samples, and every fault that a
 * metadata service can have, none of which is a notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "reclaim.h"
#include "tools/source_server.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum { NOW = 1587748184 }; /* 2020-04-24T17:09:44Z */

static struct server server;

/* What was found, as text: "", "terminate at +120", "Preempt in 0", with
 * " (aside)". */
static void
reading_text(char out[400], const struct lt_reading *reading)
{
	out[0] = '\0';
	if (reading->is_noticed && reading->has_end)
		snprintf(
		    out, 400, "%s at %+lld", reading->what, (long long)(reading->end_utc_s - NOW));
	else if (reading->is_noticed)
		snprintf(out, 400, "%s in %lld", reading->what, (long long)reading->lead_s);
	if (reading->aside[0])
		snprintf(out + strlen(out), 400 - strlen(out), "(%s)", reading->aside);
}

static void
check(const char *why, int code, const struct lt_reading *reading, const struct lt_error *err,
    const char *want)
{
	char got[400];

	reading_text(got, reading);
	if (code != LT_OK) {
		if (reading->is_noticed || err->text[0] == '\0')
			fail_msg("%s: a failure with \"%s\", \"%s\"", why, got, err->text);
		snprintf(got, sizeof(got), "error");
	}
	if (strcmp(got, want) != 0)
		fail_msg("%s: got \"%s\" (%s), want \"%s\"", why, got, err->text, want);
}

static void
test_aws(void **state)
{
	static const struct {
		const char *why, *text, *want;
	} cases[] = {
	    {"of the metadata mock, with tabs",
		"{\n\t\"action\": \"stop\",\n\t\"time\": \"2020-04-24T17:11:44Z\"\n}\n",
		"stop at +120"},
	    {"terminate", "{\"action\":\"terminate\",\"time\":\"2020-04-24T17:10:00Z\"}",
		"terminate at +16"},
	    {"hibernate, at once", "{\"action\":\"hibernate\",\"time\":\"2020-04-24T17:09:40Z\"}",
		"hibernate at -4"},
	    {"an action that is not known",
		"{\"action\":\"none\",\"time\":\"2020-04-24T17:11:44Z\"}", "error"},
	    {"no time", "{\"action\":\"terminate\"}", "error"},
	    {"a time that is none", "{\"action\":\"terminate\",\"time\":\"soon\"}", "error"},
	    {"a time of another year",
		"{\"action\":\"terminate\",\"time\":\"2030-01-01T00:00:00Z\"}", "error"},
	    {"a day and a second ahead", "{\"action\":\"stop\",\"time\":\"2020-04-25T17:09:45Z\"}",
		"error"},
	    {"an hour and a second ago", "{\"action\":\"stop\",\"time\":\"2020-04-24T16:09:43Z\"}",
		"error"},
	    {"nothing", "", "error"},
	    {"a page", "<html>404</html>", "error"},
	    {"a list", "[]", "error"},
	    {"numbers", "{\"action\":1,\"time\":2}", "error"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_reading reading = {0};
		struct lt_error err = {0};
		const int code =
		    lt_aws_action_parse(&reading, cases[i].text, strlen(cases[i].text), NOW, &err);

		check(cases[i].why, code, &reading, &err, cases[i].want);
	}
}

#define EVENT(type, resources, not_before)                                                         \
	"{\"EventId\":\"A123BC45-1234-5678-AB90-ABCDEF123456\","                                   \
	"\"EventStatus\":\"Scheduled\",\"EventType\":\"" type "\","                                \
	"\"ResourceType\":\"VirtualMachine\",\"Resources\":[" resources "],"                       \
	"\"NotBefore\":\"" not_before "\",\"Description\":\"\","                                   \
	"\"EventSource\":\"Platform\",\"DurationInSeconds\":-1}"
#define EVENTS(events) "{\"DocumentIncarnation\":1,\"Events\":[" events "]}"

static void
test_azure(void **state)
{
	static const struct {
		const char *why, *text, *want;
	} cases[] = {
	    {"none", EVENTS(""), ""},
	    {"our VM, of the documents",
		EVENTS(EVENT("Preempt", "\"myspotvm\"", "Fri, 24 Apr 2020 17:10:14 GMT")),
		"Preempt at +30"},
	    {"names of VMs have no case",
		EVENTS(EVENT("Preempt", "\"other\",\"MySpotVM\"", "Fri, 24 Apr 2020 17:10:14 GMT")),
		"Preempt at +30"},
	    {"another VM of the set",
		EVENTS(EVENT("Preempt", "\"myspotvm_1\"", "Fri, 24 Apr 2020 17:10:14 GMT")), ""},
	    {"it has begun", EVENTS(EVENT("Preempt", "\"myspotvm\"", "")), "Preempt in 0"},
	    {"a scale set's",
		EVENTS(EVENT("Terminate", "\"myspotvm\"", "Fri, 24 Apr 2020 17:19:44 GMT")),
		"Terminate at +600"},
	    {"the VM is there again",
		EVENTS(EVENT("Reboot", "\"myspotvm\"", "Fri, 24 Apr 2020 17:19:44 GMT")),
		"(Reboot is scheduled: Fri, 24 Apr 2020 17:19:44 GMT)"},
	    {"the first of two ends, and a pause",
		EVENTS(EVENT("Terminate", "\"myspotvm\"",
		    "Fri, 24 Apr 2020 17:19:44 GMT") "," EVENT("Freeze", "\"myspotvm\"",
		    "") "," EVENT("Preempt", "\"myspotvm\"", "Fri, 24 Apr 2020 17:10:14 GMT")),
		"Preempt at +30(Freeze is scheduled: )"},
	    {"the first of two ends, the other way round",
		EVENTS(EVENT("Preempt", "\"myspotvm\"", "Fri, 24 Apr 2020 17:10:14 GMT") "," EVENT(
		    "Terminate", "\"myspotvm\"", "Fri, 24 Apr 2020 17:19:44 GMT")),
		"Preempt at +30"},
	    {"no date", EVENTS(EVENT("Preempt", "\"myspotvm\"", "tomorrow")), "error"},
	    {"a date of another year",
		EVENTS(EVENT("Preempt", "\"myspotvm\"", "Tue, 16 Mar 2021 00:58:46 GMT")), "error"},
	    {"no type", EVENTS("{\"Resources\":[\"myspotvm\"]}"), "error"},
	    {"no resources", EVENTS("{\"EventType\":\"Preempt\"}"), ""},
	    {"no events", "{\"DocumentIncarnation\":1}", "error"},
	    {"a list", "[]", "error"},
	    {"nothing", "", "error"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lt_http_response response = {
		    .body = (char *)(uintptr_t)cases[i].text, .body_length = strlen(cases[i].text)};
		struct lt_reading reading = {0};
		struct lt_error err = {0};
		const int code = lt_azure_events_parse(&reading, "myspotvm", &response, NOW, &err);

		if (code != LT_OK)
			reading.is_noticed = false; /* look() throws it away */
		check(cases[i].why, code, &reading, &err, cases[i].want);
	}
}

static void
test_gcp(void **state)
{
	static const struct {
		const char *why, *preempted, *maintenance;
		int64_t lead_s;
		const char *want;
	} cases[] = {
	    {"nothing", "FALSE", "NONE", 0, ""},
	    {"preempted", "TRUE", "NONE", 0, "preempted in 30"},
	    {"with a longer notice", "TRUE", "NONE", 120, "preempted in 120"},
	    {"maintenance that it does not outlive", "FALSE", "TERMINATE_ON_HOST_MAINTENANCE", 0,
		"maintenance in 60"},
	    {"a short notice is preemption's", "FALSE", "TERMINATE_ON_HOST_MAINTENANCE", 30,
		"maintenance in 60"},
	    {"it moves to another host", "FALSE", "MIGRATE_ON_HOST_MAINTENANCE", 0,
		"(maintenance-event: MIGRATE_ON_HOST_MAINTENANCE)"},
	    {"another word", "true", "NONE", 0, "error"},
	    {"nothing at all", "", "NONE", 0, "error"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_reading reading = {0};
		struct lt_error err = {0};
		const int code = lt_gcp_parse(
		    &reading, cases[i].preempted, cases[i].maintenance, cases[i].lead_s, &err);

		check(cases[i].why, code, &reading, &err, cases[i].want);
	}
}

/* ---- the sources as a whole ---- */

/* A token is given, then /status/500 or what else the base says. */
static bool
serve_own(const struct exchange *exchange)
{
	static const char token[] = "/token", end[] = "/latest/api/token";
	const size_t length = strlen(exchange->path);
	struct exchange rest = *exchange;

	if (strncmp(exchange->path, token, strlen(token)) != 0)
		return false;
	if (length > strlen(end) && strcmp(exchange->path + length - strlen(end), end) == 0) {
		server_answer(exchange, 200, "text/plain", "", "AQAEA==");
		return true;
	}
	memmove(rest.path, rest.path + strlen(token), length);
	server_own = NULL; /* of this process, which answers once */
	server_route(&rest);
	return true;
}

static void
check_fails(const struct lt_node_source *source, const char *path)
{
	char base[128];
	struct lt_asker asker = {.base = base, .now_utc_s = NOW};
	struct lt_reading reading = {.lead_s = 77};
	struct lt_error err = {0};
	const int64_t began_ms = lt_monotonic_ms();

	snprintf(base, sizeof(base), "http://127.0.0.1:%d%s", server.port, path);
	const int code = source->look(&asker, &reading, &err);
	const int64_t took_ms = lt_monotonic_ms() - began_ms;

	lt_http_session_end(&asker.session);
	if (code == LT_OK || err.text[0] == '\0' || reading.is_noticed || reading.lead_s != 77 ||
	    took_ms > LT_NODE_METADATA_MS + 1500)
		fail_msg("%s: %s: code %d, \"%s\", noticed %d, %lld ms", source->name, path, code,
		    err.text, reading.is_noticed, (long long)took_ms);
}

static void
test_faults(void **state)
{
	static const char *const faults[] = {"/status/500", "/status/401", "/status/403",
	    "/status/503", "/ok", "/html", "/truncated", "/empty", "/bom", "/reset", "/short",
	    "/endless-headers", "/endless-body", "/huge-length", "/deep", "/redirect-loop",
	    "/redirect-host"};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char path[64];

		snprintf(path, sizeof(path), "/token%s", faults[i]);
		check_fails(&lt_node_aws, faults[i]);
		check_fails(&lt_node_aws, path);
		check_fails(&lt_node_gcp, faults[i]);
		check_fails(&lt_node_azure, faults[i]);
	}
	check_fails(&lt_node_aws, "/token/slow");
	check_fails(&lt_node_azure, "/blackhole");
}

static void
test_nobody_there(void **state)
{
	struct lt_asker asker = {.base = "http://127.0.0.1:1"};
	struct lt_reading reading = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_not_equal(lt_node_aws.look(&asker, &reading, &err), LT_OK);
	assert_false(reading.is_noticed);
	lt_http_session_end(&asker.session);
}

/* A program that says and does what the case wants. */
static void
test_command(void **state)
{
	static const struct {
		const char *why, *script, *want;
	} cases[] = {
	    {"no notice", "exit 1", ""},
	    {"seconds", "echo 90", "command at +90"},
	    {"none left", "echo 0", "command at +0"},
	    {"a time", "echo 2020-04-24T17:11:44Z", "command at +120"},
	    {"of this node", "[ \"$*\" = gpu7 ] && echo 5", "command at +5"},
	    {"words behind it", "echo 30 seconds", "command at +30"},
	    {"its status counts, not its output", "echo 90; exit 1", ""},
	    {"another status", "echo 90; exit 2", "error"},
	    {"a signal", "kill -9 $$", "error"},
	    {"nothing said", "exit 0", "error"},
	    {"less than nothing", "echo -5", "error"},
	    {"a day and a second", "echo 86401", "error"},
	    {"words", "echo soon", "error"},
	    {"output without end", "yes", "error"},
	    {"no end", "exec sleep 60", "error"},
	    {"a child that holds on", "sleep 60 & echo 5", "error"},
	};
	char path[] = "/tmp/lowtide-command.XXXXXX";
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(path, 0700), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_asker asker = {.command = path, .node = "gpu7", .now_utc_s = NOW};
		struct lt_reading reading = {0};
		struct lt_error err = {0};
		FILE *const out = fopen(path, "w");

		assert_non_null(out);
		fprintf(out, "#!/bin/sh\n%s\n", cases[i].script);
		assert_int_equal(fclose(out), 0);
		const int64_t began_ms = lt_monotonic_ms();
		const int code = lt_node_command.look(&asker, &reading, &err);

		check(cases[i].why, code, &reading, &err, cases[i].want);
		if (lt_monotonic_ms() - began_ms > 1000 * LT_NODE_COMMAND_S + 1500)
			fail_msg("%s: took too long", cases[i].why);
	}
	unlink(path);
	struct lt_asker asker = {.command = path, .node = "gpu7"};
	struct lt_reading reading = {0};
	struct lt_error err = {0};

	check("no such program", lt_node_command.look(&asker, &reading, &err), &reading, &err,
	    "error");
}

static void
test_firmware(void **state)
{
	static const struct {
		const char *file, *text, *source;
	} cases[] = {
	    {"sys_vendor", "Amazon EC2\n", "aws"},
	    {"bios_version", "4.11.amazon\n", "aws"},
	    {"product_name", "Google Compute Engine\n", "gcp"},
	    {"chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77\n", "azure"},
	    {"sys_vendor", "Microsoft Corporation\n", NULL}, /* any Hyper-V */
	    {"sys_vendor", "QEMU\n", NULL},
	};
	char folder[] = "/tmp/lowtide-dmi.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_null(lt_node_source_detect(folder));
	for (size_t i = 0; i < COUNT(cases); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].file);
		FILE *const out = fopen(path, "w");
		assert_non_null(out);
		fputs(cases[i].text, out);
		assert_int_equal(fclose(out), 0);
		const struct lt_node_source *const found = lt_node_source_detect(folder);
		unlink(path);
		if (cases[i].source == NULL)
			assert_null(found);
		else
			assert_ptr_equal(found, lt_node_source_find(cases[i].source));
	}
	assert_int_equal(rmdir(folder), 0);
	assert_null(lt_node_source_find("oci"));
}

static int
set_up(void **state)
{
	(void)state;
	server_own = serve_own;
	server = server_start(0, NULL);
	return lt_http_init(NULL);
}

static int
tear_down(void **state)
{
	(void)state;
	server_stop(&server);
	lt_http_cleanup();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_aws),
	    cmocka_unit_test(test_azure),
	    cmocka_unit_test(test_gcp),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_nobody_there),
	    cmocka_unit_test(test_command),
	    cmocka_unit_test(test_firmware),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
