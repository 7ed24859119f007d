/* Checks of options against each other, and the plan of a run (plan.h). */
#define _POSIX_C_SOURCE 200809L /* stat, S_ISSOCK */
#include "driver/plan.h"

#include "common/data/distribute.h"
#include "common/data/scale.h"
#include "driver/calibration.h"
#include "driver/fit.h"
#include "driver/grid.h"
#include "driver/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool wants_gram(const struct family *family, const struct options *options) {
    struct kernel kernel = fit_kernel(family, (struct point){options, 0}, 1);
    return fit_wants_gram(family, options, &kernel);
}

/* Refuses options whose fit the family cannot distribute. */
static int check_family_distributes(const struct family *family, const struct options *options,
                                    struct error *err) {
    if (wants_gram(family, options) && !(family->has & FAMILY_DISTRIBUTED_GRAM)) {
        return error_set(err, ERROR_USAGE,
                         "fits of %s to kernels cannot be distributed over MPI processes",
                         family->name);
    }
    return family->check_distributed ? family->check_distributed(options, err) : 0;
}

/* Refuses options that need a single process. */
static int check_distributed_options(const struct family *family, const struct options *options,
                                     struct error *err) {
    const struct refusal refusals[] = {
        {options_given(options, "proof"), "--proof is not available for a distributed fit"},
        {options_given(options, "max-sv"), "--max-sv is not available for a distributed fit"},
        {0}};
    return options_refuse(refusals, err) < 0 ? -1 : check_family_distributes(family, options, err);
}

/* Decides how the processes share the work. */
static void share_work(struct plan *plan, const struct family *family,
                       const struct options *options, const struct cluster *cluster) {
    struct error ignored;
    bool gram = wants_gram(family, options);
    plan->replicated = plan->cross_validating ||
                       (calibration_wanted(family, options) &&
                        !(gram && check_family_distributes(family, options, &ignored) == 0));
    plan->distributed = cluster && !plan->replicated && !gram;
}

/* Refuses files that several processes cannot read. A pipe delivers its bytes to one reader only;
 * the other processes would block in open. */
static int check_file(const char *path, struct error *err) {
    struct stat status;
    if (strcmp(path, "-") == 0) {
        return error_set(err, ERROR_USAGE,
                         "several MPI processes cannot read standard input: name a file");
    }
    if (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) {
        return error_set(err, ERROR_RUNTIME, "%s: a pipe: MPI processes read regular files", path);
    }
    return 0;
}

/* Checks the training file, or this process's part of it. */
static int check_rows(const char *path, const struct cluster *cluster, struct error *err) {
    if (!distribute_has_parts(path)) {
        return check_file(path, err);
    }
    char *own = distribute_part_path(path, cluster_rank(cluster), err);
    int status = own ? check_file(own, err) : -1;
    free(own);
    return status;
}

static int check_files(const struct plan *plan, const struct options *options,
                       const struct cluster *cluster, struct error *err) {
    static const char *const reads[] = {"fold-file", "validate", "row-weights"};
    if (distribute_has_parts(options->operand[0]) && !plan->distributed) {
        return error_set(err, ERROR_USAGE,
                         "a training file in parts (%%d) is for a fit whose rows are distributed "
                         "over MPI processes: of the linear kernel, without cross-validation");
    }
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        const char *path = options_text(options, reads[i]);
        if (path && check_file(path, err) < 0) {
            return -1;
        }
    }
    return check_rows(options->operand[0], cluster, err);
}

/* Refuses files that only the fit of a model writes. */
static int check_fitting(const struct family *family, const struct options *options,
                         struct error *err) {
    const char *const files[] = {"proof", "libsvm", "liblinear", family->extra_option};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i] && options_given(options, files[i])) {
            return error_set(err, ERROR_USAGE, "--%s wants a fit of a model", files[i]);
        }
    }
    return 0;
}

