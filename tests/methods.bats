# What solvers have in common (solvers/methods), below the programs.

load helper

@test "policies: an algorithm has one row in the table of its family, with its words" {
    unit fit/policy
}

@test "monitors: what stands before a monitor drops nothing of it, neither limits nor time" {
    unit fit/monitor
}

@test "factors by blocks: exact ones of whole numbers, to the bit for any threads" {
    unit common/linear_algebra/cholesky
}

@test "certificates: both bounds, and what is paid for rounding, are those of plain sums" {
    unit fit/certify
}

@test "certificates: what counts as equal, what is added to a diagonal, and what a solution says" {
    unit fit/conclude
}

@test "columns and a diagonal in place of a kernel matrix have its trace, and its entries where it is smooth" {
    unit common/kernel/low_rank
}
