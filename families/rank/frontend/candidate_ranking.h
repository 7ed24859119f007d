/* Candidates of measured features from rows to scores: what svm-rank-candidates and the library
 * share. Rows are added in any order, grouped by feature, and scored for any number of weights. */
#ifndef FAMILIES_RANK_FRONTEND_CANDIDATE_RANKING_H
#define FAMILIES_RANK_FRONTEND_CANDIDATE_RANKING_H

#include "families/rank/frontend/buffered_rows.h"
#include "families/rank/frontend/candidate_files.h"
#include "families/rank/frontend/candidates.h"

/* Zero at first. A candidate's number is the position of its row in rows.row, once these are
 * grouped by feature. */
struct candidate_ranking {
    struct buffered_rows rows;
    size_t *candidate; /* (rows.n) by row as added: the number of its candidate */

    struct candidates candidates;
    double *f;            /* (n) */
    double *ms;           /* (n) MS/MS scores; NaN or -INFINITY: none */
    double *scaled_ms;    /* (n) see candidates_scale */
    double *time_term;    /* (n) see candidates_time_terms */
    double *node_score;   /* (n) scaled_ms + E time_term */
    double *score, *rank; /* (n) */
    size_t n_timed;       /* features with a time */
    size_t n_terms;       /* features with a term of the time */
    struct max_marginals *marginals;
    void *block; /* all arrays */
};

/* Why the model cannot order candidates; NULL: it can. */
const char *candidate_ranking_refusal(const struct model *model);

/* Adds the rows of a block with their labels and their scores by the model (n_rows). -1 if a score
 * is not finite or memory runs out. */
int candidate_ranking_add(struct candidate_ranking *ranking, const struct data *block,
                          const double *scores, struct error *err);

/* Groups the rows by feature, sets f, ms and scaled_ms, and counts n_timed. times: of the features,
 * by the names of their queries; minutes may be NaN: unknown. -1 if memory runs out. */
int candidate_ranking_group(struct candidate_ranking *ranking, const struct feature_times *times,
                            struct error *err);

/* Sets the terms of the times, and n_terms. A run has the map of the query with its name, if need
 * be without regard to case, or else that of the query that --system names; a run without a name
 * (no qid) that of `only`, which may be NULL. -1 if the query of --system has no map, if no run has
 * a map though --time-weight asks for it, or if memory runs out. */
int candidate_ranking_set_terms(struct candidate_ranking *ranking, const struct names *runs,
                                const struct targets *targets, const struct target_map *only,
                                const struct options *options, struct error *err);

/* Sets score to the max-marginals for two weights, with the edges and trees of the options. -1 if
 * memory runs out. */
int candidate_ranking_infer(struct candidate_ranking *ranking, const struct options *options,
                            double order_weight, double time_weight, struct threads *threads,
                            struct error *err);

/* Frees what the ranking owns; what it was made from stays. */
void candidate_ranking_free(struct candidate_ranking *ranking);

#endif
