/* The list of the families: nothing below knows them all. */
#include "driver/family.h"

#include "families/shared/tables.h"

#include <string.h>

const struct family_tables families[] = {
    {&rank_family, &rank_predictor}, {&top_family, &top_predictor}, {&mc_family, &mc_predictor},
    {&ml_family, &ml_predictor},     {&smm_family, &smm_predictor}, {NULL, NULL}};

const struct family_tables *families_find(const char *name) {
    for (const struct family_tables *tables = families; tables->train; tables++) {
        if (strcmp(tables->train->name, name) == 0) {
            return tables;
        }
    }
    return NULL;
}
