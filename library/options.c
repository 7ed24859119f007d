/* Options, stored as the words of a command line, which the parser of the programs reads. */
#include "library/private.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "driver/predict.h"
#include "driver/spelling.h"
#include "driver/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options about the output of a program; functions of the library provide the same in other
 * ways. */
static const char *const not_of_train[] = {"force", "resume",  "shard", "strict", "quiet",
                                           "log",   "json",    "proof", "libsvm", "liblinear",
                                           "help",  "version", NULL};
static const char *const not_of_predict[] = {"metrics",    "json",       "by-query",      "batch",
                                             "output-dir", "keep-going", "skip-existing", "force",
                                             "quiet",      "help",       "version",       NULL};
static const char *const not_of_candidates[] = {"truth", "best", "json",    "standards",
                                                "quiet", "help", "version", NULL};

bool library_has_option(const struct dualsvm_options *options, const struct option_spec *spec) {
    bool trains = options->role == DUALSVM_TRAIN;
    const char *const *other = trains                             ? not_of_train
                               : options->role == DUALSVM_PREDICT ? not_of_predict
                                                                  : not_of_candidates;
    const char *extra = options->family->train->extra_option;
    for (; *other; other++) {
        if (strcmp(*other, spec->name) == 0) {
            return false;
        }
    }
    return !(trains && extra && strcmp(extra, spec->name) == 0);
}

/* Fills *read with the options of svm-rank-candidates. Its lists are for --truth only. */
static int candidates_options(struct options *read, const struct program *program,
                              struct error *err) {
    int status = options_add(read, program->options, program->n_options, 0, err);
    for (size_t i = 0; i < read->n; i++) {
        struct option_spec *spec = &read->option[i].spec;
        spec->level = spec->level == OPTION_LIST ? OPTION_SINGLE : spec->level;
    }
    return status;
}

/* Parses n words, which must outlive the result. */
static int read_words(struct options *read, const struct dualsvm_options *options, char **word,
                      size_t n, struct error *err) {
    *read = (struct options){0};
    int status = options->role == DUALSVM_TRAIN ? train_options(read, options->family->train, err)
                 : options->role == DUALSVM_PREDICT
                     ? predict_options(read, options->family->predict, err)
                     : candidates_options(read, options->family->candidates, err);
    status = status < 0 ? -1 : options_parse(read, (int)n, word, err);
    if (status < 0) {
        options_free(read);
    }
    return status;
}

/* Creates options from n words, which are copied. */
static int make(struct dualsvm_options **options, const struct family_tables *family, int role,
                const char *const *word, size_t n, dualsvm_error *error) {
    struct error err = {0};
    struct dualsvm_options *made = memory_zeros(1, sizeof *made, "options", &err);
    if (!made) {
        return library_fail(error, &err);
    }
    made->family = family;
    made->role = role;
    made->word = memory_array(n, sizeof *made->word, "options", &err);
    int status = made->word ? 0 : -1;
    for (size_t i = 0; i < n && status == 0; i++) {
        made->word[i] = memory_text(word[i], strlen(word[i]), "an option", &err);
        status = made->word[i] ? 0 : -1;
        made->n_words += status == 0;
    }
    if (status < 0 || read_words(&made->options, made, made->word, n, &err) < 0) {
        dualsvm_options_free(made);
        return library_fail(error, &err);
    }
    *options = made;
    return 0;
}

int dualsvm_options_create(dualsvm_options **options, const char *family, int role,
                           dualsvm_error *error) {
    if (!options) {
        return library_refuse(error, "no place for options");
    }
    *options = NULL;
    const struct family_tables *tables = library_family(family, error);
    if (!tables) {
        return -1;
    }
    if (role != DUALSVM_TRAIN && role != DUALSVM_PREDICT && role != DUALSVM_CANDIDATES) {
        return library_refuse(error, "options of no trainer, predictor or candidates: %d", role);
    }
    if (role == DUALSVM_CANDIDATES && !tables->candidates) {
        return library_refuse(error, "%s has no options of candidates: they are of rank",
                              tables->train->name);
    }
    return make(options, tables, role, &(const char *){"dualsvm"}, 1, error);
}

int dualsvm_options_copy(dualsvm_options **copy, const dualsvm_options *options,
                         dualsvm_error *error) {
    if (copy) {
        *copy = NULL;
    }
    if (!copy || !options) {
        return library_refuse(error, "no options to copy, or no place for them");
    }
    return make(copy, options->family, options->role, (const char *const *)options->word,
                options->n_words, error);
}

void dualsvm_options_free(dualsvm_options *options) {
    if (!options) {
        return;
    }
    options_free(&options->options);
    for (size_t i = 0; i < options->n_words; i++) {
        free(options->word[i]);
    }
    free(options->word);
    free(options);
}

/* The option with that name or letter; NULL: the library has none. */
static const struct option *find(const struct dualsvm_options *options, const char *name) {
    for (size_t i = 0; i < options->options.n; i++) {
        const struct option *option = &options->options.option[i];
        bool named = strcmp(option->spec.name, name) == 0 ||
                     (option->spec.letter && name[0] == option->spec.letter && !name[1]);
        if (named && library_has_option(options, &option->spec)) {
            return option;
        }
    }
    return NULL;
}

