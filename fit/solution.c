/* Memory of a solution. */
#include "fit/solution.h"

#include <stdlib.h>

void solution_free(struct solution *solution) {
    free(solution->weights);
    free(solution->bias);
    free(solution->pairs);
    *solution = (struct solution){0};
}
