/* The one thing to do with a solution that is no family's: to give it back. */
#include "common/kernel/problem.h"

#include <stdlib.h>

void solution_free(struct solution *solution) {
    free(solution->weights);
    free(solution->bias);
    free(solution->pairs);
    *solution = (struct solution){0};
}
