# Kernels, kernel matrix, linear operators and scaling, below the programs.

load helper

@test "kernel: blocks in float and double agree with the definitions, dense, sparse and wide" {
    unit common/kernel/kernel
}

@test "gram: products agree with plain sums whatever is kept, to the bit for any threads" {
    unit common/kernel/gram
}

@test "linear: scores and transposed products agree with plain sums, to the bit for any threads" {
    unit common/kernel/linear
}

@test "kernel columns: squares and products, kept or computed, on any number of threads" {
    unit common/kernel/columns
}

@test "monitors: what stands before a monitor drops nothing of it, neither limits nor time" {
    unit solvers/methods/monitor
}

@test "huberised Newton: bounds hold and belong to the points kept, however the path ends" {
    unit solvers/methods/huber_path
}

@test "scale: training rows come out standardised, other rows get the same map" {
    unit common/data/scale
}
