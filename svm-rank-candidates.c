#include "driver/program.h"
#include "families/shared/tables.h"

int main(int argc, char **argv) {
    return program_run(argc, argv, &rank_candidates);
}