/* Refuses inconsistent options. */
static int check_options(const struct plan *plan, const struct family *family,
                         const struct options *options, const struct cluster *cluster,
                         struct error *err) {
    const char *resume = options_text(options, "resume");
    struct kernel kernel = fit_kernel(family, (struct point){options, 0}, 1);
    enum scale_kind scale = (enum scale_kind)options_choice(options, "scale");
    bool single = !plan->cross_validating, shard = options_given(options, "shard");
    char points[100];
    snprintf(points, sizeof points,
             "%zu points want --folds, --fold-file or --validate to choose by", options->n_points);
    const struct refusal refusals[] = {
        {options_given(options, "validate") &&
             (options_given(options, "folds") || options_given(options, "fold-file")),
         "--validate excludes --folds and --fold-file"},
        {single && options->n_points > 1, points},
        {single && options_given(options, "select"),
         "--select wants --folds, --fold-file or --validate"},
        {single && resume, "--resume wants --folds, --fold-file or --validate"},
        {single && shard, "--shard wants --folds, --fold-file or --validate"},
        {resume && strcmp(resume, "-") == 0, "--resume wants a file that can be read and added to"},
        {shard && plan->fitting,
         "--shard writes no model: the best of all parts is known when their tables are joined, "
         "then --resume fits it"},
        {0}};
    const struct refusal others[] = {
        {options_given(options, "max-sv") && !fit_wants_gram(family, options, &kernel),
         "--max-sv is for kernels other than the linear one"},
        {kernel.type == KERNEL_PRECOMPUTED && scale != SCALE_NONE,
         "a precomputed kernel has no features to --scale"},
        {0}};
    if (options_refuse(refusals, err) < 0 ||
        (!plan->fitting && check_fitting(family, options, err) < 0) ||
        (options_given(options, "proof") && report_check_proof(family, options, err) < 0) ||
        options_refuse(others, err) < 0 ||
        (options_given(options, "libsvm") && model_export_check(&kernel, scale, true, err) < 0) ||
        (options_given(options, "liblinear") &&
         model_export_check(&kernel, scale, false, err) < 0) ||
        (family->check && family->check(options, err) < 0)) {
        return -1;
    }
    if (cluster && plan->distributed && scale == SCALE_QUANTILE) {
        return error_set(
            err, ERROR_USAGE,
            "--scale quantile is not available for rows distributed over MPI processes");
    }
    if (cluster && !plan->replicated && check_distributed_options(family, options, err) < 0) {
        return -1;
    }
    return cluster ? check_files(plan, options, cluster, err) : 0;
}

static int plan_for_application(struct plan *plan, const struct application *application,
                                bool folds, struct error *err) {
    const struct refusal refusals[] = {
        {application->cross_validating && !folds && !application->folds,
         "cross-validation wants --folds, --fold-file, --validate or folds of the data"},
        {!application->cross_validating && folds,
         "--folds, --fold-file and --validate are for cross-validation"},
        {application->folds && folds,
         "folds of the data exclude --folds, --fold-file and --validate"},
        {0}};
    plan->cross_validating = plan->table = application->cross_validating;
    plan->fitting = application->fitting;
    return options_refuse(refusals, err);
}

static int plan_for_files(struct plan *plan, const struct options *options, bool folds,
                          struct error *err) {
    if (options->n_operands < 1 || options->n_operands > 2) {
        return error_set(err, ERROR_USAGE, "%s",
                         options->n_operands ? "too many file names" : "no training file");
    }
    plan->cross_validating = folds;
    plan->table = folds && (grid_wanted(options) || options_given(options, "resume") ||
                            options_given(options, "shard"));
    plan->fitting = !folds || (plan->table && options->n_operands > 1);
    return 0;
}

int plan_make(struct plan *plan, const struct family *family, const struct options *options,
              const struct application *application, const struct cluster *cluster,
              struct error *err) {
    bool folds = options_given(options, "folds") || options_given(options, "fold-file") ||
                 options_given(options, "validate");
    *plan = (struct plan){0};
    if ((application ? plan_for_application(plan, application, folds, err)
                     : plan_for_files(plan, options, folds, err)) < 0) {
        return -1;
    }
    share_work(plan, family, options, cluster);
    return check_options(plan, family, options, cluster, err);
}
