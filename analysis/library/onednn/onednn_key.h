/*
 * onednn_key: the key of a call of oneDNN, from the columns kind, engine, properties, memories,
 * attributes, auxiliary, problem of its line, separated by commas.
 *
 *	convolution, deconvolution	conv_key, with=forward_inference,alg:convolution_direct,…
 *	matmul, gemm_api		gemm_key where the matrices are plain (ab, ba, abc, acb), in
 *					row-major order as the column-major product; else "matmul"
 *	inner_product			ip prop=… src=f32:ab wei=f32:ab dst=f32:ab mb=8 ic=256 oc=64
 *	all else			KIND prop=… alg=… src=f32:abcd dst=f32:aBcd16b dims=4x64
 *
 * Flops: those of convolutions and products, inner product 2·mb·ic·oc·(spatial), recurrent networks
 * 2·gates·layers·directions·steps·batch·channels·(channels of layer + of iteration), twice that
 * backwards; 0 for what moves data. Unknown for a kind or extents that the log leaves open.
 */
#ifndef ANALYSIS_ONEDNN_KEY_H
#define ANALYSIS_ONEDNN_KEY_H

#include "library_parser.h"

enum record_is onednn_key(struct text_slice text, struct library_key *k);

#endif
