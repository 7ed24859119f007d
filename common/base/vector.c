/* The loops of vector_loops.h for each type and vector length, and their selection. */
#include "common/base/vector.h"

#include <string.h>

/* NAME(x) joins REAL, BYTES and x; STRUCT(name, real) is the struct `name` followed by the type. */
#define JOIN_NOW(real, bytes, x) real##bytes##_##x
#define JOIN(real, bytes, x) JOIN_NOW(real, bytes, x)
#define NAME(x) JOIN(REAL, BYTES, x)
#define STRUCT_NOW(name, real) struct name##real
#define STRUCT(name, real) STRUCT_NOW(name, real)

#if defined(__x86_64__)
#include <immintrin.h>

#define REAL float
#define BYTES 64
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl")))
#define MINIMUM(a, b) _mm512_min_ps(a, b)
#define MAXIMUM(a, b) _mm512_max_ps(a, b)
#define WIDEN(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#include "common/base/vector_loops.h"

#define REAL double
#define BYTES 64
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl")))
#define MINIMUM(a, b) _mm512_min_pd(a, b)
#define MAXIMUM(a, b) _mm512_max_pd(a, b)
#define WIDEN(p) _mm512_loadu_pd(p)
#include "common/base/vector_loops.h"

#define REAL float
#define BYTES 32
#define TARGET __attribute__((target("avx2,fma")))
#define MINIMUM(a, b) _mm256_min_ps(a, b)
#define MAXIMUM(a, b) _mm256_max_ps(a, b)
#define WIDEN(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#include "common/base/vector_loops.h"

#define REAL double
#define BYTES 32
#define TARGET __attribute__((target("avx2,fma")))
#define MINIMUM(a, b) _mm256_min_pd(a, b)
#define MAXIMUM(a, b) _mm256_max_pd(a, b)
#define WIDEN(p) _mm256_loadu_pd(p)
#include "common/base/vector_loops.h"

#define MINIMUM_FLOAT(a, b) _mm_min_ps(a, b)
#define MINIMUM_DOUBLE(a, b) _mm_min_pd(a, b)
#define MAXIMUM_FLOAT(a, b) _mm_max_ps(a, b)
#define MAXIMUM_DOUBLE(a, b) _mm_max_pd(a, b)
#else
/* a where the mask is all ones in a lane, b where it is all zeros */
#define SELECT(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define SELECT_FLOAT(mask, a, b) ((float16_lanes)SELECT(mask, (float16_bits)(a), (float16_bits)(b)))
#define SELECT_DOUBLE(mask, a, b)                                                                  \
    ((double16_lanes)SELECT(mask, (double16_bits)(a), (double16_bits)(b)))
#define MINIMUM_FLOAT(a, b) SELECT_FLOAT((a) < (b), a, b)
#define MINIMUM_DOUBLE(a, b) SELECT_DOUBLE((a) < (b), a, b)
#define MAXIMUM_FLOAT(a, b) SELECT_FLOAT((a) > (b), a, b)
#define MAXIMUM_DOUBLE(a, b) SELECT_DOUBLE((a) > (b), a, b)
typedef int32_t float16_bits __attribute__((vector_size(16)));
typedef int64_t double16_bits __attribute__((vector_size(16)));
#endif

#define REAL float
#define BYTES 16
#define TARGET
#define MINIMUM(a, b) MINIMUM_FLOAT(a, b)
#define MAXIMUM(a, b) MAXIMUM_FLOAT(a, b)
#define WIDEN(p) ((float16_doubles){(double)(p)[0], (double)(p)[1]})
#include "common/base/vector_loops.h"

#define REAL double
#define BYTES 16
#define TARGET
#define MINIMUM(a, b) MINIMUM_DOUBLE(a, b)
#define MAXIMUM(a, b) MAXIMUM_DOUBLE(a, b)
#define WIDEN(p) ((double16_doubles){(p)[0], (p)[1]})
#include "common/base/vector_loops.h"

size_t vector_versions(const struct vector_float **floats, const struct vector_double **doubles) {
    size_t n = 0;
    floats[n] = &float16_table;
    doubles[n++] = &double16_table;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        floats[n] = &float32_table;
        doubles[n++] = &double32_table;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl")) {
            floats[n] = &float64_table;
            doubles[n++] = &double64_table;
        }
    }
#endif
    return n;
}

const struct vector_float *vector_float(void) {
    const struct vector_float *floats[VECTOR_VERSIONS];
    const struct vector_double *doubles[VECTOR_VERSIONS];
    return floats[vector_versions(floats, doubles) - 1];
}

const struct vector_double *vector_double(void) {
    const struct vector_float *floats[VECTOR_VERSIONS];
    const struct vector_double *doubles[VECTOR_VERSIONS];
    return doubles[vector_versions(floats, doubles) - 1];
}
