/* Which Dockerfiles are meant, what images are called, what stands in a manifest. */
#include "conf_test.h"

#include <math.h>

#include "profrig/image/image.h"

static void image_load(struct runconf *rc, const struct sandbox *sb, const char *const *sets,
		       struct problems *p)
{
	static const struct tool_set no_tools;
	CLEANUP(strvec_release) struct strvec list = STRVEC_INIT, none = STRVEC_INIT;
	struct runconf_request rq = { .model = "profrig.yaml",
				      .config_files = none,
				      .labels = none,
				      .builds = true,
				      .cwd = sb->dir };

	for (; sets && *sets; sets++)
		strvec_push(&list, *sets);
	rq.sets = list;
	runconf_load(rc, &rq, &no_tools, p, NULL);
}

/* The images of profrig.yaml in the sandbox, as "image dockerfile arch;…", or its problems. */
static char *images(const struct sandbox *sb, const char *const *sets, struct strvec *notes)
{
	struct image_plan ip = { .jobs = VEC_INIT, .notes = STRVEC_INIT };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct problems p = PROBLEMS_INIT;
	struct runconf rc;

	image_load(&rc, sb, sets, &p);
	if (!p.lines.nr)
		image_plan_add(&ip, &rc, "profrig.yaml", NULL, &p);
	for (size_t i = 0; i < ip.jobs.nr; i++)
		strbuf_addf(&out, "%s %s %s;", ip.jobs.v[i].image, fs_base(ip.jobs.v[i].dockerfile),
			    ip.jobs.v[i].arch ? ip.jobs.v[i].arch : "-");
	for (size_t i = 0; i < p.lines.nr; i++)
		strbuf_addf(&out, "%s\n", p.lines.v[i]);
	for (size_t i = 0; notes && i < ip.notes.nr; i++)
		strvec_push(notes, ip.notes.v[i]);
	image_plan_release(&ip);
	runconf_release(&rc);
	problems_release(&p);
	return strbuf_steal(&out);
}

#define SETS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(test_names)
{
	static const struct {
		const char *model, *dockerfile, *arch, *want;
	} rows[] = {
		{ "dummy", "docker/dummy.ubuntu.amd.Dockerfile", NULL,
		  "ci-dummy_dummy.ubuntu.amd" },
		{ "Team/MLP", "x.Dockerfile", "gfx90a", "ci-team_mlp_x_gfx90a" },
		{ "m", "/a/Dockerfile", NULL, "ci-m_dockerfile" },
		{ "m", "Dockerfile.amd", NULL, "ci-m_dockerfile.amd" },
		{ "a b+c", "é.Dockerfile", NULL, "ci-a_b_c" },
		{ "a--b", "x..y.Dockerfile", NULL, "ci-a--b_x_y" },
		{ "a_-b/", "_x.Dockerfile", NULL, "ci-a_b_x" },
		{ "m", NULL, NULL, "ci-m" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep)
		char *got = image_name(rows[i].model, rows[i].dockerfile, rows[i].arch);

		if (strcmp(got, rows[i].want) != 0)
			ROW_FAIL(i, "%s, not %s", got, rows[i].want);
	}
	CLEANUP(xfreep) char *repo = image_registry_name("docker.io", "me/repo", "ci-m");

	assert_string_equal(kept(image_registry_name("r", "x", "a/m:7")), "r/x:a_m_7");
	assert_string_equal(kept(image_registry_name("r:5000", NULL, "ci-m")), "r:5000/ci-m");
	assert_string_equal(repo, "docker.io/me/repo:ci-m");
}

