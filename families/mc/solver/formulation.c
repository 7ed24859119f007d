/* Losses, slacks and coefficients of single rows. mc_loss_along has a vectorised loop, because
 * every evaluation of the bounds with kernels calls it several times for each row. */
#include "families/mc/solver/formulation.h"

#include "common/base/dispatch.h"

#include <math.h>
#include <stdint.h>

const struct mc_form mc_forms[] = {
    [MC_WW] = {.name = "ww", .relative = true, .others = true},
    [MC_CS] = {.name = "cs", .relative = true, .others = true, .simplex = true},
    [MC_LLW] = {.name = "llw", .centred = true, .others = true},
    [MC_ADM] = {.name = "adm", .centred = true, .others = true, .simplex = true},
    [MC_ATM] = {.name = "atm", .centred = true, .others = true, .own = true, .simplex = true},
    [MC_ATS] = {.name = "ats", .centred = true, .others = true, .own = true},
    [MC_MMR] = {.name = "mmr", .centred = true, .own = true},
    [MC_OVA] = {.name = "ova", .others = true, .own = true},
};

struct mc_shape mc_shape(enum mc_formulation formulation, size_t k, double margin) {
    const struct mc_form *form = &mc_forms[formulation];
    return (struct mc_shape){.form = form,
                             .k = k,
                             .margin = form->relative ? margin : 1,
                             .kappa = form->relative  ? 1
                                      : form->centred ? -1 / (double)k
                                                      : 0};
}

static double mean(const struct mc_shape *shape, const double *s) {
    double sum = 0;
    for (size_t c = 0; shape->form->centred && c < shape->k; c++) {
        sum += s[c];
    }
    return sum / (double)shape->k;
}

bool mc_is_separable(const struct mc_shape *shape) {
    return !shape->form->relative && !shape->form->simplex;
}

bool mc_is_term(const struct mc_shape *shape, size_t y, size_t c) {
    return c == y ? shape->form->own : shape->form->others;
}

/* 1 - m_c; centre: the mean of s, or 0 if the form is not centred. */
static double slack(const struct mc_shape *shape, size_t y, size_t c, const double *s,
                    double centre) {
    if (shape->form->relative) {
        return 1 - shape->margin * (s[y] - s[c]);
    }
    return c == y ? 1 - (s[c] - centre) : 1 + (s[c] - centre);
}

void mc_slacks(const struct mc_shape *shape, size_t y, const double *s, double *u) {
    double centre = mean(shape, s);
    for (size_t c = 0; c < shape->k; c++) {
        u[c] = slack(shape, y, c, s, centre);
    }
}

double mc_loss(const struct mc_shape *shape, size_t y, const double *s) {
    double centre = mean(shape, s), sum = 0, max = 0;
    for (size_t c = 0; c < shape->k; c++) {
        double u = mc_is_term(shape, y, c) ? slack(shape, y, c, s, centre) : 0;
        if (u > 0 || isnan(u)) {
            sum += u;
            max = u > max ? u : max;
        }
    }
    return shape->form->simplex && !isnan(sum) ? max : sum;
}

/* mc_loss_along for a maximum of the terms. */
static double largest_along(const struct mc_shape *shape, size_t y, const double *s, double centre,
                            double theta, double *slope) {
    double sum = 0, max = 0, steepest = 0;
    for (size_t c = 0; c < shape->k; c++) {
        if (!mc_is_term(shape, y, c)) {
            continue;
        }
        double m = 1 - slack(shape, y, c, s, centre), u = 1 - theta * m;
        if (u > 0 || isnan(u)) {
            sum += u;
            steepest = u > max ? -m : steepest;
            max = u > max ? u : max;
        }
    }
    *slope = steepest;
    return isnan(sum) ? sum : max;
}

typedef double lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef double lanes_at __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(8)));
typedef int64_t bits __attribute__((vector_size(VECTOR_BYTES)));

enum { LANES = VECTOR_BYTES / sizeof(double) };

/* Returns the sum over the other classes of max(0, 1 - theta m), m = base - margin s, and subtracts
 * from *slope the sum of m over those classes where 1 - theta m is positive or NaN. */
DISPATCH static double others_along(const struct mc_shape *shape, size_t y, const double *s,
                                    double base, double theta, double *slope) {
    double margin = shape->margin, sum = 0, slopes = 0;
    lanes sums = {0}, all = {0};
    bits number;
    size_t c = 0;
    for (int64_t l = 0; l < (int64_t)LANES; l++) {
        number[l] = l;
    }
    for (; c + LANES <= shape->k; c += LANES, number += (int64_t)LANES) {
        lanes m = base - margin * *(const lanes_at *)(s + c), u = 1 - theta * m;
        bits out = (u <= 0) | (number == (int64_t)y);
        sums += (lanes)((bits)u & ~out);
        all += (lanes)((bits)m & ~out);
    }
    for (; c < shape->k; c++) {
        double m = base - margin * s[c], u = 1 - theta * m;
        bool out = u <= 0 || c == y;
        sum += out ? 0 : u;
        slopes += out ? 0 : m;
    }
    for (size_t l = 0; l < LANES; l++) {
        sum += sums[l];
        slopes += all[l];
    }
    *slope -= slopes;
    return sum;
}

double mc_loss_along(const struct mc_shape *shape, size_t y, const double *s, double theta,
                     double *slope) {
    double centre = mean(shape, s), loss = 0;
    if (shape->form->simplex) {
        return largest_along(shape, y, s, centre, theta, slope);
    }
    *slope = 0;
    if (shape->form->others) {
        double base = shape->form->relative ? shape->margin * s[y] : centre;
        loss += others_along(shape, y, s, base, theta, slope);
    }
    double m = s[y] - centre, u = 1 - theta * m;
    if (shape->form->own && !(u <= 0)) {
        loss += u;
        *slope -= m;
    }
    return loss;
}

double mc_max_alpha_sum(const struct mc_shape *shape) {
    if (shape->form->simplex) {
        return 1;
    }
    return (double)(shape->form->others ? shape->k - 1 : 0) + (shape->form->own ? 1 : 0);
}

void mc_vertex(const struct mc_shape *shape, size_t y, double cost, const double *s,
               double *alpha) {
    double centre = mean(shape, s), max = 0;
    size_t best = shape->k;
    for (size_t c = 0; c < shape->k; c++) {
        double u = mc_is_term(shape, y, c) ? slack(shape, y, c, s, centre) : 0;
        alpha[c] = u > 0 && !shape->form->simplex ? cost : 0;
        if (u > max) {
            max = u;
            best = c;
        }
    }
    if (shape->form->simplex && best < shape->k) {
        alpha[best] = cost;
    }
}

void mc_coefficients(const struct mc_shape *shape, size_t y, const double *alpha, double *u) {
    double sum = 0;
    for (size_t c = 0; c < shape->k; c++) {
        u[c] = -shape->margin * alpha[c];
        sum += alpha[c];
    }
    u[y] = shape->form->relative ? shape->margin * sum : alpha[y];
}

void mc_centred_coefficients(const struct mc_shape *shape, size_t y, const double *alpha,
                             double *u) {
    double mean = 0;
    mc_coefficients(shape, y, alpha, u);
    for (size_t c = 0; shape->form->centred && c < shape->k; c++) {
        mean += u[c] / (double)shape->k;
    }
    for (size_t c = 0; c < shape->k; c++) {
        u[c] -= mean;
    }
}
