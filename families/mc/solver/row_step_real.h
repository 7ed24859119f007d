/* The exact step of a row's alpha in vectors, included once for each type with REAL, SIGNED (the
 * integer of its size) and NAME(x) defined. Not a header for anybody else.
 *
 * Arrays over classes have `width` entries, a whole number of vectors, and are aligned to them;
 * entries at and beyond k are padding: scores 0 and alpha 0. */

/* Of float, or of double. */
#define OF(single, wide) (sizeof(REAL) == sizeof(float) ? (REAL)(single) : (REAL)(wide))
static const REAL NAME(TINY) = OF(2e-7, 4e-16), NAME(HUGE) = OF(1e30, 1e300);
static const REAL NAME(SHORT) = OF(1e-6, 1e-8), NAME(LEAST_SQUARE) = OF(1e-25, 1e-250);
static const REAL NAME(NOTHING) = OF(4e-14, 1.6e-31);
#undef OF

/* LANES numbers, and as many truths, all bits or none, or integers. */
typedef REAL NAME(vector) __attribute__((vector_size(64), may_alias));
typedef SIGNED NAME(lanes) __attribute__((vector_size(64), may_alias));

enum { NAME(LANES) = 64 / sizeof(REAL) };

/* Parts of a vector, for its sum. */
typedef REAL NAME(half) __attribute__((vector_size(32)));
typedef REAL NAME(quarter) __attribute__((vector_size(16)));

/* number = first, first + 1 .. */
static inline __attribute__((always_inline)) void NAME(count)(NAME(lanes) * number, SIGNED first) {
    for (SIGNED l = 0; l < (SIGNED)NAME(LANES); l++) {
        (*number)[l] = first + l;
    }
}