TEST(test_registries)
{
	static const struct {
		const char *image;
		size_t want;
	} rows[] = {
		{ "busybox", 0 },    { "busybox:1", 0 },       { "team/x", 0 },
		{ "team/x:1.2", 0 }, { "localhost/x", 9 },     { "localhosts/x", 0 },
		{ "r:5000/x", 6 },   { "ghcr.io/team/x", 7 },  { "127.0.0.1:5000/x:1", 14 },
		{ "docker.io", 0 },  { "team/x@sha256:a", 0 }, { "", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (image_registry_len(rows[i].image) != rows[i].want)
			fail_msg("%s: %zu, want %zu", rows[i].image,
				 image_registry_len(rows[i].image), rows[i].want);
}

TEST(test_selection)
{
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "profrig.yaml", "model: {name: T/m, dockerfile: docker/m}\n");
	sandbox_write(&sb, "docker/m.amd.Dockerfile",
		      "# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'}\nFROM x\n");
	sandbox_write(&sb, "docker/m.nv.Dockerfile",
		      "\n#\n#\n# CONTEXT {\"gpu_vendor\": \"NVIDIA\"}\nFROM x\n");
	sandbox_write(&sb, "docker/m.cent.Dockerfile",
		      "# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'CENTOS'}\nFROM x\n");
	/* A key that the context has not is no reason; nor is a comment in line six. */
	sandbox_write(
		&sb, "docker/m.any.Dockerfile",
		"# CONTEXT {'colour': 'red'}\nFROM x\n\n\n\n# CONTEXT {'guest_os': 'CENTOS'}\n");
	sandbox_write(&sb, "docker/m.amd.Dockerfile~", "FROM old\n");
	sandbox_write(&sb, "docker/other.Dockerfile", "FROM x\n");
	CLEANUP(xfreep)
	char *cent = images(&sb, SETS("context={gpu_vendor: AMD, guest_os: CENTOS, colour: blue}"),
			    NULL),
	     *red = images(&sb, SETS("context={gpu_vendor: NVIDIA, colour: red}"), NULL);

	assert_string_equal(kept(images(&sb, SETS("context.gpu_vendor=amd"), NULL)),
			    "ci-t_m_m.amd m.amd.Dockerfile -;ci-t_m_m.any m.any.Dockerfile -;");
	assert_string_equal(cent, "ci-t_m_m.cent m.cent.Dockerfile -;");
	assert_string_equal(red, "ci-t_m_m.any m.any.Dockerfile -;ci-t_m_m.nv m.nv.Dockerfile -;");
}

/* The reference's handler swallowed this, and everything ran anyway. */
TEST(test_none_fits)
{
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "profrig.yaml", "model: {name: m, dockerfile: docker}\n");
	sandbox_write(&sb, "docker/Dockerfile", "# CONTEXT {'gpu_vendor': 'NVIDIA'}\nFROM x\n");
	sandbox_write(&sb, "docker/a.Dockerfile",
		      "# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'CENTOS'}\nFROM x\n");
	CLEANUP(xfreep) char *got = images(&sb, SETS("context.gpu_vendor=AMD"), NULL);

	assert_string_equal(
		got, "profrig.yaml:1: no Dockerfile of model 'm' fits the context (gpu_vendor AMD, "
		     "guest_os UBUNTU): Dockerfile wants gpu_vendor NVIDIA; a.Dockerfile wants "
		     "guest_os CENTOS; add one, or say what is meant with --set "
		     "context.KEY=VALUE\n");
}

TEST(test_bad)
{
	static const struct {
		const char *conf, *want;
	} rows[] = {
		{ "model: {name: m, dockerfile: nothing}\n", "there is neither '" },
		{ "model: {name: m, dockerfile: empty}\n", "holds no Dockerfile" },
		{ "model: {name: m}\n", "states no Dockerfile (model.dockerfile)" },
		{ "model: {name: m, dockerfile: odd}\n", "odd.Dockerfile:1: CONTEXT wants {" },
		{ "model: {name: m, dockerfile: list}\n", "list.Dockerfile:1: CONTEXT wants {" },
		{ "model: {name: m, dockerfile: ok}\nbuild: {args: {HF_TOKEN: x}}\n",
		  "build.args.HF_TOKEN: an argument stays in the image's history" },
		{ "model: {name: m, dockerfile: ok}\nbuild: {secrets: {A: {from_env: "
		  "NO_SUCH_V}}}\n",
		  "profrig.yaml:2: secrets.A: the variable NO_SUCH_V is not set" },
		{ "model: {name: m, dockerfile: ok}\nbuild: {secrets: {A: {}}}\n",
		  "profrig.yaml:2: secrets.A: want from_env or from_file" },
		{ "model: {name: m, dockerfile: ok}\nbuild: {secrets: {A: {from_file: gone}}}\n",
		  "profrig.yaml:2: secrets.A: " },
		{ "model: {name: m, dockerfile: ok}\nbuild: {context: gone}\n",
		  "build.context: no folder" },
		{ "model: {name: m, dockerfile: ok}\nregistry: {name: 'u:pw@host'}\n",
		  "registry.name: want HOST or HOST:PORT, not '…@…'" },
		{ "model: {name: m, dockerfile: ok}\ncontext: {guest_os: UBUNTO}\n",
		  "context.guest_os: want one of UBUNTU, CENTOS, not 'UBUNTO'" },
	};
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "empty/x.txt", "");
	sandbox_write(&sb, "ok.Dockerfile", "FROM x\n");
	sandbox_write(&sb, "odd.Dockerfile", "# CONTEXT {'gpu_vendor': \n");
	sandbox_write(&sb, "list.Dockerfile", "# CONTEXT [1]\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		sandbox_write(&sb, "profrig.yaml", rows[i].conf);
		CLEANUP(xfreep) char *got = images(&sb, NULL, NULL);

		if (!strstr(got, rows[i].want))
			ROW_FAIL(i, "'%s' lacks '%s'", got, rows[i].want);
	}
}

