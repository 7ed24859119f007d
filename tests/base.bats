# The ground that all stands on (common/base), below the programs.

load helper

@test "number: parsing equals strtod, formatting is the shortest" {
    unit common/base/number
}

@test "number: the table of powers of ten is right, and what its generator writes" {
    unit common/base/powers
    run -0 "$bin/tests/unit/common/base/powers" write
    assert_equal "$output" "$(<"$root/common/base/powers.inc")"
}

@test "cluster: without other ranks it is one process" {
    unit common/base/cluster
    assert_output 'ok: 1 ranks, 0 threads'
}

@test "memory: arrays grow with what is in them" {
    TMPDIR=$tmp unit common/base/memory
}

@test "output: files are there whole or not at all" {
    TMPDIR=$tmp unit common/base/output
}
