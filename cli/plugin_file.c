/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What doctor reads of Slurm's plugins without loading them: the release they
 * were built for (plugin_version, a uint32 in the ELF file), and plugstack's
 * line. Loading would need slurmctld's symbols and run the plugin's code.
 */
#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "units.h"

enum { PLUGIN_BYTES_MAX = 32 * 1024 * 1024, PLUGSTACK_LINES_MAX = 10000 };

struct image {
	const unsigned char *bytes;
	size_t length;
};

/* count items of size bytes at offset, NULL when that is not in the file. */
static const void *
part(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->length || size > image->length - offset)
		return NULL;
	return image->bytes + offset;
}

/* The file's byte of an address, by the segments that are loaded. */
static bool
file_offset(const struct image *image, const Elf64_Ehdr *header,
    uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		const void *const at =
		    part(image, header->e_phoff + (uint64_t)i * sizeof(segment),
			sizeof(segment));

		if (!at)
			return false;
		memcpy(&segment, at, sizeof(segment));
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz) {
			*offset =
			    segment.p_offset + (address - segment.p_vaddr);
			return true;
		}
	}
	return false;
}

static bool
read_section(const struct image *image, const Elf64_Ehdr *header,
    unsigned index, Elf64_Shdr *section)
{
	const void *const at =
	    part(image, header->e_shoff + (uint64_t)index * sizeof(*section),
		sizeof(*section));

	if (!at || index >= header->e_shnum)
		return false;
	memcpy(section, at, sizeof(*section));
	return true;
}

/* Address of plugin_version in one symbol table. */
static bool
find_symbol(const struct image *image, const Elf64_Shdr *table,
    const Elf64_Shdr *strings, uint64_t *address)
{
	static const char wanted[] = "plugin_version";

	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size;
	     at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		const void *const bytes =
		    part(image, table->sh_offset + at, sizeof(symbol));

		if (!bytes)
			return false;
		memcpy(&symbol, bytes, sizeof(symbol));
		if (symbol.st_name > strings->sh_size ||
		    strings->sh_size - symbol.st_name < sizeof(wanted))
			continue;
		const char *const name = part(
		    image, strings->sh_offset + symbol.st_name, sizeof(wanted));

		if (name && !memcmp(name, wanted, sizeof(wanted)) &&
		    symbol.st_shndx != SHN_UNDEF) {
			*address = symbol.st_value;
			return true;
		}
	}
	return false;
}

static bool
version_in(const struct image *image, uint32_t *version)
{
	Elf64_Ehdr header;
	Elf64_Shdr section, strings;
	uint64_t address, offset;

	if (image->length < sizeof(header))
		return false;
	memcpy(&header, image->bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (unsigned i = 0; i < header.e_shnum; i++) {
		if (!read_section(image, &header, i, &section))
			return false;
		if (section.sh_type != SHT_DYNSYM)
			continue;
		if (!read_section(image, &header, section.sh_link, &strings) ||
		    !find_symbol(image, &section, &strings, &address) ||
		    !file_offset(image, &header, address, &offset))
			return false;
		const void *const at = part(image, offset, sizeof(*version));

		if (at)
			memcpy(version, at, sizeof(*version));
		return at != NULL;
	}
	return false;
}

int
lt_plugin_version(const char *path, uint32_t *version, struct lt_error *err)
{
	FILE *const in = fopen(path, "re");
	unsigned char *bytes = NULL;
	size_t length = 0;
	bool found = false;

	if (!in)
		return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO,
		    "%s: %s", path, strerror(errno));
	if (!fseek(in, 0, SEEK_END) && ftell(in) > 0 &&
	    ftell(in) <= PLUGIN_BYTES_MAX)
		length = (size_t)ftell(in);
	rewind(in);
	bytes = length ? malloc(length) : NULL;
	if (bytes && fread(bytes, 1, length, in) == length) {
		const struct image image = {bytes, length};

		found = version_in(&image, version);
	}
	free(bytes);
	fclose(in);
	return found ? LT_OK
		     : lt_fail(err, LT_EINPUT,
			   "%s: no Slurm plugin of this machine's kind", path);
}

uint32_t
lt_release_number(const char *release)
{
	unsigned major, minor, micro;

	if (sscanf(release, "%3u.%2u.%3u", &major, &minor, &micro) != 3 ||
	    major > 255 || micro > 255)
		return 0;
	return major << 16 | minor << 8 | micro;
}

int
lt_plugin_find(char *out, size_t size, const char *plugin_dir, const char *name,
    struct lt_error *err)
{
	for (const char *at = plugin_dir; *at;) {
		const int length = (int)strcspn(at, ":");

		snprintf(out, size, "%.*s/%s", length, at, name);
		if (!access(out, R_OK))
			return LT_OK;
		at += length + (at[length] == ':');
	}
	return lt_fail(
	    err, LT_ENOENT, "no %s in PluginDir %s", name, plugin_dir);
}

static int plugstack_file(
    char *out, size_t size, const char *path, int depth, struct lt_error *err);

/* "include GLOB", relative to the file that says so. */
static int
follow(char *out, size_t size, const char *from, const char *pattern, int depth,
    struct lt_error *err)
{
	char path[2048];
	const char *const slash = strrchr(from, '/');
	glob_t files;
	int result = LT_ENOENT;

	if (pattern[0] == '/' || !slash)
		snprintf(path, sizeof(path), "%s", pattern);
	else
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - from),
		    from, pattern);
	if (glob(path, 0, NULL, &files))
		return LT_ENOENT;
	for (size_t i = 0; i < files.gl_pathc && result == LT_ENOENT; i++)
		result = plugstack_file(
		    out, size, files.gl_pathv[i], depth + 1, err);
	globfree(&files);
	return result;
}

static int
plugstack_file(
    char *out, size_t size, const char *path, int depth, struct lt_error *err)
{
	char line[4096], word[16], pattern[1024];
	int result = LT_ENOENT;
	FILE *const in = depth > 4 ? NULL : fopen(path, "re");

	if (!in)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	for (int i = 0; i < PLUGSTACK_LINES_MAX && result == LT_ENOENT &&
			fgets(line, sizeof(line), in);
	     i++) {
		line[strcspn(line, "#\r\n")] = '\0';
		if (strstr(line, "spank_lowtide.so")) {
			snprintf(out, size, "%s", line + strspn(line, " \t"));
			result = LT_OK;
		} else if (sscanf(line, " %15s %1023s", word, pattern) == 2 &&
			   !strcmp(word, "include")) {
			result = follow(out, size, path, pattern, depth, err);
		}
	}
	fclose(in);
	return result;
}

int
lt_plugstack_line(
    char *out, size_t size, const char *path, struct lt_error *err)
{
	const int result = plugstack_file(out, size, path, 0, err);

	if (result == LT_ENOENT)
		return lt_fail(
		    err, LT_ENOENT, "%s: no line with spank_lowtide.so", path);
	return result;
}
