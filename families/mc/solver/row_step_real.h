/* The exact step of dual block coordinate descent: maximises the dual over the alpha of one row.
 * Included once for each type, with REAL, SIGNED (the integer type of its size) and NAME(x)
 * defined.
 *
 * With q = M^2 |x|^2, s the row's scores and sigma as in formulation.h, the maximiser is
 * alpha_c = clip(v_c - theta) for the classes other than the row's, where
 * theta = kappa (sum of the others - own) + lambda, lambda the multiplier of sum alpha <= C. theta
 * is found by Newton's method on a piecewise linear function. A step costs a few passes over the
 * classes.
 *
 * Arrays over classes have `width` entries, a whole number of vectors, and are aligned to them;
 * entries at and beyond k are padding: scores 0 and alpha 0. */
#include "common/base/dispatch.h"

/* The value for float, or for double. */
#define OF(single, wide) (sizeof(REAL) == sizeof(float) ? (REAL)(single) : (REAL)(wide))
static const REAL NAME(TINY) = OF(2e-7, 4e-16), NAME(HUGE) = OF(1e30, 1e300);
static const REAL NAME(MIN_LENGTH) = OF(1e-6, 1e-8), NAME(MIN_SQUARE) = OF(1e-25, 1e-250);
static const REAL NAME(MIN_CHANGE) = OF(4e-14, 1.6e-31);
#undef OF

/* LANES numbers, and as many integers, which also are truth values: all bits or none. */
typedef REAL NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef SIGNED NAME(lanes) __attribute__((vector_size(VECTOR_BYTES), may_alias));

enum { NAME(LANES) = VECTOR_BYTES / sizeof(REAL) };

/* number = first, first + 1 .. */
static inline __attribute__((always_inline)) void NAME(count)(NAME(lanes) * number, SIGNED first) {
    for (SIGNED l = 0; l < (SIGNED)NAME(LANES); l++) {
        (*number)[l] = first + l;
    }
}

/* The sum of all lanes, by halves, which shortens the chain of dependent additions. */
static inline __attribute__((always_inline)) REAL NAME(total)(const NAME(vector) * x) {
    REAL part[NAME(LANES)];
    memcpy(part, x, sizeof part);
    for (size_t n = NAME(LANES) / 2; n > 0; n /= 2) {
        for (size_t l = 0; l < n; l++) {
            part[l] += part[l + n];
        }
    }
    return part[0];
}

/* x = min(max(x, 0), cap) */
static inline __attribute__((always_inline)) void NAME(clip)(NAME(vector) * x,
                                                             const NAME(vector) * cap) {
    NAME(lanes) below = *x < *cap;
    NAME(lanes) bits = (below & (NAME(lanes)) * x) | (~below & (NAME(lanes)) * cap);
    *x = (NAME(vector))(bits & (*x > (NAME(vector)){0}));
}

/* Returns min(max(x, 0), cap). */
static inline REAL NAME(clip_one)(REAL x, REAL cap) {
    return x < 0 ? 0 : x > cap ? cap : x;
}

/* Returns the sum over v (width) of min(max(v - theta, 0), cap). *middle: how many of these are
 * strictly between 0 and cap. Entries that are no other class, and padding, have v = -infinity. */
static inline __attribute__((always_inline)) REAL
NAME(clipped)(const REAL *v, size_t width, REAL theta, REAL cap, REAL *middle) {
    NAME(vector) sum = {0}, caps = cap - (NAME(vector)){0}, zero = {0}, one = 1 + zero, count = {0};
    for (size_t c = 0; c < width; c += NAME(LANES)) {
        NAME(vector) x = *(const NAME(vector) *)(v + c) - theta;
        count += (NAME(vector))((NAME(lanes))one & (x > zero) & (x < caps));
        NAME(clip)(&x, &caps);
        sum += x;
    }
    *middle = NAME(total)(&count);
    return NAME(total)(&sum);
}

/* The formulation, and work for a step. */
struct NAME(blocks) {
    bool relative, centred, others, own, simplex;
    size_t k, width;
    REAL margin, kappa;
    REAL *v; /* (width) work: unclipped alpha of the others at theta = 0 */
};

/* Length of an array over k classes: whole vectors. */
static inline size_t NAME(width_of)(size_t k) {
    return (k + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES);
}

