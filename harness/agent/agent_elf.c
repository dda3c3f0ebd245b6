/*
 * The dynamic section of an ELF64 file in this machine's byte order:
 *
 *	header → program headers → PT_DYNAMIC: (tag, value) pairs
 *		DT_NEEDED	offsets of names in DT_STRTAB
 *		DT_VERNEED	per file: names of versions wanted (GLIBC_2.34 of libc.so.6)
 *		DT_VERDEF	names of versions offered
 *
 * Addresses in it are virtual; PT_LOAD segments turn them into file offsets. Everything is read
 * with pread and counted, never mapped: the file belongs to others and may shrink meanwhile.
 */
#include "agent_priv.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_PHDRS 256
#define MAX_DYN 4096
#define MAX_NAMES 4096
#define MAX_NAME 256

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#else
#error "tell this file the ELF machine of the new architecture"
#endif
#define DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

struct elf {
	int fd;
	VEC(Elf64_Phdr) phdrs;
	VEC(Elf64_Dyn) dyns;
	uint64_t strtab, verneed, verdef; /* file offsets, 0 = none */
	uint64_t nr_verneed, nr_verdef;
};

static bool get(const struct elf *e, uint64_t at, void *to, size_t n)
{
	return at <= INT64_MAX && pread(e->fd, to, n, (off_t)at) == (ssize_t)n;
}

static int read_header(struct elf *e, struct err *err)
{
	Elf64_Ehdr h;

	if (!get(e, 0, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, ENOEXEC, "not an ELF file");
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != DATA ||
	    h.e_machine != MACHINE)
		return err_set(err, ENOEXEC, "built for another machine (ELF machine %u, %s)",
			       h.e_machine,
			       h.e_ident[EI_CLASS] == ELFCLASS32 ? "32 bit" : "64 bit");
	if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum > MAX_PHDRS)
		return err_set(err, EINVAL, "damaged ELF file: program headers");
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;

		if (!get(e, h.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return err_set(err, EINVAL, "damaged ELF file: cut short");
		VEC_PUSH(&e->phdrs, p);
	}
	return 0;
}

static int read_dynamic(struct elf *e, struct err *err)
{
	for (size_t i = 0; i < e->phdrs.nr; i++) {
		const Elf64_Phdr *p = &e->phdrs.v[i];

		if (p->p_type != PT_DYNAMIC)
			continue;
		for (uint64_t n = 0; n < p->p_filesz / sizeof(Elf64_Dyn); n++) {
			Elf64_Dyn d;

			if (n >= MAX_DYN || !get(e, p->p_offset + n * sizeof(d), &d, sizeof(d)))
				return err_set(err, EINVAL, "damaged ELF file: dynamic section");
			if (d.d_tag == DT_NULL)
				break;
			VEC_PUSH(&e->dyns, d);
		}
	}
	return 0;
}

static uint64_t to_offset(const struct elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->phdrs.nr; i++) {
		const Elf64_Phdr *p = &e->phdrs.v[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz)
			return p->p_offset + (address - p->p_vaddr);
	}
	return 0;
}

static void locate(struct elf *e, struct elf_facts *f)
{
	for (size_t i = 0; i < e->dyns.nr; i++) {
		const Elf64_Dyn *d = &e->dyns.v[i];

		switch (d->d_tag) {
		case DT_STRTAB:
			e->strtab = to_offset(e, d->d_un.d_ptr);
			break;
		case DT_VERNEED:
			e->verneed = to_offset(e, d->d_un.d_ptr);
			break;
		case DT_VERNEEDNUM:
			e->nr_verneed = d->d_un.d_val;
			break;
		case DT_VERDEF:
			e->verdef = to_offset(e, d->d_un.d_ptr);
			break;
		case DT_VERDEFNUM:
			e->nr_verdef = d->d_un.d_val;
			break;
		case DT_RPATH:
		case DT_RUNPATH:
			f->has_rpath = true;
			break;
		default:
			break;
		}
	}
}

static bool name_at(const struct elf *e, uint64_t offset, char buf[MAX_NAME])
{
	ssize_t n;

	if (!e->strtab || offset > UINT32_MAX || e->strtab > INT64_MAX - UINT32_MAX)
		return false;
	n = pread(e->fd, buf, MAX_NAME, (off_t)(e->strtab + offset));
	return n > 0 && memchr(buf, '\0', (size_t)n) != NULL;
}

