/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines a function that Slurm's accounting_storage/slurmdbd plugin calls and that libslurm, made
 * for programs like ours, does not have (22.05 to 26.05). It makes the text of an error; without it
 * the loader ends the program when slurmdbd goes away in the middle of an answer. Exported by
 * missing.map.
 */
#include <stdio.h>

char *slurmdbd_msg_type_2_str(int type, int as_name);

char *
slurmdbd_msg_type_2_str(int type, int as_name)
{
	static __thread char text[32];

	(void)as_name;
	(void)snprintf(text, sizeof(text), "message type %d", type);
	return text;
}
