/* Primal points that are a little longer: where C is large, margins that rounding leaves short of 1
 * cost more than weights do. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/ml/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loss at t times the point's scores and bias_t times its bias; *slope gets that of both
 * together. */
static double scaled_loss(const struct ml *ml, const struct ml_parameters *parameters,
                          const struct ml_point *point, double t, double bias_t, double *slope) {
    size_t q = ml->rows.q;
    const double *bias = point->bias;
    double loss = 0, conjugate, *s = ml->bcd.s, *vertex = ml->bcd.old;
    *slope = 0;
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, parameters->loss, parameters->cost);
        const double *from = point->scores + ml->rows.row[i] * q;
        for (size_t k = 0; k < q; k++) {
            s[k] = t * from[k] + bias_t * bias[k];
        }
        loss += ml_block_vertex(&block, s, vertex, &conjugate, ml->bcd.scratch[0]);
        *slope -= array_dot(vertex, from, q) + array_dot(vertex, bias, q);
    }
    *slope = cluster_total(ml->rows.cluster, *slope);
    return cluster_total(ml->rows.cluster, loss);
}

/* The t near 1 where norm t^2 / 2 and the loss at t times the scores are least together. */
static double best_scale(const struct ml *ml, const struct ml_parameters *parameters,
                         const struct ml_point *point, double norm) {
    enum { HALVINGS = 60 };
    const double ulp = 4e-16, most = 0.5;
    double low = 1, high = 1, slope;
    scaled_loss(ml, parameters, point, 1, 1, &slope);
    bool too_short = slope + norm < 0;
    for (double step = too_short ? ulp : -ulp; fabs(step) < most; step *= 2) {
        double t = 1 + step;
        *(too_short ? &high : &low) = t;
        scaled_loss(ml, parameters, point, t, t, &slope);
        if ((slope + t * norm < 0) != too_short) {
            break;
        }
        *(too_short ? &low : &high) = t;
    }
    for (int k = 0; k < HALVINGS && high - low > ulp; k++) {
        double t = low + (high - low) / 2;
        scaled_loss(ml, parameters, point, t, t, &slope);
        *(slope + t * norm < 0 ? &low : &high) = t;
    }
    return high;
}

static void multiply(const struct ml *ml, double t, double bias_t, struct ml_point *point) {
    for (size_t k = 0; k < ml_n_weights(ml); k++) {
        point->weights[k] *= t;
    }
    for (size_t k = 0; k < ml->rows.n_all * ml->rows.q; k++) {
        point->scores[k] *= t;
    }
    for (size_t k = 0; k < ml->rows.q; k++) {
        point->bias[k] *= bias_t;
    }
}

/* Multiplies the point by the best factor: where C is large, margins that rounding has left an ulp
 * short of 1 cost more than weights that are longer by that much. That is 0 where the free bias
 * alone is as good. */
static void scale_point(const struct ml *ml, const struct ml_parameters *parameters,
                        struct ml_point *point) {
    size_t q = ml->rows.q;
    bool free_bias = ml->setup.free_bias;
    const double *other = ml->problem->gram ? point->scores : point->weights;
    double norm = array_dot(point->weights, other, ml_n_weights(ml)), slope;
    if (ml->setup.bias > 0) {
        norm += array_dot(point->bias, point->bias, q) / (ml->setup.bias * ml->setup.bias);
    }
    double t = best_scale(ml, parameters, point, norm), bias_t = t;
    double primal = t * t * norm / 2 + scaled_loss(ml, parameters, point, t, t, &slope);
    if (scaled_loss(ml, parameters, point, 0, free_bias ? 1 : 0, &slope) <= primal) {
        t = 0;
        bias_t = free_bias ? 1 : 0;
    }
    multiply(ml, t, bias_t, point);
}

/* t times the weights, bias and scores that `from` has, one behind the other. */
static void take_multiple(const struct ml *ml, const double *from, double t,
                          struct ml_point *point) {
    size_t n = ml_n_weights(ml), q = ml->rows.q, scores = ml->rows.n_all * q;
    memcpy(point->weights, from, n * sizeof *from);
    memcpy(point->bias, from + n, q * sizeof *from);
    memcpy(point->scores, from + n + q, scores * sizeof *from);
    multiply(ml, t, t, point);
}

/* Weights, bias and scores, one behind the other, to make multiples of: scores are not rounded time
 * and again. */
struct original {
    double *from;
    double length; /* of the point now */
};

/* Makes the point so long, if that lowers its primal; *more is by what its certificate would have
 * it longer still. */
static int try_length(struct ml *ml, const struct ml_parameters *parameters,
                      struct original *original, double length, struct ml_point *point,
                      double *more, struct error *err) {
    const struct certificate before = point->certificate;
    const struct ml_bounds bounds = point->bounds;
    take_multiple(ml, original->from, length, point);
    if (ml_point_certify(ml, parameters, true, point, err) < 0) {
        return -1;
    }
    *more = point->certificate.length;
    if (point->certificate.primal < before.primal) {
        original->length = length;
    } else {
        take_multiple(ml, original->from, original->length, point);
        point->certificate = before;
        point->bounds = bounds;
    }
    return 0;
}

/* The same for what rounding may have left short when the scores were computed: the certificate
 * counts it as loss. What is multiplied is rounded anew, and leaves others short: then somewhat
 * longer still. */
