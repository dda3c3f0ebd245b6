/*
 * student: Student's t distribution, for confidence intervals of means.
 */
#ifndef PROFRIG_STUDENT_H
#define PROFRIG_STUDENT_H

#include <stdint.h>

/*
 * The t with P(|T| <= t) = confidence for df degrees of freedom: 0.95, 4 → 2.776. NaN for df 0 or a
 * confidence outside (0, 1). Source: Abramowitz and Stegun. Up to 30 degrees by the closed form of
 * the probability (26.7.3, 26.7.4), solved by bisection, relative error below 1e-9 for confidence
 * up to 0.9999; beyond by the expansion around the normal distribution (26.7.5), below 1e-6 for
 * confidence up to 0.99.
 */
double student_t(double confidence, uint64_t df);

#endif
