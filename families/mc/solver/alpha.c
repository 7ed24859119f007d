/* Dense and sparse storage of the dual variables. */
#include "families/mc/solver/alpha.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Classes up to which rows are dense. With lists for all, fits take a fifth more time. */
enum { MAX_DENSE = 64 };

/* Reserves n entries in the list of row i. */
static int reserve(struct mc_alpha *alpha, size_t i, size_t n, struct error *err) {
    struct mc_list *list = &alpha->list[i];
    if (memory_grow(&list->entry, list->room, n, sizeof *list->entry, "dual variables", err) < 0) {
        return -1;
    }
    list->room = (uint32_t)memory_room(list->room, n);
    return 0;
}

int mc_alpha_create(struct mc_alpha *alpha, size_t n, size_t k, struct error *err) {
    *alpha = (struct mc_alpha){.n = n, .k = k};
    if (k <= MAX_DENSE) {
        alpha->dense = memory_zeros(n * k, sizeof *alpha->dense, "dual variables", err);
    } else {
        alpha->list = memory_zeros(n, sizeof *alpha->list, "dual variables", err);
    }
    return alpha->dense || alpha->list ? 0 : -1;
}

void mc_alpha_free(struct mc_alpha *alpha) {
    for (size_t i = 0; alpha->list && i < alpha->n; i++) {
        free(alpha->list[i].entry);
    }
    free(alpha->list);
    free(alpha->dense);
    *alpha = (struct mc_alpha){0};
}

int mc_alpha_copy(struct mc_alpha *to, const struct mc_alpha *from, struct error *err) {
    if (from->dense) {
        memcpy(to->dense, from->dense, from->n * from->k * sizeof *to->dense);
    }
    for (size_t i = 0; from->list && i < from->n; i++) {
        if (reserve(to, i, from->list[i].n, err) < 0) {
            return -1;
        }
        size_t n = from->list[i].n;
        to->list[i].n = from->list[i].n;
        if (n > 0) { /* an empty list may have no entries at all */
            memcpy(to->list[i].entry, from->list[i].entry, n * sizeof *to->list[i].entry);
        }
    }
    return 0;
}

void mc_alpha_load(const struct mc_alpha *alpha, size_t i, double *row) {
    if (alpha->dense) {
        memcpy(row, alpha->dense + i * alpha->k, alpha->k * sizeof *row);
        return;
    }
    memset(row, 0, alpha->k * sizeof *row);
    for (size_t e = 0; e < alpha->list[i].n; e++) {
        row[alpha->list[i].entry[e].c] = alpha->list[i].entry[e].value;
    }
}

int mc_alpha_store(struct mc_alpha *alpha, size_t i, const double *row, struct error *err) {
    if (alpha->dense) {
        memcpy(alpha->dense + i * alpha->k, row, alpha->k * sizeof *row);
        return 0;
    }
    size_t n = 0;
    for (size_t c = 0; c < alpha->k; c++) {
        n += row[c] != 0;
    }
    if (reserve(alpha, i, n, err) < 0) {
        return -1;
    }
    struct mc_list *list = &alpha->list[i];
    list->n = 0;
    for (size_t c = 0; c < alpha->k; c++) {
        if (row[c] != 0) {
            list->entry[list->n++] = (struct mc_entry){(uint32_t)c, row[c]};
        }
    }
    return 0;
}

double mc_alpha_sum(const struct mc_alpha *alpha, size_t i) {
    double sum = 0;
    for (size_t c = 0; alpha->dense && c < alpha->k; c++) {
        sum += alpha->dense[i * alpha->k + c];
    }
    for (size_t e = 0; alpha->list && e < alpha->list[i].n; e++) {
        sum += alpha->list[i].entry[e].value;
    }
    return sum;
}

void mc_alpha_scale(struct mc_alpha *alpha, size_t i, double factor) {
    for (size_t c = 0; alpha->dense && c < alpha->k; c++) {
        alpha->dense[i * alpha->k + c] *= factor;
    }
    for (size_t e = 0; alpha->list && e < alpha->list[i].n; e++) {
        alpha->list[i].entry[e].value *= factor;
    }
}

void mc_alpha_clip(struct mc_alpha *alpha, const double *row_cap) {
    for (size_t i = 0; i < alpha->n; i++) {
        double max = row_cap[i];
        for (size_t c = 0; alpha->dense && c < alpha->k; c++) {
            double *value = &alpha->dense[i * alpha->k + c];
            *value = *value > max ? max : *value;
        }
        for (size_t e = 0; alpha->list && e < alpha->list[i].n; e++) {
            double *value = &alpha->list[i].entry[e].value;
            *value = *value > max ? max : *value;
        }
    }
}
