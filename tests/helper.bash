# Loaded by every Bats file: `load helper`.
#
#   $root    the repository's folder        $bin   the build under test (DUALSVM_BIN)
#   $data    the real data sets             $tmp   = $BATS_TEST_TMPDIR, fresh in each test
#   PATH     begins with $bin: programs are called by their names.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert
bats_load_library bats-file

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${DUALSVM_BIN:-$root/build}
data=${DUALSVM_DATA:-$root/../shared/data}
# shellcheck disable=SC2034 # for the tests
tmp=$BATS_TEST_TMPDIR
PATH=$bin:$PATH
export LC_ALL=C

# unit ROOM/NAME [ARGUMENTS]: runs a program of tests/unit; it must exit 0, and fails the test with
# its output.
unit() {
    local name=$1
    shift
    run "$bin/tests/unit/$name" "$@"
    assert_success
    refute_output --partial FAIL
    assert_output --partial 'ok: '
}

# real PATH: skips the test unless the real data set is there, else sets $real to its path.
real() {
    real=$data/$1
    [ -f "$real" ] || skip "no real data: $1 not found (set DUALSVM_DATA)"
}

# sanitized: true if the build under test has the address sanitizer (limits on memory then fail).
sanitized() {
    grep -q -a __asan_init "$bin/svm-rank-train"
}

# quick: true if long checks should be shortened.
quick() {
    [ -n "${DUALSVM_QUICK-}" ]
}

# metric NAME FILE: the value of the line `NAME value` of FILE (output of predict --metrics).
metric() {
    awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' "$2"
}

# within VALUE LOW HIGH: asserts LOW <= VALUE <= HIGH.
within() {
    if ! awk -v x="$1" -v a="$2" -v b="$3" \
        'BEGIN { exit !(x != "" && x + 0 >= a + 0 && x + 0 <= b + 0) }'; then
        fail "$1 is not within [$2, $3]"
    fi
}
