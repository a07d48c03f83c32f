/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where lowtided's files are.
 */
#ifndef LT_PATHS_H
#define LT_PATHS_H

enum { LT_PATH_SIZE = 4096 };

struct lt_paths { /* of the files that it writes, and its socket */
	char market[LT_PATH_SIZE], snapshot[LT_PATH_SIZE], terms[LT_PATH_SIZE],
	    history[LT_PATH_SIZE], ring[LT_PATH_SIZE], socket[LT_PATH_SIZE], bound[LT_PATH_SIZE],
	    in_force[LT_PATH_SIZE],
	    last_policy[LT_PATH_SIZE]; /* the last good one, as it was read */
};

#endif
