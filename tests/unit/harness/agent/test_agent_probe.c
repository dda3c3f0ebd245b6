/* What profrig-init finds missing where it runs. */
#include "agent_rig.h"

#include <elf.h>
#include <sys/stat.h>

static bool is_missing(const json_t *ev, const char *what, const char **why)
{
	const json_t *m;
	size_t i;

	*why = json_string_value(json_object_get(json_object_get(ev, "why"), what));
	json_array_foreach(json_object_get(ev, "missing"), i,
			   m) if (!strcmp(json_string_value(m), what)) return true;
	return false;
}

static json_t *agent_probe(struct rig *g, json_t *needs, json_t *env)
{
	json_t *rq = json_pack("{s:s, s:i, s:o, s:o, s:b}", "op", "probe", "id", 3, "needs", needs,
			       "env", env, "inherit", 1);
	CLEANUP(xfreep) char *line = json_dumps(rq, JSON_COMPACT);

	json_decref(rq);
	rig_say(g, "%s", line);
	return expect(g, "probe");
}

RIG_TEST(test_probe)
{
	const char *why;
	json_t *ev;

	assert_int_equal(fs_write_atomic(in_dir(g->dir, "my-tool"), "#!/bin/sh\n", 10, NULL), 0);
	assert_int_equal(chmod(in_dir(g->dir, "my-tool"), 0755), 0);
	assert_int_equal(fs_write_atomic(in_dir(g->dir, "not-executable"), "", 0, NULL), 0);
	ev = agent_probe(g,
			 json_pack("[s,s,s,s,s,s,s,s,s]", "sh", "no-such-tool", "my-tool",
				   "not-executable", "libc.so.6", "libno-such.so.3", "/dev/null",
				   "/dev/no-such", g->dir),
			 json_pack("[o]", json_sprintf("PATH=%s:/usr/bin:/bin", g->dir)));
	assert_int_equal(num(ev, "id"), 3);
	assert_int_equal(json_array_size(json_object_get(ev, "missing")), 4);
	assert_true(is_missing(ev, "no-such-tool", &why) && !why);
	assert_true(is_missing(ev, "libno-such.so.3", &why) && !why);
	assert_true(is_missing(ev, "/dev/no-such", &why) && !why);
	assert_true(is_missing(ev, "not-executable", &why));
	assert_has(why, "executed");
	json_decref(ev);
}

/* Each byte of a small shared library is a chance to read past something. */
static void file_put(const char *path, const void *data, size_t n)
{
	assert_int_equal(fs_write_atomic(path, data, n, NULL), 0);
}

/*
 * A library as small as the loader takes one: one page, loaded at 0, that needs NEEDED and version
 * VERSION of it.
 */
struct tiny_so {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Dyn dyn[10];
	Elf64_Verneed vn;
	Elf64_Vernaux va;
	Elf64_Sym sym;
	uint32_t hash[4]; /* one bucket, one symbol */
	uint16_t versym[4];
	char str[64];
};

static Elf64_Word elf_hash(const char *s)
{
	uint32_t h = 0, top;

	for (; *s; s++) {
		h = (h << 4) + (unsigned char)*s;
		top = h & 0xf0000000;
		h = (h ^ top >> 24) & ~top;
	}
	return h;
}

