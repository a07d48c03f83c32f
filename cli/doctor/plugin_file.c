/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the release that a Slurm plugin was built for (plugin_version, a uint32 in the ELF file)
 * without loading it. Loading would need slurmctld's symbols and run the plugin's code. A file that
 * is not an ELF file, or is cut, is an error.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "units.h"

/* Finds plugin_version among the symbols that the plugin exports. */
static bool
find_symbol(Elf *elf, GElf_Sym *symbol)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *const table = elf_getdata(section, NULL);

		for (int i = 0; gelf_getsym(table, i, symbol) != NULL; i++) {
			const char *const name = elf_strptr(elf, header.sh_link, symbol->st_name);

			if (name != NULL && strcmp(name, "plugin_version") == 0 &&
			    symbol->st_shndx != SHN_UNDEF)
				return true;
		}
	}
	return false;
}

/* Reads the bytes of plugin_version, by the segments that are loaded. */
static bool
version_in(Elf *elf, uint32_t *version)
{
	static const unsigned char byte_order =
	    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	const char *const ident = elf_getident(elf, NULL);
	GElf_Sym symbol;
	GElf_Phdr segment;

	if (gelf_getclass(elf) != ELFCLASS64 || ident[EI_DATA] != byte_order ||
	    !find_symbol(elf, &symbol))
		return false;
	for (int i = 0; gelf_getphdr(elf, i, &segment) != NULL; i++) {
		const uint64_t at = symbol.st_value - segment.p_vaddr;

		if (segment.p_type != PT_LOAD || symbol.st_value < segment.p_vaddr ||
		    at >= segment.p_filesz)
			continue;
		const Elf_Data *const data = elf_getdata_rawchunk(
		    elf, (int64_t)(segment.p_offset + at), sizeof(*version), ELF_T_BYTE);

		if (data != NULL)
			memcpy(version, data->d_buf, sizeof(*version));
		return data != NULL;
	}
	return false;
}

int
lt_plugin_version(const char *path, uint32_t *version, struct lt_error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return lt_fail(
		    err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	Elf *const elf = elf_begin(fd, ELF_C_READ, NULL);
	const bool found = elf != NULL && version_in(elf, version);

	elf_end(elf);
	close(fd);
	return found ? LT_OK
		     : lt_fail(err, LT_EINPUT, "%s: no Slurm plugin of this machine's kind", path);
}

uint32_t
lt_release_number(const char *release)
{
	unsigned major, minor, micro;

	if (sscanf(release, "%3u.%2u.%3u", &major, &minor, &micro) != 3 || major > 255 ||
	    micro > 255)
		return 0;
	return major << 16 | minor << 8 | micro;
}

int
lt_plugin_find(
    char *out, size_t size, const char *plugin_dir, const char *name, struct lt_error *err)
{
	for (const char *at = plugin_dir; *at;) {
		const int length = (int)strcspn(at, ":");

		snprintf(out, size, "%.*s/%s", length, at, name);
		if (!access(out, R_OK))
			return LT_OK;
		at += length + (at[length] == ':');
	}
	return lt_fail(err, LT_ENOENT, "no %s in PluginDir %s", name, plugin_dir);
}
