# Kernels, the kernel matrix and linear scores (common/kernel), without the programs.

load helper

# bats test_tags=long
@test "kernel: blocks in float and double agree with the definitions, dense, sparse and wide" {
    unit common/kernel/kernel
}

@test "kernels: sums over tasks are added in order, whichever task ends first" {
    unit common/kernel/task_sums
}

# bats test_tags=long
@test "kernels: values and scores in double-double are within their bounds of the true ones" {
    unit common/kernel/kernel_dd
}

# bats test_tags=long
@test "gram: products equal plain sums for any cached part, to the bit for any threads" {
    unit common/kernel/gram_dd
}

# bats test_tags=long
@test "linear: scores and transposed products agree with plain sums, to the bit for any threads" {
    unit common/kernel/linear
}