/* The blocks of a formulation, with v NULL. */
static inline struct NAME(blocks) NAME(blocks_of)(const struct mc_shape *shape) {
    const struct mc_form *form = shape->form;
    return (struct NAME(blocks)){.relative = form->relative,
                                 .centred = form->centred,
                                 .others = form->others,
                                 .own = form->own,
                                 .simplex = form->simplex,
                                 .k = shape->k,
                                 .width = NAME(width_of)(shape->k),
                                 .margin = (REAL)shape->margin,
                                 .kappa = (REAL)shape->kappa};
}

/* Returns the root theta = kappa (sum of the others - own), where the others are v - theta and own
 * is v_own + theta, each clipped to [0, cap]. Bracketed Newton iteration on an increasing piecewise
 * linear function, from `theta`. */
static inline __attribute__((always_inline)) REAL NAME(box_root)(const struct NAME(blocks) * blocks,
                                                                 REAL v_own, REAL cap, REAL theta) {
    REAL kappa = blocks->kappa, max = (REAL)blocks->k * cap;
    REAL low = kappa > 0 ? -cap : 2 * kappa * max, high = kappa > 0 ? 2 * max : -2 * kappa * cap;
    for (int pass = 0; pass < MC_MAX_ROOT_STEPS; pass++) {
        REAL middle = 0;
        REAL sum =
            blocks->others ? NAME(clipped)(blocks->v, blocks->width, theta, cap, &middle) : 0;
        if (blocks->own) {
            REAL own = v_own + theta;
            sum -= NAME(clip_one)(own, cap);
            middle += own > 0 && own < cap ? 1 : 0;
        }
        REAL value = theta - kappa * sum, slope = 1 + kappa * middle;
        REAL size = theta < 0 ? -theta : theta;
        if ((value < 0 ? -value : value) <= NAME(TINY) * size) {
            break;
        }
        if (value > 0) {
            high = theta;
        } else {
            low = theta;
        }
        REAL next = slope > NAME(TINY) ? theta - value / slope : low;
        next = next > low && next < high ? next : (low + high) / 2;
        if (next == theta) {
            break;
        }
        theta = next;
    }
    return theta;
}

/* The largest of v (width). */
static inline __attribute__((always_inline)) REAL NAME(largest)(const REAL *v, size_t width) {
    NAME(vector) max = *(const NAME(vector) *)v;
    for (size_t c = NAME(LANES); c < width; c += NAME(LANES)) {
        NAME(vector) x = *(const NAME(vector) *)(v + c);
        NAME(lanes) above = x > max;
        max = (NAME(vector))((above & (NAME(lanes))x) | (~above & (NAME(lanes))max));
    }
    REAL largest = max[0];
    for (size_t l = 1; l < NAME(LANES); l++) {
        largest = max[l] > largest ? max[l] : largest;
    }
    return largest;
}

/* Returns theta where the sum of max(v - theta, 0) over the others is cap; at the argument `theta`
 * it is more. */
static inline __attribute__((always_inline)) REAL
NAME(simplex_root)(const struct NAME(blocks) * blocks, REAL cap, REAL theta) {
    const REAL none = NAME(HUGE);
    /* the root if the largest entry alone were positive */
    REAL alone = NAME(largest)(blocks->v, blocks->width) - cap;
    theta = alone > theta ? alone : theta;
    for (int pass = 0; pass < MC_MAX_ROOT_STEPS; pass++) {
        REAL middle;
        REAL over = NAME(clipped)(blocks->v, blocks->width, theta, none, &middle) - cap;
        if (over <= NAME(TINY) * cap || middle == 0) {
            break; /* Newton's method on a convex function does not overshoot from the left */
        }
        theta += over / middle;
    }
    return theta;
}

/* simplex_root with an own term max(v_own - *eta, 0) in the sum. *theta: of the others, in and out.
 */
static inline void NAME(total_root)(const struct NAME(blocks) * blocks, REAL v_own, REAL cap,
                                    REAL *theta, REAL *eta) {
    const REAL none = NAME(HUGE);
    REAL kappa = blocks->kappa, low = 0, high = cap, a = 0;
    for (int pass = 0; pass < MC_MAX_ROOT_STEPS; pass++) {
        REAL middle;
        *theta = v_own - a + 2 * kappa * (cap - 2 * a);
        *eta = v_own - a;
        REAL value = NAME(clipped)(blocks->v, blocks->width, *theta, none, &middle) - (cap - a);
        REAL slope = 1 + middle * (1 + 4 * kappa);
        if ((value < 0 ? -value : value) <= NAME(TINY) * cap || (a == cap && value <= 0)) {
            return;
        }
        if (value > 0 && a == 0) {
            break; /* the own term is 0: the others sum to cap */
        }
        if (value > 0) {
            high = a;
        } else {
            low = a;
        }
        REAL next = slope > NAME(TINY) ? a - value / slope : cap;
        if (pass == 0 && next >= cap) {
            next = cap;
        } else if (!(next > low && next < high)) {
            next = (low + high) / 2;
        }
        if (next == a) {
            return;
        }
        a = next;
    }
    *theta = NAME(simplex_root)(blocks, cap, *theta);
    *eta = *theta - 2 * kappa * cap;
}

