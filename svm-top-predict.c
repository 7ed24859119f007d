#include "families/top/top.h"

int main(int argc, char **argv) {
    return predict_main(argc, argv, &top_predictor);
}
