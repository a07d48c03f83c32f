/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a file that may be packed with gzip, piece by piece. It may have several members one after
 * the other, as `cat a.gz b.gz` writes them; each must be whole, or reading fails. Other packings
 * are refused by name.
 */
#include <string.h>

#include "reconcile_unpack.h"

enum { GZIP_ONLY = 16 + MAX_WBITS };

static int
fill_input(struct lt_unpack *unpack, struct lt_error *err)
{
	unpack->stream.next_in = unpack->bytes;
	unpack->stream.avail_in =
	    (unsigned)fread(unpack->bytes, 1, sizeof(unpack->bytes), unpack->in);
	return ferror(unpack->in) ? lt_fail(err, LT_EIO, "can't be read") : LT_OK;
}

int
lt_unpack_start(struct lt_unpack *unpack, FILE *in, struct lt_error *err)
{
	static const struct {
		const char *magic, *name;
	} others[] = {
	    {"PK\003\004", "a ZIP archive"},
	    {"PAR1", "Parquet"},
	    {"\x28\xB5\x2F\xFD", "packed with zstd"},
	    {"BZh", "packed with bzip2"},
	};

	*unpack = (struct lt_unpack){.in = in};
	if (fill_input(unpack, err))
		return err->code;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (unpack->stream.avail_in >= strlen(others[i].magic) &&
		    memcmp(unpack->bytes, others[i].magic, strlen(others[i].magic)) == 0)
			return lt_fail(err, LT_EINPUT, "is %s, want CSV, packed with gzip or not",
			    others[i].name);
	unpack->is_gzip = unpack->stream.avail_in >= 2 && memcmp(unpack->bytes, "\x1F\x8B", 2) == 0;
	if (unpack->is_gzip && inflateInit2(&unpack->stream, GZIP_ONLY) != Z_OK)
		return lt_fail(err, LT_ENOMEM, "no memory");
	return LT_OK;
}

static int
inflate_some(struct lt_unpack *unpack, struct lt_error *err)
{
	z_stream *const stream = &unpack->stream;

	if (!unpack->in_member)
		inflateReset(stream);
	const int code = inflate(stream, Z_NO_FLUSH);

	unpack->in_member = code == Z_OK;
	if (code == Z_OK || code == Z_STREAM_END)
		return LT_OK;
	return lt_fail(err, LT_EIO, "gzip: %s", stream->msg != NULL ? stream->msg : "damaged");
}

/* Returns the bytes that were read to recognise gzip, then the rest. */
static int
read_plain(struct lt_unpack *unpack, char *out, size_t size, size_t *got, struct lt_error *err)
{
	z_stream *const stream = &unpack->stream;
	const size_t ready = stream->avail_in < size ? stream->avail_in : size;

	memcpy(out, stream->next_in, ready);
	stream->next_in += ready;
	stream->avail_in -= (unsigned)ready;
	*got = ready + fread(out + ready, 1, size - ready, unpack->in);
	return ferror(unpack->in) ? lt_fail(err, LT_EIO, "can't be read") : LT_OK;
}

int
lt_unpack_read(struct lt_unpack *unpack, char *out, size_t size, size_t *got, struct lt_error *err)
{
	z_stream *const stream = &unpack->stream;

	if (!unpack->is_gzip)
		return read_plain(unpack, out, size, got, err);
	stream->next_out = (unsigned char *)out;
	stream->avail_out = (unsigned)size;
	while (stream->avail_out > 0) {
		if (stream->avail_in == 0 && fill_input(unpack, err))
			return err->code;
		if (stream->avail_in == 0 && unpack->in_member)
			return lt_fail(err, LT_EIO, "gzip: is cut off");
		if (stream->avail_in == 0)
			break;
		if (inflate_some(unpack, err))
			return err->code;
	}
	*got = size - stream->avail_out;
	return LT_OK;
}

void
lt_unpack_end(struct lt_unpack *unpack)
{
	if (unpack->is_gzip)
		inflateEnd(&unpack->stream);
}
