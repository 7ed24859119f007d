/* Random draws that several generators share. They use only +, -, * and comparisons on doubles, or
 * integers: the numbers are the same on every machine. */
#ifndef DATASETS_DRAW_H
#define DATASETS_DRAW_H

#include "common/base/random.h"

#include <stddef.h>
#include <stdint.h>

/* Approximately standard normal: the sum of twelve uniform numbers, less 6. */
double draw_normal(struct random *random);

/* The same in whole units, `unit` of them to 1. */
int64_t draw_bell(struct random *random, int64_t unit);

/* A number of 0..n-1 by a power law: n times the cube of a uniform number, so that small ones are
 * frequent. */
uint64_t draw_power_law(struct random *random, uint64_t n);

/* A column, of n, by the power law: frequent columns are scattered. */
uint32_t draw_column(struct random *random, uint64_t n);

/* Sorts column[0..n) in ascending order. */
void sort_columns(uint32_t *column, size_t n);

/* The same, and keeps each column once; returns how many are left. */
size_t sort_distinct_columns(uint32_t *column, size_t n);

#endif