/* Returns theta, and sets *eta, of the new alpha: the others v - theta and own v_own - *eta,
 * clipped to [0, cap]; for a maximum their sum is at most cap. shift: kappa (others - own) of the
 * alpha before the step, which v and v_own include. */
static inline __attribute__((always_inline)) REAL
NAME(find_theta)(const struct NAME(blocks) * blocks, REAL v_own, REAL cap, REAL shift, REAL *eta) {
    const REAL *v = blocks->v;
    size_t width = blocks->width;
    REAL kappa = blocks->kappa, middle, theta = 0;
    REAL full = kappa * cap; /* theta at which the sum is cap: above it the constraint binds */
    *eta = 0;
    if (blocks->simplex && !blocks->own &&
        NAME(clipped)(v, width, full, NAME(HUGE), &middle) > cap) {
        return NAME(simplex_root)(blocks, cap, full);
    }
    theta = kappa != 0 ? NAME(box_root)(blocks, v_own, cap, shift) : 0;
    *eta = -theta;
    if (blocks->simplex && blocks->own &&
        NAME(clipped)(v, width, theta, cap, &middle) + NAME(clip_one)(v_own - *eta, cap) > cap) {
        NAME(total_root)(blocks, v_own, cap, &theta, eta);
    }
    return theta;
}

/* 1 / q for a step, with q bounded below. If |x| is tiny compared to the cost, v = alpha + slack /
 * q would lose alpha to rounding, or 1 / q overflow. A larger q gives a shorter step, which also
 * increases the dual and has the same fixed points. For a sum of terms alpha is at its bounds then,
 * so the shorter step only matters for slacks that are 0 to rounding. */
static inline REAL NAME(reciprocal)(REAL q, REAL cap, bool simplex) {
    REAL min = (simplex ? NAME(MIN_LENGTH) : NAME(MIN_LENGTH) * NAME(MIN_LENGTH)) / cap;
    min = min < NAME(HUGE) ? min : NAME(HUGE);
    min = min > NAME(MIN_SQUARE) ? min : NAME(MIN_SQUARE);
    return 1 / (q > min ? q : min);
}

/* Quantities of the row before the step. */
struct NAME(row) {
    REAL scale;  /* 1 / q */
    REAL others; /* sum of alpha over the others */
    REAL own;    /* alpha of the row's class */
    REAL centre; /* mean of the scores; 0 if not centred */
    REAL v_own;  /* v of the row's class */
};

/* Fills v, shifted by kappa (others - own), and the row's quantities. */
static inline __attribute__((always_inline)) void NAME(prepare)(const struct NAME(blocks) * blocks,
                                                                size_t y, const REAL *s,
                                                                const REAL *alpha,
                                                                struct NAME(row) * row) {
    REAL margin = blocks->margin, scale = row->scale;
    const NAME(vector) zero = {0}, none = zero - (REAL)INFINITY;
    REAL base = (blocks->relative ? 1 - margin * s[y] : 1) * scale;
    NAME(vector) sums = zero, score_sums = zero;
    NAME(lanes) own, number;
    NAME(count)(&own, -(SIGNED)y);
    NAME(count)(&number, 0);
    for (size_t c = 0; c < blocks->width;
         c += NAME(LANES), own += NAME(LANES), number += NAME(LANES)) {
        NAME(vector) at = *(const NAME(vector) *)(alpha + c);
        NAME(vector) score = *(const NAME(vector) *)(s + c);
        NAME(vector) v = at + score * (margin * scale) + base;
        NAME(lanes) in = (own != 0) & (number < (SIGNED)blocks->k);
        in = blocks->others ? in : (NAME(lanes))zero;
        *(NAME(vector) *)(blocks->v + c) =
            (NAME(vector))((in & (NAME(lanes))v) | (~in & (NAME(lanes))none));
        sums += (NAME(vector))(in & (NAME(lanes))at);
        if (blocks->centred) {
            score_sums += score;
        }
    }
    row->others = NAME(total)(&sums);
    row->own = blocks->own ? alpha[y] : 0;
    row->centre = blocks->centred ? NAME(total)(&score_sums) / (REAL)blocks->k : 0;
    REAL shift = blocks->kappa * (row->others - row->own);
    row->v_own = row->own + (1 - s[y] + row->centre) * scale - shift;
    for (size_t c = 0; c < blocks->width; c += NAME(LANES)) {
        *(NAME(vector) *)(blocks->v + c) += shift - row->centre * scale;
    }
}

