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

/*
 * P(|T| > |t|) for df > 0 degrees of freedom, which need not be whole: the two-sided p-value of t.
 * 2.776, 4 → 0.05. By the regularised incomplete beta function, I_x(df/2, 1/2) with
 * x = df/(df + t²) (Abramowitz and Stegun 26.5.27, 26.7.1), whose continued fraction is DLMF
 * 8.17.22. Relative error below 1e-9 up to 1e6 degrees, beyond which it is the normal
 * distribution's. NaN for a NaN and for df <= 0.
 */
double student_p(double t, double df);
/*
 * student_t for any df > 0, also INFINITY: the root of student_p, relative error below 1e-9 where t
 * is at most 1e9.
 */
double student_t_real(double confidence, double df);

#endif