TEST(test_vendor_is_no_accident)
{
	CLEANUP(sandbox_release) struct sandbox sb;

	if (fs_exists("/dev/kfd") || fs_exists("/dev/nvidiactl")) {
		print_message("this machine has a GPU\n");
		skip();
	}
	sandbox_init(&sb);
	sandbox_write(&sb, "profrig.yaml", "model: {name: m, dockerfile: d}\n");
	sandbox_write(&sb, "d.a.Dockerfile", "# CONTEXT {'gpu_vendor': 'AMD'}\nFROM x\n");

	assert_string_equal(kept(images(&sb, NULL, NULL)), "ci-m_d.a d.a.Dockerfile -;");
	sandbox_write(&sb, "d.b.Dockerfile", "# CONTEXT {'gpu_vendor': 'NVIDIA'}\nFROM x\n");

	assert_string_equal(kept(images(&sb, NULL, NULL)), "ci-m_d.a d.a.Dockerfile -;");
	CLEANUP(xfreep) char *other = images(&sb, SETS("context.gpu_vendor=NVIDIA"), NULL);

	assert_string_equal(other, "ci-m_d.b d.b.Dockerfile -;");
}

TEST(test_archs_and_image)
{
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "profrig.yaml",
		      "model: {name: m, dockerfile: d, image: 'mine:1'}\n"
		      "build: {secrets: {TOK: {from_file: tok}}}\n");
	sandbox_write(&sb, "tok", "hunter2");
	sandbox_write(&sb, "d.a.Dockerfile",
		      "arg \\\n  MAD_SYSTEM_GPU_ARCHITECTURE\nFROM x\nARG TOK\n");

	assert_string_equal(kept(images(&sb, NULL, &notes)), "mine:1 d.a.Dockerfile -;");
	assert_int_equal(notes.nr, 2);
	assert_has(notes.v[0], "d.a.Dockerfile:4: ARG TOK is left empty");
	assert_has(notes.v[1], "--target-archs");
	CLEANUP(xfreep) char *one = images(&sb, SETS("build.target_archs=[gfx90a]"), NULL);

	assert_string_equal(kept(images(&sb, SETS("build.target_archs=[gfx90a, gfx942]"), NULL)),
			    "ci-m_d.a_gfx90a d.a.Dockerfile gfx90a;"
			    "ci-m_d.a_gfx942 d.a.Dockerfile gfx942;");
	assert_string_equal(one, "mine:1 d.a.Dockerfile gfx90a;");
	sandbox_write(&sb, "d.b.Dockerfile", "FROM x\n");
	strvec_clear(&notes);

	assert_string_equal(kept(images(&sb, SETS("build.target_archs=[gfx90a]"), &notes)),
			    "ci-m_d.a_gfx90a d.a.Dockerfile gfx90a;ci-m_d.b d.b.Dockerfile -;");
	assert_has(notes.v[1], "one image for all architectures");
}

TEST(test_base)
{
	static const struct {
		const char *text, *sets, *want;
	} rows[] = {
		{ "FROM rocm/pytorch:1\n", NULL, "rocm/pytorch:1" },
		{ "ARG BASE_DOCKER=a:1\nFROM $BASE_DOCKER\n", NULL, "a:1" },
		{ "ARG BASE_DOCKER=a:1\nFROM ${BASE_DOCKER}\n", "build.args={BASE_DOCKER: 'b:2'}",
		  "b:2" },
		{ "ARG A=1 BASE='q:1'\nFROM --platform=linux/amd64 ${BASE:-z} AS last\n", NULL,
		  "q:1" },
		{ "FROM a\nFROM b\n", NULL, "b" },
		{ "# escape=`\nFROM `\n  c:3\n", NULL, "c:3" },
	};
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "profrig.yaml", "model: {name: m, dockerfile: d.Dockerfile}\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct image_plan ip = { .jobs = VEC_INIT, .notes = STRVEC_INIT };
		CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
		CLEANUP(runconf_release) struct runconf rc;

		sandbox_write(&sb, "d.Dockerfile", rows[i].text);
		image_load(&rc, &sb, SETS(rows[i].sets ? rows[i].sets : "env.A=1"), &p);
		image_plan_add(&ip, &rc, "m", NULL, &p);
		assert_int_equal(p.lines.nr, 0);
		if (strcmp(ip.jobs.v[0].base, rows[i].want) != 0)
			ROW_FAIL(i, "%s, not %s", ip.jobs.v[0].base, rows[i].want);
		image_plan_release(&ip);
	}
}

