#include "collective_energy.h"

void part_joules_add(const struct collective_match *cm, const struct work_energy *we, size_t part,
		     struct part_joules *j)
{
	const struct collective_part *p = &cm->parts.v[part];
	size_t row = works_find(we->w, p->span);
	int64_t start_ns = we->w->m->spans.start_ns[p->span];
	int64_t come_ns = start_ns + cm->wait_ns.v[part];
	uint32_t device;

	if (row == SIZE_MAX || !we->meters.nr)
		return;
	device = we->w->v.v[row].device;
	joules_add_part(&j->wait, we, device, start_ns, come_ns);
	joules_add_part(&j->transfer, we, device, come_ns, start_ns + (p->end_ns - p->start_ns));
}

/* A part without time has nothing, where the other one is known. */
static double beside(const struct joules *s, const struct joules *other,
		     double (*of)(const struct joules *s))
{
	return s->pieces ? of(s) : 0 * joules_value(other);
}

double part_wait_j(const struct part_joules *j)
{
	return beside(&j->wait, &j->transfer, joules_value);
}

double part_transfer_j(const struct part_joules *j)
{
	return beside(&j->transfer, &j->wait, joules_value);
}

double part_wait_width(const struct part_joules *j)
{
	return beside(&j->wait, &j->transfer, joules_width);
}

double part_transfer_width(const struct part_joules *j)
{
	return beside(&j->transfer, &j->wait, joules_width);
}

const char *part_joules_flags(const struct part_joules *j, char buf[ENERGY_FLAGS_MAX])
{
	struct joules all = j->transfer;

	all.meter = all.meter ? all.meter : j->wait.meter;
	all.marks |= j->wait.marks;
	all.ns += j->wait.ns;
	all.lengths += j->wait.lengths;
	if (j->wait.most_period_ns > all.most_period_ns)
		all.most_period_ns = j->wait.most_period_ns;
	return joules_flags(&all, buf);
}
