#include "driver/program.h"
#include "families/top/top.h"

int main(int argc, char **argv) {
    return program_predict(argc, argv, &top_predictor);
}
