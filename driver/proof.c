#include "driver/proof.h"

#include <stdio.h>
#include <string.h>

int proof_check(const struct family *family, const struct options *options, bool fitting,
                struct error *err) {
    const char *solver = family->solvers[options_choice(options, "solver")];
    if (!fitting) {
        return error_set(err, ERROR_USAGE, "--proof wants a fit of a model");
    }
    if (strcmp(solver, "fw") == 0) {
        return error_set(err, ERROR_USAGE,
                         "--proof is not for --solver fw, which does not keep its dual point");
    }
    return 0;
}

/* Weights that are not 1 of the rows, and the value of a constant feature. */
static void write_problem(const struct plain_fit *fit, struct proof_writer *proof) {
    const struct data *data = fit->problem.data;
    double bias = point_number_or(fit->point, "bias", 0);
    if (bias > 0) {
        proof_writer_number(proof, "constant", bias);
    }
    for (size_t i = 0; data->weight && i < fit->problem.n; i++) {
        if (data->weight[i] != 1) {
            char row[32];
            int length = snprintf(row, sizeof row, "%zu", i + 1);
            proof_writer_pair(proof, "row-weight", row, (size_t)length, data->weight[i]);
        }
    }
}

int proof_write(const struct plain_fit *fit, uint32_t fingerprint, uint32_t checksum,
                struct output *output, struct error *err) {
    struct proof_writer proof;
    if (proof_writer_open(&proof, output, fit->family->name, fit->problem.n, fingerprint, checksum,
                          err) < 0) {
        return -1;
    }
    write_problem(fit, &proof);
    proof.trivial = fit->solution.dual == 0;
    fit->family->prove(fit->state, fit->point, &proof);
    return proof_writer_end(&proof, err);
}
