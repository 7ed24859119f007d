/* Products with P^-1 and the features that represent it (spectral.h). */
#include "families/smm/solver/spectral.h"

#include "common/base/arrays.h"
#include "common/base/sizes.h"
#include "common/linear_algebra/svd.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int smm_spectral_create(struct smm_spectral *spectral, size_t height, size_t width,
                        struct error *err) {
    size_t k = smaller(height, width), l = larger(height, width);
    *spectral = (struct smm_spectral){.height = height, .width = width, .k = k};
    spectral->block = ARRAYS_CREATE(
        "singular values", err,
        ARRAYS(k * l, double, &spectral->U, &spectral->Vt, &spectral->left, &spectral->right),
        ARRAYS(k, double, &spectral->t), ARRAYS(k * k, double, &spectral->G));
    return spectral->block ? 0 : -1;
}

void smm_spectral_free(struct smm_spectral *spectral) {
    free(spectral->block);
    *spectral = (struct smm_spectral){0};
}

int smm_spectral_find(struct smm_spectral *spectral, const double *B, double rho, double threshold,
                      struct error *err) {
    spectral->rho = rho;
    spectral->threshold = threshold;
    if (svd_thin(B, spectral->height, spectral->width, spectral->U, spectral->t, spectral->Vt,
                 err) < 0) {
        return -1;
    }
    spectral->r = 0;
    while (spectral->r < spectral->k && spectral->t[spectral->r] > threshold) {
        spectral->r++;
    }
    return 0;
}

void smm_spectral_threshold(const struct smm_spectral *spectral, double *S, double *nuclear_norm,
                            double *squared_norm) {
    size_t height = spectral->height, width = spectral->width, r = spectral->r;
    *nuclear_norm = *squared_norm = 0;
    for (size_t a = 0; a < r; a++) {
        double left = spectral->t[a] - spectral->threshold;
        *nuclear_norm += left;
        *squared_norm += left * left;
        for (size_t i = 0; i < height; i++) {
            spectral->left[i * r + a] = left * spectral->U[i * spectral->k + a];
        }
    }
    memset(S, 0, height * width * sizeof *S);
    if (r > 0) {
        matrix_product(spectral->left, spectral->Vt, height, r, width, S);
    }
}

/* Entries of P^-1 minus 1/(1 + rho) for a pair whose a is above the threshold. */
struct pair {
    double even, odd; /* symmetric and antisymmetric part */
};

static double excess(const struct smm_spectral *spectral, double derivative) {
    return 1 / (1 + spectral->rho * (1 - derivative)) - 1 / (1 + spectral->rho);
}

static struct pair pair_of(const struct smm_spectral *spectral, size_t a, size_t c) {
    double high = spectral->t[a], other = spectral->t[c], cut = spectral->threshold;
    double value = high - cut, second = c < spectral->r ? other - cut : 0;
    double even = c < spectral->r ? 1 : value / (high - other);
    return (struct pair){excess(spectral, even),
                         excess(spectral, (value + second) / (high + other))};
}

/* The entry of an a above the threshold beyond the shorter side. */
static double single_of(const struct smm_spectral *spectral, size_t a) {
    return excess(spectral, (spectral->t[a] - spectral->threshold) / spectral->t[a]);
}

/* C (m, n) = alpha A B + beta C; A (m, k) and B (k, n) may be given transposed. */
static void multiply(CBLAS_TRANSPOSE a, CBLAS_TRANSPOSE b, size_t m, size_t n, size_t k,
                     double alpha, const double *A, size_t lda, const double *B, size_t ldb,
                     double beta, double *C, size_t ldc) {
    if (m > 0 && n > 0 && k > 0) {
        cblas_dgemm(CblasRowMajor, a, b, (int)m, (int)n, (int)k, alpha, A, (int)lda, B, (int)ldb,
                    beta, C, (int)ldc);
    }
}

/* Maps the coordinates G of H to those of (P^-1 - I/(1 + rho)) H. */
static void scale_pairs(struct smm_spectral *spectral) {
    size_t k = spectral->k, r = spectral->r;
    double *G = spectral->G;
    for (size_t a = 0; a < r; a++) {
        for (size_t c = a; c < k; c++) {
            struct pair pair = pair_of(spectral, a, c);
            double x = G[a * k + c], y = G[c * k + a];
            double even = 0.5 * pair.even * (x + y), odd = 0.5 * pair.odd * (x - y);
            G[a * k + c] = even + odd;
            G[c * k + a] = even - odd;
        }
    }
    for (size_t a = r; a < k; a++) {
        memset(G + a * k + r, 0, (k - r) * sizeof *G);
    }
}

