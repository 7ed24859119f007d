#include "tests/optima/number.h"

#include <string.h>

/* A read-only MPFR view of a number. */
static mpfr_ptr view(mpfr_ptr x, const num *a) {
    mp_limb_t *limb;
    memcpy(&limb, &(const mp_limb_t *){a->limb}, sizeof limb);
    mpfr_custom_init_set(x, a->kind, a->exponent, NUMBER_BITS, limb);
    return x;
}

/* An MPFR view of a result, and its completion. */
static mpfr_ptr open_result(mpfr_ptr x, num *result) {
    mpfr_custom_init(result->limb, NUMBER_BITS);
    mpfr_custom_init_set(x, MPFR_ZERO_KIND, 0, NUMBER_BITS, result->limb);
    return x;
}

static void close_result(mpfr_srcptr x, num *result) {
    result->kind = mpfr_custom_get_kind(x);
    result->exponent = mpfr_custom_get_exp(x);
}

typedef int unary(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int binary(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static inline num apply(unary *f, num a) {
    mpfr_t x, y;
    num result;
    f(open_result(y, &result), view(x, &a), MPFR_RNDN);
    close_result(y, &result);
    return result;
}

static inline num apply_two(binary *f, num a, num b) {
    mpfr_t x, y, z;
    num result;
    f(open_result(z, &result), view(x, &a), view(y, &b), MPFR_RNDN);
    close_result(z, &result);
    return result;
}

num n_of(long double value) {
    mpfr_t x;
    num result;
    mpfr_set_ld(open_result(x, &result), value, MPFR_RNDN);
    close_result(x, &result);
    return result;
}

num n_add(num a, num b) {
    return apply_two(mpfr_add, a, b);
}

num n_subtract(num a, num b) {
    return apply_two(mpfr_sub, a, b);
}

num n_multiply(num a, num b) {
    return apply_two(mpfr_mul, a, b);
}

num n_divide(num a, num b) {
    return apply_two(mpfr_div, a, b);
}

num n_negative(num a) {
    a.kind = -a.kind;
    return a;
}

num n_absolute(num a) {
    a.kind = a.kind < 0 ? -a.kind : a.kind;
    return a;
}

num n_root(num a) {
    return apply(mpfr_sqrt, a);
}

num n_exponential(num a) {
    return apply(mpfr_exp, a);
}

num n_tangent(num a) {
    return apply(mpfr_tanh, a);
}

int n_compare(num a, num b) {
    mpfr_t x, y;
    int order = mpfr_cmp(view(x, &a), view(y, &b));
    return (order > 0) - (order < 0);
}

bool n_finite(num a) {
    mpfr_t x;
    return mpfr_number_p(view(x, &a));
}

num n_maximum(num a, num b) {
    return n_compare(a, b) < 0 ? b : a;
}

num n_minimum(num a, num b) {
    return n_compare(a, b) > 0 ? b : a;
}

num n_plus(num a, num b, num c) {
    return n_add(a, n_multiply(b, c));
}

num n_minus(num a, num b, num c) {
    return n_subtract(a, n_multiply(b, c));
}

double n_double(num a) {
    mpfr_t x;
    return mpfr_get_d(view(x, &a), MPFR_RNDN);
}

num *n_zeros(size_t n) {
    num *made = zeros(n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        made[i] = n_of(0);
    }
    return made;
}
