# Inputs of the fuzz targets (tests/fuzz): seeds, and what once failed, without a fuzzer.

load helper

# replayed TARGET: its inputs; the target ends by a signal where it does not get what it demands.
replayed() {
    run limited "$bin/tests/fuzz/$1-replay" "$root/tests/golden/fuzz/$1"/*
    assert_success
    assert_output --partial 'ok: '
}

@test "fuzz: any command line is taken within its bounds, or misuse" {
    replayed options
}

@test "fuzz: any numbers are those of strtod" {
    replayed number
}

@test "fuzz: any rows are read, whole and in blocks alike, or refused" {
    replayed input
}

@test "fuzz: any folds and weights of rows are those of a plain reader, or refused" {
    replayed beside
}

@test "fuzz: any model is read or refused" {
    replayed model
}

@test "fuzz: any proof is checked or refused" {
    replayed proof
}

@test "fuzz: small fits are bracketed by every solver alike, and their proofs hold" {
    replayed fit
}

@test "fuzz: a target that does not get what it demands fails" {
    # a model that is no model of classes: the replay must read files, not skip them
    run "$bin/tests/fuzz/model-replay" "$tmp/missing"
    assert_failure
}
