/* Runs a program on a trial, as a user would, and compares what it claims with the truth. */
#ifndef TESTS_OPTIMA_JUDGE_H
#define TESTS_OPTIMA_JUDGE_H

#include "tests/optima/trial.h"

/* Kinds of failure, so that shrinking keeps to one. */
enum verdict {
    GOOD,
    REFUSED,     /* rightly: nothing to fit, scores that overflow */
    CRASHED,     /* a signal, or the sanitizers */
    HUNG,        /* over the limit of time */
    FAILED,      /* another exit code than 0, or a refusal without reason */
    MUTE,        /* no numbers, or a report and a model that differ */
    HIGH_DUAL,   /* above the optimum */
    LOW_PRIMAL,  /* below the optimum, or below that of the model's own function */
    WORSE,       /* than f = 0 */
    BAD_GAP,     /* not that of primal and dual */
    UNTOLD,      /* short of epsilon, and no warning */
    UNTRUE,      /* a warning that is not so */
    STALLED,     /* by its own word, and no solver was named */
    UNCERTIFIED, /* where the rules say yes, or the other way round */
    UNVERIFIED,  /* by svm-check */
    VERDICTS
};

extern const char *const verdict_name[VERDICTS];

struct judgement {
    enum verdict verdict;
    char text[400]; /* what was found */
    double primal, dual, lower, upper;
    char reason[120]; /* of a warning */
    bool uncertified; /* the model claims nothing */
    bool untold;      /* svm-check cannot tell */
    bool unproven;    /* whether the bounds are true is not known */
};

/* Makes up the trial of a seed, of the kind that is judged. */
void judge_generate(struct trial *trial, uint64_t seed);

/* bin: the programs' folder; folder: for files. */
void judge(const struct trial *trial, const char *bin, const char *folder,
           struct judgement *judgement);

#endif
