#include "families/ml/ml.h"

int main(int argc, char **argv) {
    return train_main(argc, argv, &ml_family);
}
