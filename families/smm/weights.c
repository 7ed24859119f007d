#include "families/smm/weights.h"

static void write_matrix(struct output *output, const double *matrix, size_t height, size_t width,
                         size_t stride) {
    for (size_t a = 0; a < height; a++) {
        for (size_t c = 0; c < width; c++) {
            output_write(output, " ", c > 0);
            output_number(output, matrix[a * stride + c]);
        }
        output_write(output, "\n", 1);
    }
}

/* One machine: W, then s, U and V in columns. */
static void write_machine(const struct smm_machine *machine, size_t height, size_t width,
                          struct output *output) {
    size_t k = height < width ? height : width, r = machine->rank;
    output_format(output, "# bias\n");
    output_number(output, machine->bias);
    output_format(output, "\n# B %zu %zu\n", height, width);
    write_matrix(output, machine->W, height, width, width);
    output_format(output, "# singular-values %zu\n", r);
    write_matrix(output, machine->s, r > 0, r, r);
    output_format(output, "# U %zu %zu\n", height, r);
    write_matrix(output, machine->U, r > 0 ? height : 0, r, k);
    output_format(output, "# V %zu %zu\n", width, r);
    for (size_t c = 0; r > 0 && c < width; c++) {
        for (size_t j = 0; j < r; j++) {
            output_write(output, " ", j > 0);
            output_number(output, machine->Vt[j * width + c]);
        }
        output_write(output, "\n", 1);
    }
}

void smm_weights_write(const struct smm *smm, struct output *output) {
    const struct names *names = &smm_labels(smm)->names;
    size_t height, width, n;
    const struct smm_machine *machine = smm_machines(smm, &n);
    smm_shape(smm, &height, &width);
    for (size_t m = 0; m < n; m++) {
        output_format(output, "# positive %s\n", names->name[n == 1 ? 1 : m]);
        write_machine(&machine[m], height, width, output);
    }
}