void smm_spectral_inverse(struct smm_spectral *spectral, const double *H, double *out) {
    size_t height = spectral->height, width = spectral->width, k = spectral->k, r = spectral->r;
    const double *U = spectral->U, *Vt = spectral->Vt;
    double *G = spectral->G, *left = spectral->left, *right = spectral->right;
    for (size_t j = 0; j < height * width; j++) {
        out[j] = H[j] / (1 + spectral->rho);
    }
    if (r == 0) {
        return;
    }
    multiply(CblasTrans, CblasNoTrans, k, width, height, 1, U, k, H, width, 0, left, width);
    multiply(CblasNoTrans, CblasTrans, k, k, width, 1, left, width, Vt, width, 0, G, k);
    if (width > k) { /* U_r'H (I - VV') */
        multiply(CblasNoTrans, CblasNoTrans, r, width, k, -1, G, k, Vt, width, 1, left, width);
        for (size_t a = 0; a < r; a++) {
            cblas_dscal((int)width, single_of(spectral, a), left + a * width, 1);
        }
        multiply(CblasNoTrans, CblasNoTrans, height, width, r, 1, U, k, left, width, 1, out, width);
    }
    if (height > k) { /* (I - UU') H V_r */
        multiply(CblasNoTrans, CblasTrans, height, r, width, 1, H, width, Vt, width, 0, right, r);
        multiply(CblasNoTrans, CblasNoTrans, height, r, k, -1, U, k, G, k, 1, right, r);
        for (size_t a = 0; a < r; a++) {
            cblas_dscal((int)height, single_of(spectral, a), right + a, (int)r);
        }
        multiply(CblasNoTrans, CblasNoTrans, height, width, r, 1, right, r, Vt, width, 1, out,
                 width);
    }
    scale_pairs(spectral);
    multiply(CblasNoTrans, CblasNoTrans, k, width, k, 1, G, k, Vt, width, 0, left, width);
    multiply(CblasNoTrans, CblasNoTrans, height, width, k, 1, U, k, left, width, 1, out, width);
}

/* ---- features ---- */

size_t smm_spectral_features(const struct smm_spectral *spectral) {
    size_t k = spectral->k, r = spectral->r;
    return r * (2 * k - r) + (spectral->width > k ? r * spectral->width : 0) +
           (spectral->height > k ? r * spectral->height : 0);
}

size_t smm_spectral_feature_work(const struct smm_spectral *spectral) {
    size_t r = spectral->r, k = spectral->k;
    return r * (spectral->width + spectral->height + 2 * k);
}

void smm_spectral_describe(const struct smm_spectral *spectral, const double *X, double *z,
                           double *work) {
    size_t height = spectral->height, width = spectral->width, k = spectral->k, r = spectral->r;
    const double *U = spectral->U, *Vt = spectral->Vt;
    double *UX = work, *XV = UX + r * width, *L = XV + height * r, *R = L + r * k;
    multiply(CblasTrans, CblasNoTrans, r, width, height, 1, U, k, X, width, 0, UX, width);
    multiply(CblasNoTrans, CblasTrans, r, k, width, 1, UX, width, Vt, width, 0, L, k);
    multiply(CblasNoTrans, CblasTrans, height, r, width, 1, X, width, Vt, width, 0, XV, r);
    multiply(CblasTrans, CblasNoTrans, k, r, height, 1, U, k, XV, r, 0, R, r);
    for (size_t a = 0; a < r; a++) {
        *z++ = sqrt(pair_of(spectral, a, a).even) * L[a * k + a];
        for (size_t c = a + 1; c < k; c++) {
            struct pair pair = pair_of(spectral, a, c);
            double x = L[a * k + c], y = R[c * r + a];
            *z++ = sqrt(0.5 * pair.even) * (x + y);
            *z++ = sqrt(0.5 * pair.odd) * (x - y);
        }
    }
    if (width > k) {
        multiply(CblasNoTrans, CblasNoTrans, r, width, k, -1, L, k, Vt, width, 1, UX, width);
        for (size_t a = 0; a < r; a++) {
            double scale = sqrt(single_of(spectral, a));
            for (size_t c = 0; c < width; c++) {
                *z++ = scale * UX[a * width + c];
            }
        }
    }
    if (height > k) {
        multiply(CblasNoTrans, CblasNoTrans, height, r, k, -1, U, k, R, r, 1, XV, r);
        for (size_t a = 0; a < r; a++) {
            double scale = sqrt(single_of(spectral, a));
            for (size_t i = 0; i < height; i++) {
                *z++ = scale * XV[i * r + a];
            }
        }
    }
}
