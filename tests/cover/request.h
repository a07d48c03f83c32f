/* A request of tests/cover: from its line of text to Slurm's description. */
#ifndef COVER_REQUEST_H
#define COVER_REQUEST_H

#include <stdbool.h>

#include <slurm/slurm.h>

struct cover_request {
	job_desc_msg_t desc;
	bool is_batch;
	char bad[64]; /* the field that was not understood */
	bool is_rpc;  /* fields as they are, nothing as sbatch does it */
};

/*
 * Reads "FIELD=VALUE ..." into request->desc, which points into `line`;
 * valid as long as it is. Unless rpc=1 is among them, what
 * Slurm's commands derive is derived: --nodes=N as minimum and maximum, the
 * least number of CPUs. False with request->bad for an unknown field.
 */
bool cover_request_read(struct cover_request *request, char *line);

#endif
