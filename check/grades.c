/* Gains and discounts in ball arithmetic. */
#include "check/grades.h"

#include <math.h>

static const double MAX_GRADE = 60;

int grades_of(double target, double *grade, struct error *err) {
    if (target != floor(target) || fabs(target) > MAX_GRADE) {
        return error_set(err, ERROR_RUNTIME, "a cost per ndcg or gain wants grades: not %g",
                         target);
    }
    *grade = fmax(0, target);
    return 0;
}

struct ball grades_weigh(const double *grade, size_t n, bool linear, struct ball *gain,
                         struct ball *discount) {
    const struct ball two = ball_logarithm(ball_of(2));
    struct ball ideal = ball_of(0);
    for (size_t first = 0, end; first < n; first = end) {
        struct ball sum = ball_of(0), own;
        for (end = first; end < n && grade[end] == grade[first]; end++) {
            struct ball place = ball_of(1 + (double)(n - end));
            sum = ball_add(sum, ball_divide(two, ball_logarithm(place)));
        }
        own =
            linear ? ball_of(grade[first]) : ball_subtract(ball_of(exp2(grade[first])), ball_of(1));
        sum = ball_divide(sum, ball_of((double)(end - first)));
        for (size_t a = first; a < end; a++) {
            gain[a] = own;
            discount[a] = sum;
            ideal = ball_add(ideal, ball_multiply(own, sum));
        }
    }
    return ideal;
}