/* alpha = v, and `own` for the row's class; u = the change of the coefficients, own_u for the row's
 * class. */
static inline __attribute__((always_inline)) void
NAME(store_step)(const struct NAME(blocks) * blocks, size_t y, REAL own, REAL own_u, REAL *alpha,
                 REAL *u) {
    NAME(lanes) number;
    NAME(count)(&number, -(SIGNED)y);
    for (size_t c = 0; c < blocks->width; c += NAME(LANES), number += NAME(LANES)) {
        NAME(vector) *at = (NAME(vector) *)(alpha + c);
        NAME(vector) now = *(const NAME(vector) *)(blocks->v + c);
        NAME(vector) change = blocks->margin * (*at - now);
        NAME(lanes) is_own = number == 0;
        *(NAME(vector) *)(u + c) = (NAME(vector))(
            (is_own & (NAME(lanes))(own_u + (NAME(vector)){0})) | (~is_own & (NAME(lanes))change));
        *at = (NAME(vector))((is_own & (NAME(lanes))(own + (NAME(vector)){0})) |
                             (~is_own & (NAME(lanes))now));
    }
}

/* The exact step of a row of class y: q = M^2 |x|^2 > 0, s (width) its scores, to which a constant
 * may be added if margins are relative or centred. alpha (width) is updated; u (width) = the change
 * of the row's coefficients, before centring. Returns the gain of the dual, nonzero but by rounding
 * possibly negative; or 0, with alpha and u unchanged, if alpha does not change. */
static inline __attribute__((always_inline)) REAL NAME(step)(const struct NAME(blocks) * blocks,
                                                             size_t y, REAL cap, REAL q,
                                                             const REAL *s, REAL *alpha, REAL *u) {
    struct NAME(row) row = {.scale = NAME(reciprocal)(q, cap, blocks->simplex)};
    REAL kappa = blocks->kappa, margin = blocks->margin, eta, s_own = s[y];
    NAME(prepare)(blocks, y, s, alpha, &row);
    REAL theta = NAME(find_theta)(blocks, row.v_own, cap, kappa * (row.others - row.own), &eta);
    /* the change of the others, and its product with the scores */
    const NAME(vector) zero = {0}, caps = cap + zero;
    NAME(vector) change_sums = zero, linear = zero, square = zero;
    NAME(lanes) own;
    NAME(count)(&own, -(SIGNED)y);
    for (size_t c = 0; c < blocks->width; c += NAME(LANES), own += NAME(LANES)) {
        NAME(vector) now = *(const NAME(vector) *)(blocks->v + c) - theta;
        NAME(clip)(&now, &caps);
        *(NAME(vector) *)(blocks->v + c) = now;
        NAME(vector) change = now - *(const NAME(vector) *)(alpha + c);
        change = (NAME(vector))((own != 0) & (NAME(lanes))change);
        change_sums += change;
        linear += change * *(const NAME(vector) *)(s + c);
        square += change * change;
    }
    REAL own_new = blocks->own ? NAME(clip_one)(row.v_own - eta, cap) : 0;
    REAL own_change = own_new - row.own, changes = NAME(total)(&change_sums);
    REAL squares = NAME(total)(&square) + own_change * own_change;
    REAL size_old = row.others + row.own;
    if (squares <= NAME(MIN_CHANGE) * size_old * size_old) {
        return 0;
    }
    NAME(store_step)
    (blocks, y, own_new, blocks->relative ? margin * changes : own_change, alpha, u);
    REAL slope = blocks->relative ? changes * (1 - margin * s_own) + margin * NAME(total)(&linear)
                                  : changes * (1 - row.centre) + NAME(total)(&linear) +
                                        own_change * (1 - s_own + row.centre);
    REAL along = changes - own_change;
    REAL gain = slope - q * (squares + kappa * along * along) / 2;
    return gain != 0 ? gain : -1 / NAME(HUGE);
}
