#include "driver/program.h"
#include "families/shared/tables.h"

int main(int argc, char **argv) {
    return program_predict(argc, argv, &top_predictor);
}