/* What is written is what is read; what failed does not run. */
TEST(test_manifest)
{
	struct image_plan ip = { .jobs = VEC_INIT, .notes = STRVEC_INIT };
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	struct manifest m;
	CLEANUP(runconf_release) struct runconf rc;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	CLEANUP(xfreep) char *path = fs_join(sb.dir, "man.json");

	sandbox_write(&sb, "profrig.yaml",
		      "model: {name: T/m, dockerfile: d, tags: [x]}\n"
		      "env: {A_TOKEN: hunter2-env, B: '1'}\n"
		      "build: {secrets: {TOK: {from_file: tok}}}\n"
		      "registry: {name: 'r:5000', repository: me}\n");
	sandbox_write(&sb, "tok", "hunter2-build");
	sandbox_write(&sb, "d.a.Dockerfile", "FROM x\n");
	sandbox_write(&sb, "d.b.Dockerfile", "FROM y\n");
	image_load(&rc, &sb, NULL, &p);
	image_plan_add(&ip, &rc, "here/profrig.yaml", NULL, &p);
	assert_int_equal(p.lines.nr, 0);
	ip.jobs.v[0].status = IMAGE_BUILT;
	ip.jobs.v[0].pushed = true;
	ip.jobs.v[0].id = xstrdup("sha256:1");
	ip.jobs.v[0].build_s = 2.5;
	ip.jobs.v[1].status = IMAGE_FAILED;
	ip.jobs.v[1].error = xstrdup("no \"room\"");
	assert_int_equal(manifest_write(&ip, "podman", "B1", "9", path, &err), 0);
	CLEANUP(xfreep) char *text = NULL;
	size_t n;

	assert_int_equal(fs_read(path, 1 << 20, &text, &n, &err), 0);
	assert_lacks(text, "hunter2");
	assert_int_equal(manifest_read(&m, path, &err), 0);
	assert_true(m.ours);
	assert_int_equal(m.images.nr, 1);
	assert_string_equal(m.images.v[0].image, "ci-t_m_d.a");
	assert_string_equal(m.images.v[0].registry_image, "r:5000/me:ci-t_m_d.a");
	assert_string_equal(m.images.v[0].id, "sha256:1");
	assert_string_equal(m.images.v[0].model, "T/m");
	assert_string_equal(m.images.v[0].word, "here/profrig.yaml");
	assert_string_equal(m.folder, kept(fs_abs(".")));
	assert_true(m.images.v[0].build_s == 2.5);
	assert_int_equal(m.failed.nr, 1);
	assert_string_equal(m.failed.v[0], "ci-t_m_d.b");
	manifest_release(&m);
	image_plan_release(&ip);
}

/* As the orchestrator before this one writes it: no schema, more keys, the model by its entry. */
TEST(test_foreign_manifest)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "{\"built_images\": []}", "no 'built_images' in it" },
		{ "{\"schema\": \"profrig.run/1\", \"built_images\": {}}",
		  "is not profrig.manifest/1" },
		{ "{\"built_images\": {", "manifest: " },
		{ "[]", "manifest: " },
	};
	struct err err = ERR_INIT;
	struct manifest m;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	CLEANUP(xfreep) char *path = fs_join(sb.dir, "man.json");

	sandbox_write(
		&sb, "man.json",
		"{\"built_images\": {\"ci-d_d.ubuntu.amd\": {\"docker_image\": "
		"\"ci-d_d.ubuntu.amd\", \"dockerfile\": \"./docker/d.ubuntu.amd.Dockerfile\", "
		"\"build_duration\": 12.5}, \"k\": {\"model\": \"e\"}}, \"built_models\": "
		"{\"ci-d_d.ubuntu.amd\": {\"name\": \"d\", \"args\": \"--x\"}}, \"context\": "
		"{\"docker_env_vars\": {}}, \"summary\": {}}");
	assert_int_equal(manifest_read(&m, path, &err), 0);
	assert_false(m.ours);
	assert_int_equal(m.images.nr, 2);
	assert_string_equal(m.images.v[0].model, "d");
	assert_null(m.images.v[0].word);
	assert_true(m.images.v[0].build_s == 12.5);
	assert_string_equal(m.images.v[1].image, "k");
	assert_string_equal(m.images.v[1].model, "e");
	assert_true(isnan(m.images.v[1].build_s));
	manifest_release(&m);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		sandbox_write(&sb, "man.json", bad[i].text);
		assert_int_equal(manifest_read(&m, path, &err), -EINVAL);
		if (!strstr(err.msg, bad[i].want))
			ROW_FAIL(i, "%s", err.msg);
		manifest_release(&m);
	}
	unlink(path);
	assert_int_equal(manifest_read(&m, path, &err), -ENOENT);
	manifest_release(&m);
}
