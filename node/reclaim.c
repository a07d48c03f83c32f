/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the source of notices: by its name, from the table of sources, or by what the firmware says
 * of the machine (files of /sys/class/dmi/id). A file that can't be read names no cloud.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_file.h"
#include "reclaim.h"

static const struct lt_node_source *const sources[] = {
    &lt_node_aws, &lt_node_gcp, &lt_node_azure, &lt_node_command};

enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

const struct lt_node_source *
lt_node_source_find(const char *name)
{
	for (int i = 0; i < SOURCE_COUNT; i++)
		if (strcmp(sources[i]->name, name) == 0)
			return sources[i];
	return NULL;
}

const char *
lt_node_source_names(void)
{
	return "aws, gcp, azure, command";
}

/* Microsoft's vendor name is that of any Hyper-V: of Azure's machines the tag of the chassis is the
 * same. Xen machines of AWS say it in another file. */
static const struct {
	const struct lt_node_source *source;
	const char *file, *text;
} signs[] = {
    {&lt_node_aws, "sys_vendor", "Amazon EC2"},
    {&lt_node_aws, "bios_vendor", "Amazon EC2"},
    {&lt_node_aws, "bios_version", "amazon"},
    {&lt_node_gcp, "product_name", "Google Compute Engine"},
    {&lt_node_azure, "chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77"},
};

static bool
file_has(const char *path, const char *text)
{
	char *bytes;
	size_t length;

	if (lt_plain_file_read(path, &bytes, &length, NULL) != LT_OK)
		return false;
	const bool has = memmem(bytes, length, text, strlen(text)) != NULL;
	free(bytes);
	return has;
}

const struct lt_node_source *
lt_node_source_detect(const char *dmi)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", dmi, signs[i].file);
		if (file_has(path, signs[i].text))
			return signs[i].source;
	}
	return NULL;
}
