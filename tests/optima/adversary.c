/* Solves random and degenerate problems by the programs and by an independent interior-point
 * method, and compares the results. svm-check must accept the proofs.
 *
 *   adversary BIN FOLDER seeds FIRST COUNT [FAMILY]  runs trials from seed FIRST on
 *   adversary BIN FOLDER hunt FIRST COUNT [FAMILY]   the same; reduces those that fail and
 *                                                    writes them to FOLDER/failed
 *   adversary BIN FOLDER replay FILE...              runs trials from files
 *   adversary BIN FOLDER show FIRST COUNT [FAMILY]   prints claimed and reference bounds
 *
 * BIN: folder of the programs; FOLDER: for files. Exits with 1 if a trial fails. */
#define _POSIX_C_SOURCE 200809L /* mkdir */

#include "tests/optima/shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void tell(const struct trial *trial, const char *name, const struct judgement *judgement) {
    printf("FAIL: %s: %s: %s\n    ", name, verdict_name[judgement->verdict], judgement->text);
    trial_command(trial, name, "WEIGHTS", stdout);
    fflush(stdout);
}

static bool bad(const struct judgement *judgement) {
    return judgement->verdict > REFUSED;
}

/* Reduces a failing trial and writes it to a file. */
static void keep(struct trial *trial, const char *bin, const char *folder, const char *seed,
                 struct judgement *judgement) {
    char name[600];
    shrink(trial, bin, folder, judgement);
    snprintf(name, sizeof name, "%s/failed", folder);
    mkdir(name, 0777);
    snprintf(name, sizeof name, "%s/failed/%s-%s", folder, family_name[trial->family], seed);
    trial_write(trial, name);
    tell(trial, name, judgement);
}

/* Counts of the verdicts of a family's trials. */
struct counts {
    unsigned long trials, failed, refused, uncertified, proven, unproven, untold;
};

static void count(const struct judgement *judgement, struct counts *counts) {
    bool bounds = judgement->verdict == GOOD && !judgement->uncertified;
    counts->trials++;
    counts->failed += bad(judgement);
    counts->refused += judgement->verdict == REFUSED;
    counts->uncertified += judgement->uncertified;
    counts->proven += bounds && !judgement->unproven;
    counts->unproven += bounds && judgement->unproven;
    counts->untold += judgement->untold;
}

/* Prints one line per family, which tests/optima/run sums over processes, and one for all. */
static bool report(const struct counts *counts, uint64_t first) {
    unsigned long trials = 0, failed = 0;
    for (int f = 0; f < FAMILIES; f++) {
        const struct counts *own = &counts[f];
        trials += own->trials;
        failed += own->failed;
        if (own->trials > 0) {
            printf("%s: %lu trials, %lu failed, %lu refused, %lu not certified, %lu with bounds "
                   "proven, %lu neither proven nor refuted, %lu CANNOT TELL\n",
                   family_name[f], own->trials, own->failed, own->refused, own->uncertified,
                   own->proven, own->unproven, own->untold);
        }
    }
    printf("%s: %lu trials from seed %llu, %lu failed\n", failed ? "FAIL" : "ok", trials,
           (unsigned long long)first, failed);
    return failed > 0;
}

static int run_seeds(const char *bin, const char *folder, uint64_t first, uint64_t n,
                     const char *family, bool hunt) {
    struct counts counts[FAMILIES] = {0};
    for (uint64_t seed = first; seed < first + n; seed++) {
        struct trial trial;
        struct judgement judgement;
        char name[40];
        snprintf(name, sizeof name, "%llu", (unsigned long long)seed);
        judge_generate(&trial, seed);
        if (family && strcmp(family, family_name[trial.family]) != 0) {
            continue;
        }
        judge(&trial, bin, folder, &judgement);
        count(&judgement, &counts[trial.family]);
        if (bad(&judgement)) {
            tell(&trial, name, &judgement);
            if (hunt) {
                keep(&trial, bin, folder, name, &judgement);
            }
        }
    }
    return report(counts, first);
}

static int replay(const char *bin, const char *folder, int n, char **names) {
    int failed = 0;
    for (int i = 0; i < n; i++) {
        struct trial trial;
        struct judgement judgement = {.verdict = FAILED};
        if (trial_read(&trial, names[i])) {
            judge(&trial, bin, folder, &judgement);
        }
        if (bad(&judgement)) {
            failed++;
            tell(&trial, names[i], &judgement);
        }
    }
    printf("%s: %d trials from files, %d failed\n", failed ? "FAIL" : "ok", n, failed);
    return failed > 0;
}

static int show(const char *bin, const char *folder, uint64_t first, uint64_t count,
                const char *family) {
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct trial trial;
        struct judgement j;
        judge_generate(&trial, seed);
        if (family && strcmp(family, family_name[trial.family]) != 0) {
            continue;
        }
        judge(&trial, bin, folder, &j);
        printf("%llu\t%s\t%s\t%.17g\t%.17g\t%.3g\t%.3g\t%.3g\t%s\t%s\t", (unsigned long long)seed,
               family_name[trial.family], verdict_name[j.verdict], j.primal, j.dual,
               (j.primal - j.dual) / j.primal, trial_option(&trial, EPSILON),
               (j.upper - j.lower) / j.upper, j.reason, j.text);
        trial_command(&trial, "ROWS", "WEIGHTS", stdout);
    }
    return 0;
}

int main(int n, char **words) {
    if (n >= 5 && strcmp(words[3], "replay") == 0) {
        return replay(words[1], words[2], n - 4, words + 4);
    }
    if (n == 6 || n == 7) {
        uint64_t first = strtoull(words[4], NULL, 10), count = strtoull(words[5], NULL, 10);
        if (strcmp(words[3], "show") == 0) {
            return show(words[1], words[2], first, count, words[6]);
        }
        bool hunt = strcmp(words[3], "hunt") == 0;
        return run_seeds(words[1], words[2], first, count, words[6], hunt);
    }
    fputs("usage: adversary BIN FOLDER seeds|hunt|show FIRST COUNT [FAMILY], or replay FILE...\n",
          stderr);
    return 2;
}
