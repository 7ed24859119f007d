#include "families/ml/ml.h"

int main(int argc, char **argv) {
    return predict_main(argc, argv, &ml_predictor);
}
