# Numbers, memory and the cluster of one process (common/base, common/distributed), without the programs.

load helper

# bats test_tags=long
@test "number: parsing equals strtod, formatting is the shortest" {
    unit common/base/number
}

@test "number: the table of powers of ten equals that computed by Python integers" {
    "$root/tests/powers.py" | cmp - "$root/common/base/powers.inc"
}

@test "cluster: without MPI it is a single process" {
    unit common/distributed/cluster
    assert_output 'ok: 1 ranks, 0 threads'
}

@test "threads: lines formatted by threads are those of one thread, and jobs ahead of their need run in order" {
    unit common/base/threads
}

@test "memory: sizes that overflow are refused, zeros are zeros, limits of control groups are known" {
    TMPDIR=$tmp unit common/base/memory
}
