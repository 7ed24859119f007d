/* Version, families and errors of the library. */
#include "library/private.h"

#include "families/shared/tables.h"

#include <stdarg.h>
#include <string.h>

_Static_assert((int)DUALSVM_FAILED == (int)ERROR_RUNTIME, "kinds of errors are the same");
_Static_assert((int)DUALSVM_USAGE == (int)ERROR_USAGE, "kinds of errors are the same");
_Static_assert((int)DUALSVM_STOPPED == (int)ERROR_STOPPED, "kinds of errors are the same");
_Static_assert((int)DUALSVM_ERROR_TEXT == (int)ERROR_TEXT, "texts have the same room");

const char *dualsvm_version(void) {
    return DUALSVM_VERSION;
}

int dualsvm_version_number(void) {
    return DUALSVM_VERSION_NUMBER;
}

const struct family_tables library_families[] = {{&rank_family, &rank_predictor, &rank_candidates},
                                                 {&top_family, &top_predictor, NULL},
                                                 {&mc_family, &mc_predictor, NULL},
                                                 {&ml_family, &ml_predictor, NULL},
                                                 {&smm_family, &smm_predictor, NULL},
                                                 {NULL, NULL, NULL}};

const char *dualsvm_family_name(size_t i) {
    enum { N_FAMILIES = sizeof library_families / sizeof library_families[0] - 1 };
    return i < N_FAMILIES ? library_families[i].train->name : NULL;
}

int library_fail(dualsvm_error *to, const struct error *from) {
    if (to) {
        to->kind = from->kind == ERROR_NONE ? DUALSVM_FAILED : (int)from->kind;
        memcpy(to->text, from->text, sizeof to->text);
    }
    return -1;
}

int library_refuse(dualsvm_error *to, const char *format, ...) {
    struct error err = {0};
    va_list arguments;
    va_start(arguments, format);
    error_set_list(&err, ERROR_USAGE, format, arguments);
    va_end(arguments);
    return library_fail(to, &err);
}

const struct family_tables *library_family(const char *name, dualsvm_error *error) {
    for (const struct family_tables *tables = library_families; name && tables->train; tables++) {
        if (strcmp(tables->train->name, name) == 0) {
            return tables;
        }
    }
    library_refuse(error, "no family of models: '%.100s': rank, top, mc, ml or smm",
                   name ? name : "(NULL)");
    return NULL;
}
