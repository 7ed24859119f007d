# Unit tests of what all solvers share (fit, methods, common/linear_algebra).

load helper

@test "policies: each algorithm has one row in the table of its family, with its texts" {
    unit fit/policy
}

@test "monitors: wrapped monitors keep their limits of iterations and time" {
    unit fit/monitor
}

# bats test_tags=long
@test "blocked Cholesky factors of integer matrices are exact, for any number of threads" {
    unit common/linear_algebra/cholesky
}

@test "certificates: both bounds and their rounding-error bounds equal those of plain sums" {
    unit fit/certify
}

@test "certificates: constant scores, diagonal shifts, and the bounds that a solution reports" {
    unit fit/conclude
}

@test "low-rank surrogates of kernel matrices: solutions satisfy their systems" {
    unit common/kernel/low_rank
}

@test "reduced sets: points move to those whose function they reproduce, for any number of threads" {
    unit methods/reduced_set
}

@test "landmarks: features of a kernel matrix and its remaining diagonal, exact along columns that are added; their functions" {
    unit common/kernel/landmarks
}

@test "explicit features: found for kernel matrices of small rank, at any scale of floats; their functions" {
    unit common/kernel/explicit_features
}
