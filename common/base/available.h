/* Memory that this process may still have: of the machine, of its limits and of its container. */
#ifndef COMMON_BASE_AVAILABLE_H
#define COMMON_BASE_AVAILABLE_H

/* Bytes, a double as all here: INFINITY where nothing limits, or nothing is known. */

/* The least of what Linux thinks free without swapping, of what RLIMIT_AS and RLIMIT_DATA leave,
 * and of what the control groups of this process leave. */
double available_memory(void);

/* The most that limits let this process have in all, however much is free. */
double available_limit(void);

/* What control groups leave, and what they let it have at the most: `list` names those of a process
 * as /proc/self/cgroup does, `root` is where they are mounted, as /sys/fs/cgroup. Version 2
 * (memory.max less memory.current) and 1 (memory.limit_in_bytes less memory.usage_in_bytes), of the
 * group and of those above it; files that are cached and were not used of late count as free. */
double available_in_groups(const char *list, const char *root, double *most);

#endif