static struct elf_need *need_of(struct elf_facts *f, const char *file)
{
	for (size_t i = 0; i < f->needs.nr; i++)
		if (!strcmp(f->needs.v[i].file, file))
			return &f->needs.v[i];
	VEC_PUSH(&f->needs, ((struct elf_need){ xstrdup(file), STRVEC_INIT }));
	return &f->needs.v[f->needs.nr - 1];
}

static int bad_versions(struct err *err)
{
	return err_set(err, EINVAL, "damaged ELF file: version tables");
}

static int read_verneed(const struct elf *e, struct elf_facts *f, struct err *err)
{
	uint64_t at = e->verneed, names = 0;
	char name[MAX_NAME];

	for (uint64_t i = 0; e->verneed && i < e->nr_verneed; i++) {
		Elf64_Verneed vn;
		uint64_t aux_at;
		struct elf_need *need;

		if (!get(e, at, &vn, sizeof(vn)) || !name_at(e, vn.vn_file, name))
			return bad_versions(err);
		need = need_of(f, name);
		aux_at = at + vn.vn_aux;
		for (unsigned k = 0; k < vn.vn_cnt; k++) {
			Elf64_Vernaux va;

			if (++names > MAX_NAMES || !get(e, aux_at, &va, sizeof(va)) ||
			    !name_at(e, va.vna_name, name))
				return bad_versions(err);
			if (!(va.vna_flags & VER_FLG_WEAK))
				strvec_push(&need->versions, name);
			aux_at += va.vna_next;
		}
		if (vn.vn_next == 0)
			break;
		if (++names > MAX_NAMES)
			return bad_versions(err);
		at += vn.vn_next;
	}
	return 0;
}

static int read_verdef(const struct elf *e, struct elf_facts *f, struct err *err)
{
	uint64_t at = e->verdef;
	char name[MAX_NAME];

	for (uint64_t i = 0; e->verdef && i < e->nr_verdef; i++) {
		Elf64_Verdef vd;
		Elf64_Verdaux va;

		if (i >= MAX_NAMES || !get(e, at, &vd, sizeof(vd)) ||
		    !get(e, at + vd.vd_aux, &va, sizeof(va)) || !name_at(e, va.vda_name, name))
			return bad_versions(err);
		strvec_push(&f->defines, name);
		if (vd.vd_next == 0)
			break;
		at += vd.vd_next;
	}
	return 0;
}

static int read_needed(const struct elf *e, struct elf_facts *f, struct err *err)
{
	char name[MAX_NAME];

	for (size_t i = 0; i < e->dyns.nr; i++) {
		if (e->dyns.v[i].d_tag != DT_NEEDED)
			continue;
		if (!name_at(e, e->dyns.v[i].d_un.d_val, name))
			return err_set(err, EINVAL, "damaged ELF file: needed libraries");
		need_of(f, name);
	}
	return 0;
}

int elf_read(const char *path, struct elf_facts *ret, struct err *err)
{
	struct elf_facts f = { .needs = VEC_INIT, .defines = STRVEC_INIT };
	/* O_NONBLOCK: not to wait for the other end of a FIFO. */
	struct elf e = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	int r;

	if (e.fd < 0)
		return err_sys(err, errno, "cannot read it");
	r = read_header(&e, err);
	if (r == 0)
		r = read_dynamic(&e, err);
	if (r == 0) {
		locate(&e, &f);
		r = read_needed(&e, &f, err);
	}
	if (r == 0)
		r = read_verneed(&e, &f, err);
	if (r == 0)
		r = read_verdef(&e, &f, err);
	close(e.fd);
	VEC_RELEASE(&e.phdrs);
	VEC_RELEASE(&e.dyns);
	if (r < 0)
		elf_release(&f);
	else
		*ret = f;
	return r;
}

void elf_release(struct elf_facts *f)
{
	for (size_t i = 0; i < f->needs.nr; i++) {
		free(f->needs.v[i].file);
		strvec_release(&f->needs.v[i].versions);
	}
	VEC_RELEASE(&f->needs);
	strvec_release(&f->defines);
}
