/* Memory that is available to this process: on the machine, by its resource limits, and by its
 * control groups. */
#ifndef COMMON_BASE_AVAILABLE_H
#define COMMON_BASE_AVAILABLE_H

/* All functions return bytes, as a double: INFINITY if there is no limit, or none is known. */

/* The minimum of what Linux reports as available without swapping, of what RLIMIT_AS and
 * RLIMIT_DATA leave, and of what the control groups of this process leave. */
double available_memory(void);

/* The maximum that the limits allow this process in total, however much is free. */
double available_limit(void);

/* What control groups leave; *max_total gets the maximum that they allow. `list` names the groups
 * of a process like /proc/self/cgroup, `root` is where they are mounted, like /sys/fs/cgroup.
 * Version 2 (memory.max less memory.current) and version 1 (memory.limit_in_bytes less
 * memory.usage_in_bytes), for the group and all groups above it; cached files that were not used
 * recently count as free. */
double available_in_groups(const char *list, const char *root, double *max_total);

#endif
