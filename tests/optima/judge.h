/* Runs a program on a trial, as a user would, and compares its claims with the reference bounds. */
#ifndef TESTS_OPTIMA_JUDGE_H
#define TESTS_OPTIMA_JUDGE_H

#include "tests/optima/trial.h"

/* Kinds of failure; shrinking preserves the kind. */
enum verdict {
    GOOD,
    REFUSED,     /* with reason: nothing to fit, or scores overflow */
    CRASHED,     /* by a signal or a sanitizer */
    HUNG,        /* above the time limit */
    FAILED,      /* exit code other than 0, or a refusal without reason */
    MUTE,        /* no bounds, or report and model differ */
    HIGH_DUAL,   /* dual bound above the optimum */
    LOW_PRIMAL,  /* primal bound below the optimum or the model's own primal */
    WORSE,       /* primal above that of f = 0 */
    BAD_GAP,     /* the gap does not match primal and dual */
    UNTOLD,      /* epsilon not reached, and no warning */
    UNTRUE,      /* a false warning */
    STALLED,     /* reported as stalled, with the default solver */
    UNCERTIFIED, /* certified or not against the rules */
    UNVERIFIED,  /* svm-check rejects the proof */
    VERDICTS
};

extern const char *const verdict_name[VERDICTS];

struct judgement {
    enum verdict verdict;
    char text[400]; /* description */
    double primal, dual, lower, upper;
    char reason[120]; /* of the warning */
    bool uncertified; /* the model is not certified */
    bool untold;      /* svm-check cannot decide */
    bool unproven;    /* the truth of the bounds is not known */
};

/* Generates the trial of a seed, of the kind that this judge handles. */
void judge_generate(struct trial *trial, uint64_t seed);

/* Runs and judges a trial. bin: folder of the programs; folder: for files. */
void judge(const struct trial *trial, const char *bin, const char *folder,
           struct judgement *judgement);

#endif
