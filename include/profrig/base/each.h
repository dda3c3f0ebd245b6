/*
 * each: EACH(row, what, type, a, b, …) is "row(what, type, a), row(what, type, b), …", for tables
 * of a struct's members. Up to 8 members.
 */
#ifndef PROFRIG_EACH_H
#define PROFRIG_EACH_H

/* clang-format off */
#define EACH_1(row, what, type, a) row(what, type, a)
#define EACH_2(row, what, type, a, ...) row(what, type, a), EACH_1(row, what, type, __VA_ARGS__)
#define EACH_3(row, what, type, a, ...) row(what, type, a), EACH_2(row, what, type, __VA_ARGS__)
#define EACH_4(row, what, type, a, ...) row(what, type, a), EACH_3(row, what, type, __VA_ARGS__)
#define EACH_5(row, what, type, a, ...) row(what, type, a), EACH_4(row, what, type, __VA_ARGS__)
#define EACH_6(row, what, type, a, ...) row(what, type, a), EACH_5(row, what, type, __VA_ARGS__)
#define EACH_7(row, what, type, a, ...) row(what, type, a), EACH_6(row, what, type, __VA_ARGS__)
#define EACH_8(row, what, type, a, ...) row(what, type, a), EACH_7(row, what, type, __VA_ARGS__)
#define EACH_NTH(a, b, c, d, e, f, g, h, nth, ...) nth
#define EACH(row, what, type, ...) \
	EACH_NTH(__VA_ARGS__, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, ) \
	(row, what, type, __VA_ARGS__)
/* clang-format on */

#endif