static void tiny_make(struct tiny_so *t, const char *needed, const char *version)
{
	static const struct tiny_so zero;
	size_t version_at = 1 + strlen(needed) + 1;

	*t = zero;
	memcpy(t->eh.e_ident, ELFMAG, SELFMAG);
	t->eh.e_ident[EI_CLASS] = ELFCLASS64;
	t->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	t->eh.e_ident[EI_VERSION] = EV_CURRENT;
	t->eh.e_version = EV_CURRENT;
	t->eh.e_type = ET_DYN;
#if defined(__x86_64__)
	t->eh.e_machine = EM_X86_64;
#elif defined(__aarch64__)
	t->eh.e_machine = EM_AARCH64;
#endif
	t->eh.e_phoff = offsetof(struct tiny_so, ph);
	t->eh.e_phentsize = sizeof(Elf64_Phdr);
	t->eh.e_phnum = 2;
	t->ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				 .p_flags = PF_R | PF_W,
				 .p_filesz = sizeof(*t),
				 .p_memsz = sizeof(*t),
				 .p_align = 4096 };
	t->ph[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				 .p_offset = offsetof(struct tiny_so, dyn),
				 .p_vaddr = offsetof(struct tiny_so, dyn),
				 .p_memsz = sizeof(t->dyn),
				 .p_filesz = sizeof(t->dyn) };
	snprintf(t->str + 1, 30, "%s", needed);
	snprintf(t->str + version_at, 30, "%s", version);
	t->dyn[0] = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = offsetof(struct tiny_so, str) };
	t->dyn[1] = (Elf64_Dyn){ .d_tag = DT_NEEDED, .d_un.d_val = 1 };
	t->dyn[2] = (Elf64_Dyn){ .d_tag = DT_VERNEED, .d_un.d_ptr = offsetof(struct tiny_so, vn) };
	t->dyn[3] = (Elf64_Dyn){ .d_tag = DT_VERNEEDNUM, .d_un.d_val = 1 };
	t->dyn[4] = (Elf64_Dyn){ .d_tag = DT_SYMTAB, .d_un.d_ptr = offsetof(struct tiny_so, sym) };
	t->dyn[5] = (Elf64_Dyn){ .d_tag = DT_SYMENT, .d_un.d_val = sizeof(t->sym) };
	t->dyn[6] = (Elf64_Dyn){ .d_tag = DT_STRSZ, .d_un.d_val = sizeof(t->str) };
	t->dyn[7] = (Elf64_Dyn){ .d_tag = DT_HASH, .d_un.d_ptr = offsetof(struct tiny_so, hash) };
	t->dyn[8] =
		(Elf64_Dyn){ .d_tag = DT_VERSYM, .d_un.d_ptr = offsetof(struct tiny_so, versym) };
	t->hash[0] = t->hash[1] = 1;
	t->vn = (Elf64_Verneed){
		.vn_version = 1, .vn_cnt = 1, .vn_file = 1, .vn_aux = sizeof(Elf64_Verneed)
	};
	t->va = (Elf64_Vernaux){ .vna_hash = elf_hash(version),
				 .vna_other = 2,
				 .vna_name = (Elf64_Word)version_at };
}

RIG_TEST(test_probe_library_versions)
{
	CLEANUP(xfreep) char *good = fs_join(g->dir, "libgood.so");
	CLEANUP(xfreep) char *new = fs_join(g->dir, "libnew.so.1");
	CLEANUP(xfreep) char *lonely = fs_join(g->dir, "liblonely.so");
	CLEANUP(xfreep) char *foreign = fs_join(g->dir, "libforeign.so");
	CLEANUP(xfreep) char *text_file = fs_join(g->dir, "libtext.so");
	struct tiny_so t;
	const char *why;
	json_t *ev;

	tiny_make(&t, "libc.so.6", "GLIBC_2.17");
	file_put(good, &t, sizeof(t));
	tiny_make(&t, "libc.so.6", "GLIBC_2.99");
	file_put(new, &t, sizeof(t));
	tiny_make(&t, "libnobody.so.2", "NOBODY_1");
	file_put(lonely, &t, sizeof(t));
	tiny_make(&t, "libc.so.6", "GLIBC_2.17");
	t.eh.e_machine = EM_S390;
	file_put(foreign, &t, sizeof(t));
	file_put(text_file, "GROUP ( libc.so.6 )", 19);
	ev = agent_probe(g,
			 json_pack("[s,s,s,s,s,s,s]", good, new, lonely, foreign, text_file,
				   "libgood.so", "libnew.so.1"),
			 json_pack("[o]", json_sprintf("LD_LIBRARY_PATH=/nowhere:%s", g->dir)));
	if (is_missing(ev, good, &why))
		fail_msg("%s", why);
	assert_false(is_missing(ev, "libgood.so", &why));
	assert_true(is_missing(ev, new, &why));
	assert_has(why, "version `GLIBC_2.99' not found (required by ");
	assert_true(is_missing(ev, "libnew.so.1", &why));
	assert_has(why, "GLIBC_2.99");
	assert_true(is_missing(ev, lonely, &why));
	assert_has(why, "libnobody.so.2");
	assert_true(is_missing(ev, foreign, &why));
	assert_has(why, "another machine");
	assert_true(is_missing(ev, text_file, &why));
	assert_has(why, "not an ELF file");
	json_decref(ev);
}

/*
 * Every byte of a library turned, and every length it could be cut to: the agent answers each time
 * and stays.
 */
RIG_TEST(test_probe_hostile_libraries)
{
	CLEANUP(xfreep) char *path = fs_join(g->dir, "libhostile.so");
	struct tiny_so t, bad;

	tiny_make(&t, "libc.so.6", "GLIBC_2.17");
	for (size_t i = 0; i < sizeof(t); i += 1) {
		for (int k = 0; k < 2; k++) {
			json_t *ev;

			bad = t;
			((unsigned char *)&bad)[i] ^= k ? 0xff : 0x01;
			file_put(path, &bad, k ? sizeof(bad) : i);
			ev = agent_probe(g, json_pack("[s]", path), json_array());
			json_decref(ev);
		}
	}
	file_put(path, &t, sizeof(t));
	json_decref(agent_probe(g, json_pack("[s]", path), json_array()));
}
