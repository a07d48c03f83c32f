/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtide-kube is besides a daemon, by its first word.
 */
#include <string.h>

#include "site.h"

int
lt_batch_main(int argc, char **argv)
{
	static const struct {
		const char *verb;
		int (*run)(int argc, char **argv);
	} verbs[] = {{"release", lt_kube_release_main},
	    {"waiting", lt_kube_waiting_main},
	    {"policies", lt_kube_policies_main}};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && argc > 1;
	     i++)
		if (strcmp(argv[1], verbs[i].verb) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	return -1;
}
