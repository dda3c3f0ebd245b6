/* From a listing to the cache: keeps good files, fetches the rest into part/ and moves it into
 * place. */
#include "data_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"

static const struct data_file *find_file(const data_files *files, const char *rel)
{
	size_t at = LOWER_BOUND(i, 0, files->nr, strcmp(files->v[i].rel, rel) < 0);

	return at < files->nr && strcmp(files->v[at].rel, rel) == 0 ? &files->v[at] : NULL;
}

/* The cached file when it matches the listing and is unchanged since it was fetched. */
static const struct data_file *file_reusable(const struct fetch *f, const data_files *have,
					     const struct data_file *want)
{
	const struct data_file *h = find_file(have, want->rel);

	if (!h || !h->tag || !want->tag || strcmp(h->tag, want->tag) != 0 ||
	    (want->bytes >= 0 && want->bytes != h->bytes))
		return NULL;
	return entry_file_good(f->dir, h) ? h : NULL;
}

static int finish_file(struct fetch *f, const char *part, struct data_file *file, struct err *err)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/data/%s", f->dir, file->rel);
	CLEANUP(xfreep) char *parent = fs_dir(path);
	int r = fs_sha256(part, NULL, file->sha256, err);

	if (r == 0)
		r = fs_mkdirs(parent, 0755, err);
	/* Read-only, as a workload on the host that writes there would spoil it for all runs. */
	if (r == 0 && (chmod(part, 0444) < 0 || rename(part, path) < 0))
		r = err_sys(err, errno, "cannot put '%s' into the cache", file->rel);
	if (r == 0) {
		file->bytes = fs_size(path);
		file->mtime_ns = fs_mtime_ns(path);
	}
	return r;
}

/* part/ is flat: a name there is a hash of the file's path, so that a later try finds it again. */
static char *part_of(const struct fetch *f, const struct data_file *file)
{
	char sha[65];

	fs_sha256_text(file->rel, strlen(file->rel), sha);
	return xasprintf("%s/part/%.16s", f->dir, sha);
}

int data_fetch_one(struct fetch *f, struct data_job *job, data_get *get, struct err *err)
{
	CLEANUP(xfreep) char *part = part_of(f, job->want);
	int r;

	f->tag[0] = '\0';
	r = get(f, job->want, part, err);
	if (r == 0 && *f->tag) {
		free(job->file->tag);
		job->file->tag = xstrdup(f->tag);
	}
	if (r == 0)
		r = finish_file(f, part, job->file, err);
	job->done = r == 0;
	return r < 0 && r != -EINTR ? err_wrap(err, r, "%s", job->want->rel) : r;
}

static uint64_t total_of(const data_files *listing)
{
	uint64_t total = 0;

	for (size_t i = 0; i < listing->nr; i++) {
		if (listing->v[i].bytes < 0)
			return 0;
		total += (uint64_t)listing->v[i].bytes;
	}
	return total;
}

/* Whether one name is both a file and a folder, which S3 allows and file systems do not. */
static int check_names(const data_files *listing, struct err *err)
{
	for (size_t i = 1; i < listing->nr; i++) {
		const char *a = listing->v[i - 1].rel, *b = listing->v[i].rel;

		if (!strcmp(a, b) || fs_below(a, b))
			return err_set(err, EPROTO, "'%s' and '%s' cannot both be files", a, b);
	}
	return 0;
}

static void forget_gone(const struct fetch *f, const data_files *have, const data_files *listing)
{
	for (size_t i = 0; i < have->nr; i++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/data/%s", f->dir, have->v[i].rel);

		if (!find_file(listing, have->v[i].rel))
			unlink(path);
	}
}

/* A name may have changed from a file to a folder, or the other way round. */
static void make_way(const struct fetch *f, const char *rel)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/data/%s", f->dir, rel);
	char *from = path + strlen(path) - strlen(rel);
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		fs_remove_tree(path, NULL);
	for (char *slash = strchr(from, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
			unlink(path);
		*slash = '/';
	}
}

/* The future list of files: those that are good already, and jobs for the rest. */
static struct data_job *plan_jobs(struct fetch *f, const data_files *have,
				  const data_files *listing, data_files *now, size_t *ret_nr)
{
	struct data_job *jobs = xcalloc(listing->nr + 1, sizeof(*jobs));
	size_t nr = 0;

	for (size_t i = 0; i < listing->nr; i++)
		data_files_add(now, listing->v[i].rel, NULL, listing->v[i].tag,
			       listing->v[i].bytes);
	for (size_t i = 0; i < listing->nr; i++) {
		const struct data_file *old = file_reusable(f, have, &listing->v[i]);
		struct data_file *file = &now->v[i];

		if (!old) {
			make_way(f, file->rel);
			jobs[nr++] = (struct data_job){ &listing->v[i], file, false };
			continue;
		}
		file->bytes = old->bytes;
		file->mtime_ns = old->mtime_ns;
		memcpy(file->sha256, old->sha256, sizeof(file->sha256));
		f->done += (uint64_t)file->bytes;
	}
	*ret_nr = nr;
	return jobs;
}

/* Files that were not fetched are dropped; jobs are in the order of files. */
static void leave_out(data_files *now, const struct data_job *jobs, size_t nr)
{
	size_t kept = 0, j = 0;

	for (size_t i = 0; i < now->nr; i++) {
		bool job = j < nr && jobs[j].file == &now->v[i];

		if (job && !jobs[j++].done) {
			free(now->v[i].rel);
			free(now->v[i].tag);
		} else {
			now->v[kept++] = now->v[i];
		}
	}
	now->nr = kept;
}

static int fill_part(struct fetch *f, const data_files *have, const data_files *listing,
		     data_get *get, data_files *now, struct err *err)
{
	size_t nr;
	CLEANUP(xfreep) struct data_job *jobs = plan_jobs(f, have, listing, now, &nr);
	int r = 0;

	f->ret->cached = nr == 0;
	/* Copies on this machine would only slow each other down. */
	if (get == http_fetch && nr > 1)
		r = data_slots(f, jobs, nr, get, err);
	for (size_t i = 0; r == 0 && i < nr; i++) {
		if (!jobs[i].done)
			r = data_fetch_one(f, &jobs[i], get, err);
		if (r == 0)
			f->done += (uint64_t)jobs[i].file->bytes;
	}
	leave_out(now, jobs, nr);
	return r;
}

int data_sync(struct fetch *f, const data_files *listing, data_get *get, struct err *err)
{
	CLEANUP(data_files_release) data_files have = VEC_INIT, now = VEC_INIT;
	CLEANUP(xfreep) char *part = fs_join(f->dir, "part");
	CLEANUP(xfreep) char *data = fs_join(f->dir, "data");
	int r = check_names(listing, err), w;

	entry_read(f->dir, &have);
	data_files_sort(&have);
	if (r == 0)
		r = fs_mkdirs(part, 0755, err);
	if (r == 0)
		r = fs_mkdirs(data, 0755, err);
	if (r < 0)
		return r;
	f->total = total_of(listing);
	r = fill_part(f, &have, listing, get, &now, err);
	if (r == 0)
		forget_gone(f, &have, listing);
	/* Also written when the fetch broke off: the next one keeps the files that arrived. */
	if (now.nr && !f->ret->cached) {
		w = entry_write(f->dir, f->ret->source, &now, f->ret->seconds, r == 0 ? err : NULL);
		r = r < 0 ? r : w;
	}
	if (r < 0)
		return r;
	fs_remove_tree(part, NULL);
	f->ret->files = now.nr;
	f->ret->bytes = f->done;
	entry_hash(&now, f->ret->sha256);
	return 0;
}
