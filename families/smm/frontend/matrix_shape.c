/* Parses and checks shapes of matrices (matrix_shape.h). */
#include "families/smm/frontend/matrix_shape.h"

#include "common/base/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Parses RxC, or R C: two positive integers whose product is below 2^32. */
static bool parse(const char *text, char between, struct matrix_shape *shape) {
    const char *end = text + strlen(text);
    const char *at = number_parse_unsigned(text, end, &shape->height);
    if (!at || *at != between) {
        return false;
    }
    at = number_parse_unsigned(at + 1, end, &shape->width);
    /* a comment may continue after the columns */
    return at && (*at == '\0' || (between == ' ' && *at == ' ')) && shape->height > 0 &&
           shape->width > 0 && shape->height < UINT32_MAX && shape->width < UINT32_MAX &&
           shape->height * shape->width < UINT32_MAX;
}

int matrix_shape_check(const struct options *options, struct error *err) {
    const char *text = options_text(options, "shape");
    struct matrix_shape shape;
    return !text || parse(text, 'x', &shape)
               ? 0
               : error_set(err, ERROR_USAGE, "option --shape: not ROWSxCOLUMNS: '%s'", text);
}

/* Prefix of a first line that gives a shape. */
static const char comment_key[] = "# matrix ";

static const char *behind_key(const char *comment) {
    size_t length = sizeof comment_key - 1;
    return strncmp(comment, comment_key, length) == 0 ? comment + length : NULL;
}

static bool differ(const struct matrix_shape *a, const struct matrix_shape *b) {
    return a->height != b->height || a->width != b->width;
}

/* Fails with "index N is outside of matrices of R x C" if the largest index is. */
static int check_index(uint32_t largest, const struct matrix_shape *shape, struct error *err) {
    return largest <= shape->height * shape->width
               ? 0
               : error_set(err, ERROR_RUNTIME,
                           "index %" PRIu32 " is outside of matrices of %" PRIu64 " x %" PRIu64,
                           largest, shape->height, shape->width);
}

/* Fails if rows whose first line is `comment` have another shape than that of `what`. */
static int check_comment(const char *comment, const struct matrix_shape *expected, const char *what,
                         struct error *err) {
    const char *given = behind_key(comment);
    struct matrix_shape of_rows;
    return given && parse(given, ' ', &of_rows) && differ(&of_rows, expected)
               ? error_set(err, ERROR_RUNTIME,
                           "the first line says matrices of %" PRIu64 " x %" PRIu64 ", %s %" PRIu64
                           " x %" PRIu64,
                           of_rows.height, of_rows.width, what, expected->height, expected->width)
               : 0;
}

int matrix_shape_find(struct matrix_shape *shape, const struct options *options,
                      const struct data *data, struct error *err) {
    if (options_given(options, "shape")) { /* check has validated it */
        parse(options_text(options, "shape"), 'x', shape);
        return check_comment(data->comment, shape, "--shape", err);
    }
    const char *given = behind_key(data->comment);
    if (!given) {
        return error_set(err, ERROR_RUNTIME,
                         "no shape of the matrices: --shape RxC, or a first line `# matrix R C`");
    }
    return parse(given, ' ', shape)
               ? 0
               : error_set(err, ERROR_RUNTIME, "the first line is no shape of matrices: '%s'",
                           data->comment);
}

int matrix_shape_check_held(const struct options *options, const struct data *training,
                            const struct data *held, struct error *err) {
    struct matrix_shape shape;
    struct error later; /* of the training rows, from matrix_shape_width */
    return matrix_shape_find(&shape, options, training, &later) < 0
               ? 0
               : check_comment(held->comment, &shape, "the training rows have", err);
}

int matrix_shape_width(const struct options *options, const struct data *data, uint32_t *width,
                       struct error *err) {
    struct matrix_shape shape;
    if (matrix_shape_find(&shape, options, data, err) < 0) {
        return -1;
    }
    if (check_index(data->n_features, &shape, err) < 0) {
        return -1;
    }
    *width = (uint32_t)(shape.height * shape.width);
    return 0;
}

void matrix_shape_limit(const char *shape, const char *comment, struct input_limit *limit) {
    const char *given = behind_key(comment);
    struct matrix_shape found = {0}, of_rows = {0};
    bool given_by_shape = shape && parse(shape, 'x', &found),
         given_by_rows = given && parse(given, ' ', &of_rows);
    *limit = (struct input_limit){0};
    if ((shape && !given_by_shape) || (!given_by_shape && !given_by_rows) ||
        (given_by_shape && given_by_rows && differ(&found, &of_rows))) {
        return; /* the caller reports a missing shape */
    }
    found = given_by_shape ? found : of_rows;
    limit->most = (uint32_t)(found.height * found.width);
    snprintf(limit->what, sizeof limit->what, "is outside of matrices of %" PRIu64 " x %" PRIu64,
             found.height, found.width);
}

int matrix_shape_takes(const char *shape, const struct data *rows, struct error *err) {
    struct matrix_shape of_model;
    if (!shape || !parse(shape, 'x', &of_model)) {
        return 0;
    }
    return check_comment(rows->comment, &of_model, "the model takes", err) < 0
               ? -1
               : check_index(rows->n_features, &of_model, err);
}
