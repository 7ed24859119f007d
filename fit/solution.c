/* Memory of a solution. */
#include "fit/solution.h"

#include <stdlib.h>

void solution_free(struct solution *solution) {
    free(solution->weights);
    free(solution->bias);
    free(solution->pairs);
    if (solution->points) {
        data_free(solution->points);
        free(solution->points);
    }
    *solution = (struct solution){0};
}
