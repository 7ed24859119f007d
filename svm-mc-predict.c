#include "families/mc/mc.h"

int main(int argc, char **argv) {
    return predict_main(argc, argv, &mc_predictor);
}
