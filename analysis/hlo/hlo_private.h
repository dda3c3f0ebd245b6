#ifndef HLO_PRIVATE_H
#define HLO_PRIVATE_H

#include "profrig/hlo/hlo.h"

struct hlo_text {
	const char *p;
	size_t n;
};

/* Parse into a new module. */
int hlo_parse_text(struct hlo_programs *p, const char *data, size_t n, struct hlo_module *m,
		   const char *path, struct err *err);
int hlo_parse_proto(struct hlo_programs *p, const char *data, size_t n, struct hlo_module *m,
		    const char *path, struct err *err);

#define HLO_MODULE_NONE \
	((struct hlo_module){ .id = HLO_ABSENT, .replicas = HLO_ABSENT, .partitions = HLO_ABSENT })
void hlo_module_release(struct hlo_module *m);
/* Takes a module, or releases it: it is damaged, or there already. */
void hlo_module_add(struct hlo_programs *p, struct hlo_module *m, bool sound);
/* Bits of an element: "bf16", "pred", "f8e4m3fn"; 0 for what has none, as tokens. */
unsigned hlo_type_bits(const char *type, size_t n);
/* Adds an array's bytes to a size, which may be absent. */
void hlo_bytes_add(int64_t *bytes, int64_t elements, unsigned bits);
void hlo_size_add(int64_t *bytes, int64_t more);
#define HLO_INSTRUCTION_NONE \
	((struct hlo_instruction){ \
		.operand_bytes = 0, .group_size = HLO_ABSENT, .line = HLO_ABSENT })
/* One more group of n members. */
void hlo_group_add(struct hlo_instruction *i, int64_t n);
/* Groups that are not listed: all replicas, else all partitions. */
void hlo_groups_all(const struct hlo_module *m, struct hlo_instruction *i);
bool hlo_is_collective(const struct hlo_programs *p, const struct hlo_instruction *i);
/* false: too many. */
bool hlo_push(struct hlo_module *m, const struct hlo_instruction *i);

#endif
