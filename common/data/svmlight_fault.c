/* The text of a parse error (svmlight.h). */
#include "common/base/number.h"
#include "common/data/svmlight.h"
#include "common/data/svmlight_characters.h"

#include <string.h>

/* True if a line, without its end, is ROWS FEATURES LABELS: three integers. */
static bool is_xmc_header(const char *line, const char *end) {
    uint64_t number;
    size_t n = 0;
    const char *p = skip_blanks(line), *after;
    while (p < end && (after = number_parse_unsigned(p, end, &number)) && is_part_end(after)) {
        p = skip_blanks(after);
        n++;
    }
    return n == 3 && p == end;
}

/* The tool that reads the format that the line seems to have, if it is not meant as a row; or "".
 */
static const char *remedy_of(const struct svmlight_fault *fault, uint64_t line_number) {
    const char *line = fault->line, *end = line;
    bool row = fault->n_values > 0, separators = false, tab = false;
    if (fault->hint == SVMLIGHT_ZERO_INDEX) {
        return fault->zero_based ? " (a comment says zero-based: tools/convert --zero-based)"
               : fault->has_serial
                   ? ""
                   : " (if indices count from 0: tools/convert --zero-based; if this "
                     "is 0:serial: train with -t precomputed)";
    }
    if (fault->hint == SVMLIGHT_TOO_LARGE) {
        return " (if that stands for a missing value: tools/convert --missing-words)";
    }
    for (; !is_line_end(end) && *end != '#'; end++) {
        row |= *end == ':' && end > line && end[-1] >= '0' && end[-1] <= '9';
        separators |= *end == ',' || *end == ';';
        tab |= *end == '\t';
    }
    if (row) {
        return "";
    }
    if (starts_with(line, "\x93NUMPY")) {
        return " (if this is .npy: tools/convert)";
    }
    if (*line == '@' || (*line == '%' && !starts_with(line, "%%Matrix"))) {
        return " (if this is ARFF: tools/convert)";
    }
    if (*line == '{' || *line == '[' || *line == '<') { /* JSON, HTML: commas are no hint */
        return "";
    }
    if (line_number == 1 && !tab && is_xmc_header(line, end)) {
        return " (if this is XMC, its first line ROWS FEATURES LABELS: tools/convert --from xmc)";
    }
    return separators || tab ? " (if this is CSV or TSV: tools/convert)" : "";
}

int svmlight_describe(const struct svmlight_fault *fault, const char *name, uint64_t lines_before,
                      struct error *err) {
    if (!fault->what) {
        *err = fault->memory;
        return -1;
    }
    uint64_t line_number = lines_before + fault->line_number;
    const char *remedy = remedy_of(fault, line_number);
    enum { MAX_SHOWN = 30 };
    char found[4 * MAX_SHOWN + 8];
    const char *at = fault->at;
    size_t n = 0;
    if (is_line_end(at) || *at == '#') {
        return error_set(err, ERROR_RUNTIME, "%s:%llu:%llu: %s: end of the row%s", name,
                         (unsigned long long)line_number,
                         (unsigned long long)(at - fault->line) + 1, fault->what, remedy);
    }
    found[n++] = '\'';
    for (int i = 0; i < MAX_SHOWN && !is_line_end(at) && (i == 0 || !is_blank(*at)); i++, at++) {
        if (*at == '\0') { /* other unprintable bytes are escaped by error_set */
            memcpy(found + n, "\\x00", 4);
            n += 4;
        } else {
            found[n++] = *at;
        }
    }
    found[n++] = '\'';
    found[n] = '\0';
    bool cut = !is_line_end(at) && !is_blank(*at);
    return error_set(err, ERROR_RUNTIME, "%s:%llu:%llu: %s: %s%s%s", name,
                     (unsigned long long)line_number,
                     (unsigned long long)(fault->at - fault->line) + 1, fault->what, found,
                     cut ? "..." : "", remedy);
}