static int stretch(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                   struct error *err) {
    enum { STRETCHES = 3 };
    const double further = 2;
    size_t n = ml_n_weights(ml), q = ml->rows.q, scores = ml->rows.n_all * q;
    double length = point->certificate.length;
    if (ml_is_certified(point, parameters->epsilon) || length <= 1) {
        return 0;
    }
    struct original original = {memory_array(n + q + scores, sizeof(double), "weights", err), 1};
    if (!original.from) {
        return -1;
    }
    memcpy(original.from, point->weights, n * sizeof(double));
    memcpy(original.from + n, point->bias, q * sizeof(double));
    memcpy(original.from + n + q, point->scores, scores * sizeof(double));
    int status = 0;
    for (int t = 0; status == 0 && t < STRETCHES && !ml_is_certified(point, parameters->epsilon);
         t++) {
        double more;
        status = try_length(ml, parameters, &original, length, point, &more, err);
        if (more <= 1) {
            break;
        }
        length *= 1 + further * (more - 1);
    }
    free(original.from);
    return status;
}

/* How far each label's scores may rise where it is not relevant, or fall (falls) where it is, until
 * a pair comes to the margin: at most, INFINITY where none can. All ranks. */
static void find_room(const struct ml *ml, const struct ml_point *point, bool falls, double *room) {
    size_t q = ml->rows.q;
    double *s = ml->bcd.s;
    for (size_t k = 0; k < q; k++) {
        room[k] = -INFINITY; /* less what there is: the largest is looked for */
    }
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, ML_HINGE, 1);
        double low = INFINITY, high = -INFINITY;
        memcpy(s, point->scores + ml->rows.row[i] * q, q * sizeof *s);
        array_add(s, 1, point->bias, q);
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t k = 0, next = 0; k < q; k++) {
                bool relevant = next < block.n_relevant && block.relevant[next] == k;
                next += relevant;
                if (pass == 0) {
                    low = relevant ? fmin(low, s[k]) : low;
                    high = relevant ? high : fmax(high, s[k]);
                } else if (relevant == falls) {
                    double left = falls ? s[k] - 1 - high : low - 1 - s[k];
                    room[k] = fmax(room[k], -left);
                }
            }
        }
    }
    cluster_max(ml->rows.cluster, room, q);
    for (size_t k = 0; k < q; k++) {
        room[k] = -room[k];
    }
}

/* Brings a free bias together where the loss leaves it free: an interior point may find it at
 * millions, which scores round to. Labels rise, or fall, to no less than another margin's width
 * from where a pair would have a loss. room (q) is work. */
static void settle_bias(const struct ml *ml, struct ml_point *point, double *room) {
    enum { PASSES = 3 };
    size_t q = ml->rows.q;
    double *bias = point->bias, mean = 0;
    for (int pass = 0; pass < 2 * PASSES; pass++) {
        bool falls = pass & 1;
        double end = bias[0];
        for (size_t k = 0; k < q; k++) {
            end = falls ? fmin(end, bias[k]) : fmax(end, bias[k]);
        }
        find_room(ml, point, falls, room);
        for (size_t k = 0; k < q; k++) {
            double by = fmax(fmin(room[k] - 1, fabs(end - bias[k])), 0);
            bias[k] += falls ? -by : by;
        }
    }
    for (size_t k = 0; k < q; k++) {
        mean += bias[k] / (double)q;
    }
    for (size_t k = 0; k < q; k++) {
        bias[k] -= mean;
    }
}

/* The same, unless the certificate is the worse for it: the loss is not, but what is paid for the
 * rounding of scores with another bias may be. */
static int try_bias(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                    struct error *err) {
    const struct certificate before = point->certificate;
    const struct ml_bounds bounds = point->bounds;
    size_t q = ml->rows.q;
    double *bias = memory_array(2 * q, sizeof *bias, "weights", err);
    if (!bias) {
        return -1;
    }
    memcpy(bias, point->bias, q * sizeof *bias);
    settle_bias(ml, point, bias + q);
    int status = ml_point_certify(ml, parameters, true, point, err);
    if (status == 0 && point->certificate.primal > before.primal) {
        memcpy(point->bias, bias, q * sizeof *bias);
        point->certificate = before;
        point->bounds = bounds;
    }
    free(bias);
    return status;
}

int ml_point_part(const struct ml *ml, struct ml_point *point, struct error *err) {
    size_t n = ml_n_weights(ml), q = ml->rows.q;
    point->dual = memory_array(n + q, sizeof *point->dual, "weights", err);
    if (!point->dual) {
        return -1;
    }
    memcpy(point->dual, point->weights, n * sizeof *point->dual);
    for (size_t k = 0; k < q; k++) { /* a free bias is no part of the dual point */
        point->dual[n + k] = ml->setup.free_bias ? 0 : point->bias[k];
    }
    return 0;
}

int ml_point_stretch(struct ml *ml, const struct ml_parameters *parameters, double own,
                     struct ml_point *point, struct error *err) {
    if (!point->dual && ml_point_part(ml, point, err) < 0) {
        return -1;
    }
    scale_point(ml, parameters, point);
    if (ml_point_certify(ml, parameters, true, point, err) < 0) {
        return -1;
    }
    if (ml->setup.free_bias && !ml_is_certified(point, parameters->epsilon) &&
        try_bias(ml, parameters, point, err) < 0) {
        return -1;
    }
    int status = stretch(ml, parameters, point, err);
    point->certificate.lost = fmax(0, point->certificate.primal - own);
    return status;
}