/* The sum of all lanes, by halves: one after the other they would wait for each other. */
static inline __attribute__((always_inline)) REAL NAME(total)(const NAME(vector) * x) {
    NAME(half) half[2];
    NAME(quarter) quarter[2];
    memcpy(half, x, sizeof half);
    half[0] += half[1];
    memcpy(quarter, half, sizeof quarter);
    quarter[0] += quarter[1];
    REAL sum = 0;
    for (size_t l = 0; l < NAME(LANES) / 4; l += 2) {
        sum += quarter[0][l] + quarter[0][l + 1];
    }
    return sum;
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

/* Returns the sum over v (width) of min(max(v - theta, 0), cap); *middle: how many are strictly
 * between 0 and cap. What is no other class, and padding, has a v so low that it is 0. */
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

/* What a step needs beside the row. */
struct NAME(blocks) {
    bool relative, centred, others, own, maximum;
    size_t k, width;
    REAL margin, kappa;
    REAL *v; /* (width) work: what alpha of the others would be with theta = 0 */
};

/* The length of an array over k classes. */
static inline size_t NAME(width_of)(size_t k) {
    return (k + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES);
}

/* Those of a formulation, without room for v. */
static inline struct NAME(blocks) NAME(blocks_of)(const struct mc_shape *shape) {
    const struct mc_form *form = shape->form;
    return (struct NAME(blocks)){.relative = form->relative,
                                 .centred = form->centred,
                                 .others = form->others,
                                 .own = form->own,
                                 .maximum = form->maximum,
                                 .k = shape->k,
                                 .width = NAME(width_of)(shape->k),
                                 .margin = (REAL)shape->margin,
                                 .kappa = (REAL)shape->kappa};
}

/* theta with theta = kappa (sum of the others - own), where the others are v - theta, own is v_own
 * + theta, each between 0 and cap: Newton on an increasing function that is linear between its
 * kinks, kept in a bracket; from `theta`. */
static inline __attribute__((always_inline)) REAL NAME(box_root)(const struct NAME(blocks) * blocks,
                                                                 REAL v_own, REAL cap, REAL theta) {
    REAL kappa = blocks->kappa, most = (REAL)blocks->k * cap;
    REAL low = kappa > 0 ? -cap : 2 * kappa * most, high = kappa > 0 ? 2 * most : -2 * kappa * cap;
    for (int pass = 0; pass < MC_MOST_PASSES; pass++) {
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
    NAME(vector) most = *(const NAME(vector) *)v;
    for (size_t c = NAME(LANES); c < width; c += NAME(LANES)) {
        NAME(vector) x = *(const NAME(vector) *)(v + c);
        NAME(lanes) above = x > most;
        most = (NAME(vector))((above & (NAME(lanes))x) | (~above & (NAME(lanes))most));
    }
    REAL largest = most[0];
    for (size_t l = 1; l < NAME(LANES); l++) {
        largest = most[l] > largest ? most[l] : largest;
    }
    return largest;
}

/* theta with the sum of max(v - theta, 0) over the others = cap, where that at `theta` is more. */
static inline __attribute__((always_inline)) REAL
NAME(simplex_root)(const struct NAME(blocks) * blocks, REAL cap, REAL theta) {
    const REAL none = NAME(HUGE);
    REAL alone =
        NAME(largest)(blocks->v, blocks->width) - cap; /* where the largest makes the sum */
    theta = alone > theta ? alone : theta;
    for (int pass = 0; pass < MC_MOST_PASSES; pass++) {
        REAL middle;
        REAL over = NAME(clipped)(blocks->v, blocks->width, theta, none, &middle) - cap;
        if (over <= NAME(TINY) * cap || middle == 0) {
            break; /* from the left Newton on a convex function never goes too far */
        }
        theta += over / middle;
    }
    return theta;
}

/* The same with an own term, max(v_own - *eta, 0), in the sum: *theta for the others, where it
 * begins, and *eta for that. */
static inline void NAME(total_root)(const struct NAME(blocks) * blocks, REAL v_own, REAL cap,
                                    REAL *theta, REAL *eta) {
    const REAL none = NAME(HUGE);
    REAL kappa = blocks->kappa, low = 0, high = cap, a = 0;
    for (int pass = 0; pass < MC_MOST_PASSES; pass++) {
        REAL middle;
        *theta = v_own - a + 2 * kappa * (cap - 2 * a);
        *eta = v_own - a;
        REAL value = NAME(clipped)(blocks->v, blocks->width, *theta, none, &middle) - (cap - a);
        REAL slope = 1 + middle * (1 + 4 * kappa);
        if ((value < 0 ? -value : value) <= NAME(TINY) * cap || (a == cap && value <= 0)) {
            return;
        }
        if (value > 0 && a == 0) {
            break; /* no own term: the others alone make up the cap */
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

/* Returns theta, and *eta, of the new alpha: v - theta of the others and v_own - *eta, between 0
 * and cap, and for a maximum with a sum of at most cap. shift: kappa (others_old - own_old) of the
 * alpha before, with which v and v_own have been shifted; others_old: the sum of the others
 * before. */
static inline __attribute__((always_inline)) REAL
NAME(find_theta)(const struct NAME(blocks) * blocks, REAL v_own, REAL cap, REAL shift,
                 REAL others_old, REAL *eta) {
    const REAL *v = blocks->v;
    size_t width = blocks->width;
    REAL kappa = blocks->kappa, middle, theta = 0;
    REAL full = kappa * cap; /* theta where the box has a sum of cap: beyond it the sum binds */
    bool bound = blocks->maximum && !blocks->own;
    *eta = 0;
    /* where it did not bind before it seldom does */
    if (!bound || (kappa != 0 && others_old < (REAL)0.99 * cap) ||
        NAME(clipped)(v, width, full, NAME(HUGE), &middle) <= cap) {
        theta = kappa != 0 ? NAME(box_root)(blocks, v_own, cap, shift) : 0;
        *eta = -theta;
        bound = bound && kappa * (theta - full) > 0;
    }
    if (bound) {
        theta = NAME(simplex_root)(blocks, cap, full);
    } else if (blocks->maximum && blocks->own &&
               NAME(clipped)(v, width, theta, cap, &middle) + NAME(clip_one)(v_own - *eta, cap) >
                   cap) {
        NAME(total_root)(blocks, v_own, cap, &theta, eta);
    }
    return theta;
}

/* 1 / q for a step of a row. A row that is short for its cost would go so far beyond it that
 * nothing is left of alpha in v, or that 1 / q overflows: it is stepped in as if it were longer,
 * which gains too and leads to the same. Where terms are summed their alpha are at their bounds by
 * then, so that only slacks which no score shows see a difference. */
static inline REAL NAME(reciprocal)(REAL q, REAL cap, bool maximum) {
    REAL least = (maximum ? NAME(SHORT) : NAME(SHORT) * NAME(SHORT)) / cap;
    least = least < NAME(HUGE) ? least : NAME(HUGE);
    least = least > NAME(LEAST_SQUARE) ? least : NAME(LEAST_SQUARE);
    return 1 / (q > least ? q : least);
}

/* What a step finds at the row's alpha before. */
struct NAME(row) {
    REAL scale;  /* 1 / q */
    REAL others; /* the sum of alpha of the others, */
    REAL own;    /* and that of the row's class */
    REAL centre; /* the mean of the scores that is taken off */
    REAL v_own;  /* of the own class, as v of the others */
};

/* Fills v, shifted by kappa (others - own). */
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

/* alpha = v, own of the row's class; u = what that does to the coefficients: own_u to those of the
 * row's class. */
static inline __attribute__((always_inline)) void NAME(put)(const struct NAME(blocks) * blocks,
                                                            size_t y, REAL own, REAL own_u,
                                                            REAL *alpha, REAL *u) {
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

/* One exact step of a row of class y: q = M^2 |x|^2 > 0, s its scores, which may be off by a
 * constant where margins are relative or centred. alpha gets its new value, u the change of the
 * row's coefficients (the mean is not taken off). Returns the gain of the dual, which
 * rounding may take below 0, but is not 0; or 0, with alpha and u as they were, when nothing
 * changes. */
static inline __attribute__((always_inline)) REAL NAME(step)(const struct NAME(blocks) * blocks,
                                                             size_t y, REAL cap, REAL q,
                                                             const REAL *s, REAL *alpha, REAL *u) {
    struct NAME(row) row = {.scale = NAME(reciprocal)(q, cap, blocks->maximum)};
    REAL kappa = blocks->kappa, margin = blocks->margin, eta, s_own = s[y];
    NAME(prepare)(blocks, y, s, alpha, &row);
    REAL theta =
        NAME(find_theta)(blocks, row.v_own, cap, kappa * (row.others - row.own), row.others, &eta);
    /* the change of the others, against which the scores are summed up */
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
    if (squares <= NAME(NOTHING) * size_old * size_old) {
        return 0;
    }
    NAME(put)(blocks, y, own_new, blocks->relative ? margin * changes : own_change, alpha, u);
    REAL slope = blocks->relative ? changes * (1 - margin * s_own) + margin * NAME(total)(&linear)
                                  : changes * (1 - row.centre) + NAME(total)(&linear) +
                                        own_change * (1 - s_own + row.centre);
    REAL along = changes - own_change;
    REAL gain = slope - q * (squares + kappa * along * along) / 2;
    return gain != 0 ? gain : -1 / NAME(HUGE);
}
