#include "families/decide.h"

size_t decide_largest(const double *scores, size_t k) {
    size_t best = 0;
    for (size_t c = 1; c < k; c++) {
        best = scores[c] > scores[best] ? c : best;
    }
    return best;
}

size_t decide_signed(const double *scores, size_t n) {
    return n == 1 ? scores[0] > 0 : decide_largest(scores, n);
}
