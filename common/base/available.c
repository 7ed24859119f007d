/* Available memory from /proc and the control groups. _GNU_SOURCE: O_CLOEXEC, strtok_r. */
#define _GNU_SOURCE
#include "common/base/available.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TEXT_BYTES = 8192, PATH_BYTES = 4096 };

/* Larger limits are none: version 1 reports 2^63 less a page. */
static const double NO_LIMIT = 0x1p60;

/* Reads the beginning of a system file into text; false if the file does not exist. */
static bool read_text(const char *path, char text[TEXT_BYTES]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The number after a key at the beginning of a line; `missing` if there is none. */
static double number_after(const char *text, const char *key, double missing) {
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0) {
            return strtod(line + length, NULL);
        }
    }
    return missing;
}

/* ---- control groups ---- */

/* The files of each version of control groups, and the key of cached files. */
static const struct version {
    const char *controller, *folder, *limit, *used, *cached;
} versions[] = {{"", "", "memory.max", "memory.current", "inactive_file "},
                {"memory", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                 "total_inactive_file "}};

/* What the group at `path` leaves; *max_total becomes its limit, if that is smaller. */
static double left_by_group(const struct version *version, const char *path, double *max_total) {
    char name[PATH_BYTES + 32], text[TEXT_BYTES];
    snprintf(name, sizeof name, "%s/%s", path, version->limit);
    char *end;
    double limit = read_text(name, text) ? strtod(text, &end) : INFINITY;
    if (!(limit < NO_LIMIT) || end == text) { /* `max` is not a number */
        return INFINITY;
    }
    *max_total = fmin(*max_total, limit);
    snprintf(name, sizeof name, "%s/%s", path, version->used);
    double used = read_text(name, text) ? strtod(text, NULL) : 0;
    snprintf(name, sizeof name, "%s/memory.stat", path);
    used -= read_text(name, text) ? number_after(text, version->cached, 0) : 0;
    return fmax(0, limit - fmax(0, used));
}

/* The same for the group and all groups above it; in a container, up to the root of the mount. */
static double left_by_line(const struct version *version, const char *root, const char *group,
                           double *max_total) {
    char path[PATH_BYTES];
    double left = INFINITY;
    int root_length = snprintf(path, sizeof path, "%s%s", root, version->folder);
    int n = snprintf(path, sizeof path, "%s%s%s", root, version->folder, group);
    if (n < 0 || (size_t)n >= sizeof path) {
        return INFINITY;
    }
    for (;;) {
        left = fmin(left, left_by_group(version, path, max_total));
        char *slash = strrchr(path, '/');
        if (!slash || slash < path + root_length) {
            return left;
        }
        *slash = '\0';
    }
}

double available_in_groups(const char *list, const char *root, double *max_total) {
    char text[TEXT_BYTES], *place = NULL;
    double left = INFINITY;
    *max_total = INFINITY;
    if (!read_text(list, text)) {
        return left;
    }
    /* number:controllers:group */
    for (char *line = strtok_r(text, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) {
            continue;
        }
        controllers++;
        *group++ = '\0';
        for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
            if (strcmp(controllers, versions[v].controller) == 0) {
                left = fmin(left, left_by_line(&versions[v], root, group, max_total));
            }
        }
    }
    return left;
}

/* ---- all ---- */

/* What a resource limit leaves, of which this process uses the pages in that column of statm. */
static double left_of(const struct rlimit *limit, int column) {
    char text[TEXT_BYTES], *at = text;
    if (limit->rlim_cur == RLIM_INFINITY) {
        return INFINITY;
    }
    double pages = 0;
    read_text("/proc/self/statm", text);
    for (int i = 0; i <= column; i++) {
        pages = strtod(at, &at);
    }
    return fmax(0, (double)limit->rlim_cur - pages * (double)sysconf(_SC_PAGESIZE));
}

/* What the limits of the address space and of data leave; both count memory that is mapped but not
 * used. *max_total gets the smaller limit. */
static double left_of_limits(double *max_total) {
    enum { SIZE = 0, DATA = 5 };
    struct rlimit addresses = {.rlim_cur = RLIM_INFINITY}, data = addresses;
    getrlimit(RLIMIT_AS, &addresses);
    getrlimit(RLIMIT_DATA, &data);
    rlim_t min_limit = addresses.rlim_cur < data.rlim_cur ? addresses.rlim_cur : data.rlim_cur;
    *max_total = min_limit == RLIM_INFINITY
                     ? INFINITY
                     : (double)min_limit; /* RLIM_INFINITY is the largest value */
    return fmin(left_of(&addresses, SIZE), left_of(&data, DATA));
}

static double groups(double *max_total) {
    return available_in_groups("/proc/self/cgroup", "/sys/fs/cgroup", max_total);
}

double available_memory(void) {
    char text[TEXT_BYTES];
    double max_total, free_kb = INFINITY;
    if (read_text("/proc/meminfo", text)) {
        free_kb = number_after(text, "MemAvailable:", INFINITY);
    }
    return fmin(1024 * free_kb, fmin(left_of_limits(&max_total), groups(&max_total)));
}

double available_limit(void) {
    double limits, all;
    left_of_limits(&limits);
    groups(&all);
    return fmin(limits, all);
}
