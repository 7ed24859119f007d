/* Queries whose rows are ordered against the model, as those of a HILIC system are among
 * reversed-phase ones: they spoil the scores of the others, and theirs.
 *
 * The fit has seen these rows, so that its scores agree with a query more than those of a fit
 * without it would. A query that nevertheless agrees less than by chance is one that the others
 * contradict. With S = concordant - discordant pairs of the n rows of a query, S is about normal
 * under independence, with mean 0 and variance n (n - 1)(2 n + 5) / 18 (Kendall 1938; less with
 * ties). A query disagrees if P(S as small) < .05 / number of queries (Bonferroni).
 *
 * A kernel's fit may have learned the rows of such a query, unless other queries have the same rows
 * (molecules on several systems). Each query is therefore also judged at its rows that others have,
 * by the mean place of these rows within the others. The one that disagrees most is found first,
 * and then no longer judges the others. */
#ifndef FAMILIES_RANK_FRONTEND_DISAGREEMENT_H
#define FAMILIES_RANK_FRONTEND_DISAGREEMENT_H

#include "driver/family.h"
#include "driver/progress.h"

/* Warns of the queries that disagree with the scores (n_rows) of the model for its training rows.
 * Only a warning is lost if memory is short. */
void disagreement_warn(const struct data *rows, const double *scores, struct progress *progress);

#endif
