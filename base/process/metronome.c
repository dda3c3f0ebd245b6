#include "profrig/base/metronome.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "profrig/base/clock.h"

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

void metronome_start(struct metronome *m, int64_t start_ns, int64_t period_ns)
{
	assert(start_ns >= 0 && period_ns > 0);
	*m = (struct metronome){ start_ns, period_ns, { -1, -1 } };
	for (int i = 0; i < 2; i++) {
		/* a first time of 0 would disarm */
		int64_t first = start_ns + i * period_ns;
		struct itimerspec when = { .it_value = to_timespec(first > 0 ? first : 1),
					   .it_interval = to_timespec(2 * period_ns) };

		m->fd[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (m->fd[i] < 0 || timerfd_settime(m->fd[i], TFD_TIMER_ABSTIME, &when, NULL) < 0) {
			metronome_release(m);
			return;
		}
	}
}

void metronome_wait(struct metronome *m, int64_t t_ns)
{
	uint64_t beats = (uint64_t)(t_ns - m->start_ns) / (uint64_t)m->period_ns;
	int fd = m->fd[beats % 2];
	uint64_t expired;

	/* the first read may only report beats that passed before the wait */
	while (clock_monotonic_ns() < t_ns)
		if (fd < 0 || (read(fd, &expired, sizeof(expired)) < 0 && errno != EINTR)) {
			clock_sleep_until_ns(t_ns);
			return;
		}
}

void metronome_release(struct metronome *m)
{
	for (int i = 0; i < 2; i++) {
		if (m->fd[i] >= 0)
			close(m->fd[i]);
		m->fd[i] = -1;
	}
}
