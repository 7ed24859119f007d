#include "families/rank/rank.h"

int main(int argc, char **argv) {
    return predict_main(argc, argv, &rank_predictor);
}
