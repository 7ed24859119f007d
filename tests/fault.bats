# Failing system calls: a random sample of the cases of `make check-faults` (tests/fault).

load helper

# bats test_tags=long,slow
@test "fault: after any failing call the outputs are complete or unchanged, and one line states the error" {
    # under the sanitizer the shim is linked into the programs and covers memory and threads; leaks are found
    local share=300
    sanitized && export FAULT_OWN=1 && share=400
    run "$root/tests/fault/run" 1 "$share"
    assert_success
    assert_output --regexp ' modes, [0-9]+ runs, [0-9]{2,} faults, of which [0-9]+ were survived; 0 violations$'
}
