/* The table of confusions against counts of the rows themselves, with labels that the model does
 * not know, each by itself or as one. */
#include "families/confusion.h"

#include "common/base/random.h"
#include "tests/unit/check.h"

#include <math.h>
#include <string.h>

enum { K = 5, FILE_NAMES = 40, ROWS = 3000 };

static struct names named(size_t first, size_t n) {
    struct names names = {0};
    struct error err;
    for (size_t i = 0; i < n; i++) {
        char text[16];
        uint32_t number;
        int length = snprintf(text, sizeof text, "c%zu", first + i);
        CHECK_TRUE(names_add(&names, text, (size_t)length, &number, &err) == 0 && number == i);
    }
    return names;
}

/* Rows with names c2 ... of the file, in any order, against the model's c0 ... c4. */
static void check_table(bool lumped, bool cells, uint64_t seed) {
    static double expected[FILE_NAMES + 3][K];
    struct random random;
    struct error err;
    struct confusion confusion;
    struct labels labels = {named(0, K)};
    size_t seen = 0;
    double n_right = 0, n_counted = 0;
    memset(expected, 0, sizeof expected);
    random_start(&random, seed, 1);
    CHECK_TRUE(confusion_create(&confusion, &labels, lumped, cells, &err) == 0);
    for (size_t i = 0; i < ROWS; i++) {
        size_t most = 1 + i * FILE_NAMES / ROWS; /* names come in the course of the file */
        if (most > seen) {
            struct names names = named(2, most);
            CHECK_TRUE(confusion_names(&confusion, &names, &err) == 0);
            names_free(&names);
            seen = most;
        }
        uint32_t name = (uint32_t)random_below(&random, seen + 1);
        size_t predicted = random_below(&random, K);
        confusion_add(&confusion, name == seen ? UINT32_MAX : name, predicted);
        if (name < seen) {
            size_t label = lumped && name + 2 >= K ? K : name + 2;
            expected[label][predicted]++;
            n_right += label == predicted;
            n_counted++;
        }
    }
    size_t n = confusion_labels(&confusion);
    CHECK(n == (lumped ? K + 1 : FILE_NAMES + 2), "%zu labels", n);
    double recalls = 0, occur = 0, f1 = 0, n_f1 = 0;
    for (size_t l = 0; l < n; l++) {
        double actual = 0, right = l < K ? expected[l][l] : 0, taken = 0;
        char name[24];
        snprintf(name, sizeof name, "c%zu", l);
        CHECK_TRUE(strcmp(confusion_name(&confusion, l), lumped && l == K ? "(other)" : name) == 0);
        for (size_t p = 0; p < K; p++) {
            actual += expected[l][p];
            CHECK(!cells || confusion.cell[l * K + p] == expected[l][p], "cell %zu, %zu", l, p);
        }
        for (size_t a = 0; l < K && a < n; a++) {
            taken += expected[a][l];
        }
        CHECK_TRUE(confusion.actual[l] == actual && confusion.right[l] == right);
        CHECK_TRUE(l >= K || confusion.predicted[l] == taken);
        recalls += actual > 0 ? right / actual : 0;
        occur += actual > 0;
        f1 += actual + taken > 0 ? 2 * right / (actual + taken) : 0;
        n_f1 += actual + taken > 0;
    }
    struct confusion_rates rates = confusion_rates(&confusion);
    CHECK_TRUE(rates.rows == n_counted && rates.accuracy == n_right / n_counted);
    CHECK_TRUE(fabs(rates.balanced - recalls / occur) < 1e-15);
    CHECK_TRUE(fabs(rates.macro_f1 - f1 / n_f1) < 1e-15);
    CHECK_TRUE(cells == (confusion.cell != NULL));
    confusion_free(&confusion);
}

static void check_empty(void) {
    struct error err;
    struct confusion confusion;
    struct labels labels = {named(0, K)};
    CHECK_TRUE(confusion_create(&confusion, &labels, false, false, &err) == 0);
    struct confusion_rates rates = confusion_rates(&confusion);
    CHECK_TRUE(rates.rows == 0 && isnan(rates.accuracy) && isnan(rates.balanced) &&
               isnan(rates.macro_f1));
    confusion_free(&confusion);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 8; seed++) {
        check_table(seed & 1, seed & 2, seed);
    }
    printf("ok: counts and rates, unknown labels apart or as one\n");
    check_empty();
    printf("ok: without rows there is nothing to divide by\n");
    return 0;
}
