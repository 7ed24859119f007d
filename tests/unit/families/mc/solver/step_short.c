/* The steps with vectors of 16 bytes, as builds for any processor have them. */
#define VECTOR_BYTES 16
#include "tests/unit/families/mc/solver/step.c"
