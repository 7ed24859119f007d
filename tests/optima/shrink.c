/* Greedy reduction: each change is kept if the trial still fails in the same way. */
#include "tests/optima/shrink.h"

#include <math.h>

struct hunt {
    const char *bin, *folder;
    struct judgement *judgement;
};

/* Accepts the changed trial if it fails as before. */
static bool keep(const struct hunt *hunt, struct trial *trial, const struct trial *changed) {
    struct judgement judgement;
    judge(changed, hunt->bin, hunt->folder, &judgement);
    if (judgement.verdict != hunt->judgement->verdict) {
        return false;
    }
    *hunt->judgement = judgement;
    *trial = *changed;
    return true;
}

static bool shrink_rows(const struct hunt *hunt, struct trial *trial) {
    bool any = false;
    for (size_t i = trial->n; i-- > 0 && trial->n > 1;) {
        struct trial changed = *trial;
        trial_drop_row(&changed, i);
        any |= keep(hunt, trial, &changed);
    }
    bool fixed = trial->family == SMM || trial_is(trial, KERNEL, PRECOMPUTED);
    for (size_t j = trial->n_features; j-- > 0 && trial->n_features > 1 && !fixed;) {
        struct trial changed = *trial;
        trial_drop_feature(&changed, j);
        any |= keep(hunt, trial, &changed);
    }
    return any;
}

static bool shrink_options(const struct hunt *hunt, struct trial *trial) {
    bool any = false;
    for (int o = 0; o < OPTIONS; o++) {
        struct trial changed = *trial;
        changed.given[o] = false;
        any |= trial->given[o] && keep(hunt, trial, &changed);
    }
    for (int label = 0; label < MAX_LABELS; label++) {
        struct trial changed = *trial;
        changed.weighted[label] = false;
        any |= trial->weighted[label] && keep(hunt, trial, &changed);
    }
    struct trial changed = *trial;
    changed.row_weights = false;
    return (trial->row_weights && keep(hunt, trial, &changed)) || any;
}

/* Rounds to fewer decimal digits. */
static double rounded(double value, int digits) {
    double unit = value != 0 ? pow(10, floor(log10(fabs(value))) - digits + 1) : 1;
    return digits == 0 ? 0 : (double)(float)(rint(value / unit) * unit);
}

static bool shrink_numbers(const struct hunt *hunt, struct trial *trial) {
    bool any = false;
    for (int digits = 0; digits < 4; digits++) {
        for (size_t i = 0; i < trial->n; i++) {
            struct trial changed = *trial;
            bool differs = false;
            for (size_t j = 0; j < trial->n_features; j++) {
                changed.x[i][j] = rounded(trial->x[i][j], digits);
                differs |= changed.x[i][j] != trial->x[i][j];
            }
            any |= !trial_is(trial, KERNEL, PRECOMPUTED) && differs && keep(hunt, trial, &changed);
        }
        for (int o = COST; o < OPTIONS && digits > 0; o++) {
            struct trial changed = *trial;
            changed.option[o] = rounded(trial->option[o], digits);
            any |= trial->given[o] && changed.option[o] != trial->option[o] &&
                   keep(hunt, trial, &changed);
        }
    }
    return any;
}

void shrink(struct trial *trial, const char *bin, const char *folder, struct judgement *judgement) {
    struct hunt hunt = {bin, folder, judgement};
    bool any = judgement->verdict != HUNG; /* each attempt takes the whole time limit */
    for (int round = 0; any && round < 4; round++) {
        any = shrink_rows(&hunt, trial);
        any |= shrink_options(&hunt, trial);
        any |= shrink_numbers(&hunt, trial);
    }
}
