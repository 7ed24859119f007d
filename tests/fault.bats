# Calls that fail: a seeded sample of what `make check-faults` tries (tests/fault).

load helper

@test "fault: whatever call fails, outputs are new or as they were, and one line says why" {
    # under the sanitizer the shim is in the programs: it knows memory and threads, and leaks are found
    local share=66
    sanitized && export FAULT_OWN=1 && share=250
    run "$root/tests/fault/run" 1 "$share"
    assert_success
    assert_output --regexp ' modes, [0-9]+ runs, [0-9]{2,} faults, of which [0-9]+ were survived; 0 violations$'
}