/* Returns whether the word sets that option. */
static bool sets(const char *word, const struct option_spec *spec) {
    size_t length = strlen(spec->name);
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, spec->name, length) == 0 &&
           (word[2 + length] == '=' || !word[2 + length]);
}

/* "--NAME=VALUE", or "--NAME" for a flag that is 1. */
static char *make_word(const struct option_spec *spec, const char *value, struct error *err) {
    bool plain = spec->kind == OPTION_FLAG && strcmp(value, "1") == 0;
    struct text word = {0};
    text_format(&word, "--%s%s%s", spec->name, plain ? "" : "=", plain ? "" : value);
    return text_end(&word, "an option", err);
}

/* Sets an option, or with value NULL removes what was set. On an error nothing changes. */
static int set(struct dualsvm_options *options, const struct option_spec *named, const char *value,
               struct error *err) {
    const struct option_spec spec = *named; /* a copy, since the table is replaced */
    bool keep = value && spec.kind == OPTION_WEIGHTS;
    struct options read;
    char **word = memory_array(options->n_words + 1, sizeof *word, "options", err);
    char *fresh = word && value ? make_word(&spec, value, err) : NULL;
    int status = word && (fresh || !value) ? 0 : -1;
    size_t n = 0;
    for (size_t i = 0; status == 0 && i < options->n_words; i++) {
        if (keep || i == 0 || !sets(options->word[i], &spec)) {
            word[n++] = options->word[i];
        }
    }
    if (status == 0 && fresh) {
        word[n++] = fresh;
    }
    if (status < 0 || read_words(&read, options, word, n, err) < 0) {
        free(word);
        free(fresh);
        return -1;
    }
    for (size_t i = 1; i < options->n_words && !keep; i++) {
        if (sets(options->word[i], &spec)) {
            free(options->word[i]);
        }
    }
    free(options->word);
    options->word = word;
    options->n_words = n;
    options_free(&options->options);
    options->options = read;
    return 0;
}

int dualsvm_options_set(dualsvm_options *options, const char *name, const char *value,
                        dualsvm_error *error) {
    if (!options || !name) {
        return library_refuse(error, "no options, or no name of one");
    }
    const struct option *option = find(options, name);
    if (!option) {
        char hint[SPELLING_HINT];
        struct spelling spelling = spelling_of(name, strlen(name));
        for (size_t i = 0; i < options->options.n; i++) {
            const struct option_spec *spec = &options->options.option[i].spec;
            if (library_has_option(options, spec)) {
                spelling_add(&spelling, spec->name);
            }
        }
        return library_refuse(error, "unknown option: '%.100s'%s", name,
                              spelling_hint(&spelling, "", hint));
    }
    if (option->spec.kind == OPTION_FLAG && value) {
        const char *word = option->spec.word;
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0 &&
            !(word && strcmp(value, word) == 0)) {
            return library_refuse(error, "option --%s: not 0%s%s or 1: '%.100s'", option->spec.name,
                                  word ? ", " : "", word ? word : "", value);
        }
        value = strcmp(value, "0") == 0 ? NULL : value;
    }
    struct error err = {0};
    return set(options, &option->spec, value, &err) < 0 ? library_fail(error, &err) : 0;
}

int dualsvm_options_set_number(dualsvm_options *options, const char *name, double value,
                               dualsvm_error *error) {
    char text[NUMBER_LENGTH];
    if (!isfinite(value)) {
        return library_refuse(error, "option %.100s: not a finite number", name ? name : "(NULL)");
    }
    number_format(value, text);
    return dualsvm_options_set(options, name, text, error);
}

const char *dualsvm_options_get(const dualsvm_options *options, const char *name) {
    const struct option *option = options && name ? find(options, name) : NULL;
    return option ? option->text : NULL;
}

_Static_assert((int)DUALSVM_FLAG == (int)OPTION_FLAG && (int)DUALSVM_NUMBER == (int)OPTION_NUMBER &&
                   (int)DUALSVM_COUNT == (int)OPTION_COUNT &&
                   (int)DUALSVM_CHOICE == (int)OPTION_CHOICE &&
                   (int)DUALSVM_TEXT == (int)OPTION_TEXT &&
                   (int)DUALSVM_WINDOW == (int)OPTION_WINDOW &&
                   (int)DUALSVM_WEIGHTS == (int)OPTION_WEIGHTS,
               "types of options are the same");

int dualsvm_options_describe(const dualsvm_options *options, size_t i, dualsvm_option *option,
                             size_t size) {
    for (size_t k = 0; options && option && k < options->options.n; k++) {
        const struct option_spec *spec = &options->options.option[k].spec;
        if (!library_has_option(options, spec) || i-- > 0) {
            continue;
        }
        dualsvm_option described = {.name = spec->name,
                                    .letter = spec->letter,
                                    .type = (int)spec->kind,
                                    .is_list = spec->level != OPTION_SINGLE,
                                    .initial = spec->initial,
                                    .absent = spec->absent,
                                    .value = spec->value,
                                    .help = spec->help,
                                    .choices = spec->choices,
                                    .meanings = spec->meanings,
                                    .low = spec->low,
                                    .high = spec->high,
                                    .low_excluded = spec->low_excluded};
        memcpy(option, &described, size < sizeof described ? size : sizeof described);
        return 1;
    }
    return 0;
}
