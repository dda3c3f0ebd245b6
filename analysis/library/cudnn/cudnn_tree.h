/*
 * cudnn_tree: the arguments of a block of cuDNN as a tree, and its tensors (parse_cudnn.c describes
 * the format). Slices of the block's text; nothing is copied.
 */
#ifndef ANALYSIS_CUDNN_TREE_H
#define ANALYSIS_CUDNN_TREE_H

#include "library_block.h"
#include "library_conv.h"

#define NODES_MAX 256
#define TENSOR_DIMS 8

struct cudnn_node {
	struct block_argument a;
	size_t parent; /* NODES_MAX: none */
};

struct cudnn_tree {
	struct cudnn_node v[NODES_MAX];
	size_t nr;
	bool too_many;
};

struct cudnn_tensor {
	const struct element_type *type;
	int dims, strides; /* how many; 0 unknown */
	int64_t dim[TENSOR_DIMS], stride[TENSOR_DIMS];
	struct text_slice format; /* of a filter */
};

void cudnn_tree_read(struct cudnn_tree *t, struct text_slice rest);
/* The member of a node; NULL: it has none. *twice is set where it has two. */
const struct block_argument *cudnn_member(const struct cudnn_tree *t, size_t node, const char *name,
					  bool *twice);
/* "[1,64,24,24]" → how many; 0: it is no list of at most max numbers. */
int cudnn_list(struct text_slice v, int64_t *to, int max);
/* "CUDNN_DATA_INT8x4 (3)"; NULL: not known. */
const struct element_type *cudnn_type(struct text_slice v);
/* false: a part is missing, or twice there. */
bool cudnn_tensor_read(const struct cudnn_tree *t, size_t node, struct cudnn_tensor *x);
/* NCHW, NHWC, the strides, or a filter's format; "" unknown. */
void cudnn_layout(const struct cudnn_tensor *x, char *buf, size_t size);

/* As `parse` of a parser, for the functions that are convolutions. */
enum record_is cudnn_conv_key(const struct cudnn_tree *t, enum conv_direction direction,
			      const char *operation, struct library_key *k);

#endif
