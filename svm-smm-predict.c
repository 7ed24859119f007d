#include "families/smm/smm.h"

int main(int argc, char **argv) {
    return predict_main(argc, argv, &smm_predictor);
}
