/* JSON output (RFC 8259): --json of all programs, an object in a line for each run. Its members
 * come from the lines of the report and the rows of the tables, so that they are listed once. */
#ifndef DRIVER_JSON_H
#define DRIVER_JSON_H

#include "common/base/output.h"
#include "driver/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Zero at first. Without an output all functions below do nothing. */
struct json {
    struct output *output;
    bool follows; /* a value precedes in the open object or array */
};

/* Opens an object '{' or an array '['. name: of the member; NULL: it is an item of an array, or the
 * object of a run. */
void json_open(struct json *json, const char *name, char bracket);

/* Closes an object '}' or an array ']'. */
void json_close(struct json *json, char bracket);

/* Writes a number as the shortest decimal that reads back to the same bits; null if it is not
 * finite. */
void json_number(struct json *json, const char *name, double value);

/* Writes a string of UTF-8. A byte that is not UTF-8 becomes \udcXX, as by Python's
 * surrogateescape. */
void json_text(struct json *json, const char *name, const char *text);

/* Opens the object of a run, and writes the program, its version, the options as they were given,
 * and the n files: `name` is that of the member. */
void json_begin_run(struct json *json, const char *program, const struct options *options,
                    const char *const *files, size_t n);

/* Closes the object of a run, and ends its line. */
void json_end_run(struct json *json);

/* Writes the lines `NAME = VALUE` of a report as members. VALUE is a number, an interval `A .. B`
 * (an array), `none` (null), or else a string; the text in parentheses after a number or `none` is
 * the member NAME-note. Lines `note = TEXT` become an array `notes`. A line `WORD` or `WORD: TEXT`
 * becomes the members `verdict` and `reason`. The text is modified. */
void json_report(struct json *json, char *lines);

/* Writes lines as an array of strings of that name, unless there is none. lines: each with a
 * newline; NULL: none. */
void json_lines(struct json *json, const char *name, const char *lines);

/* Writes a row of a table (tabs between cells), n bytes, as an object. header: the first line of
 * the table. Cells are numbers, null if empty, or else strings. */
void json_row(struct json *json, const char *header, const char *row, size_t n);

#endif
