# Loaded by every Bats file: `load helper`.
#
#   $root    the repository's folder        $bin   the build under test (DUALSVM_BIN)
#   $data    the real data sets             $tmp   = $BATS_TEST_TMPDIR, fresh in each test
#   PATH     begins with $bin: programs are called by their names.

bats_require_minimum_version 1.5.0

# load_library NAME: bats_load_library, without the processes that the libraries start for each of their files: a
# fifth of a second in each test.
load_library() {
    local folder file
    IFS=: read -ra folder <<<"$BATS_LIB_PATH"
    for folder in "${folder[@]}"; do
        for file in "$folder/$1"/src/*.bash; do
            # shellcheck disable=SC1090
            [ ! -f "$file" ] || source "$file"
        done
    done
}

# Bats records where it is before each command, a third of the time of a test of many short ones; here only where
# one fails.
if declare -F bats_capture_stack_trace bats_check_status_from_trap >/dev/null && [ "${BATS_TRACE_LEVEL:-0}" = 0 ]; then
    bats_debug_trap() {
        trap - DEBUG
    }
    bats_error_trap() {
        BATS_ERROR_STATUS=$?
        bats_capture_stack_trace
        BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
        bats_check_status_from_trap
    }
fi

# The clock of --timing, for which Bats starts two processes.
get_mills_since_epoch() {
    echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

load_library bats-support
load_library bats-assert
load_library bats-file

root=${BATS_TEST_DIRNAME%/tests}
bin=${DUALSVM_BIN:-$root/build}
data=${DUALSVM_DATA:-$root/../shared/data}
tmp=$BATS_TEST_TMPDIR
PATH=$bin:$PATH
export LC_ALL=C

# unit MODULE/NAME [ARGUMENTS]: runs a program of tests/unit; it must exit 0, and fails the test with
# its output. Under the sanitizers it must leave no memory allocated, also where .ci/run does not ask that of programs.
unit() {
    local name=$1
    shift
    ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=1:detect_stack_use_after_return=1 run "$bin/tests/unit/$name" "$@"
    assert_success
    refute_output --partial FAIL
    refute_output --partial 'had an illegal value' # what BLAS says, and goes on
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

# with_tools: sets up a test of tools/: in $tmp, with the tools and `generate` on PATH; skips the test without Python,
# and under the sanitizers.
with_tools() {
    cd "$tmp" || exit 1
    command -v python3 >/dev/null || skip 'no python3'
    ! sanitized || skip 'not C: the plain build tests it'
    PATH=$root/tools:$bin/datasets:$PATH
}

# counted: true if the build under test counts lines (make coverage), with a library that makes calls of its own.
counted() {
    grep -q -a __gcov_init "$bin/svm-rank-train"
}

# kernels_of_blas: the BLAS kernels that the programs select by default (driver/blas_start).
kernels_of_blas() {
    if [ "$(uname -m)" = x86_64 ] && grep -qw avx512vl /proc/cpuinfo; then
        echo SkylakeX
    elif [ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo; then
        echo Haswell
    fi
}

# quick: true if long tests should be shortened.
quick() {
    [ -n "${DUALSVM_QUICK-}" ]
}

# limited COMMAND: runs it for at most ten minutes, enough on every machine: a command that hangs must fail.
limited() {
    timeout 600 "$@"
}

# ---- numbers ----

# metric NAME FILE: the value of the line `NAME value` of FILE (output of predict --metrics).
metric() {
    header "$1" "$2"
}

# header KEY FILE: the text after the key in a model, or after `KEY =` in a report; false if it is
# absent.
header() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        if [[ $line == "$1 "* ]]; then
            line=${line#"$1 "}
            echo "${line#= }"
            return
        fi
    done <"$2"
    return 1
}

# timeless FILE...: tables of sweeps without the columns seconds and run.
timeless() {
    awk -F'\t' -v OFS='\t' '{ NF -= 2; print }' "$@"
}

# cell NAME KEY VALUE TABLE: the column NAME of the first row whose column KEY is VALUE, as numbers or words.
cell() {
    awk -F'\t' -v name="$1" -v key="$2" -v value="$3" 'NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        $at[key] == value || ($at[key] != "" && $at[key] + 0 == value + 0 && value ~ /^[-+0-9.]/) {
            print $at[name]; exit }' "$4"
}

# within VALUE LOW HIGH: asserts LOW <= VALUE <= HIGH; a word, which awk takes for 0, is not a number.
within() {
    awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { digit = "[0-9]"
        exit !(x ~ digit && a ~ digit && b ~ digit && x + 0 >= a + 0 && x + 0 <= b + 0) }' ||
        fail "$1 is not within [$2, $3]"
}

# overlap MODEL MODEL: the bounds of two fits of one problem hold one another's optimum.
overlap() {
    awk -v p="$(header primal "$1")" -v d="$(header dual "$1")" -v q="$(header primal "$2")" \
        -v e="$(header dual "$2")" 'BEGIN { digit = "[0-9]"
        exit !(p ~ digit && d ~ digit && q ~ digit && e ~ digit && p >= e * (1 - 1e-9) && q >= d * (1 - 1e-9)) }' ||
        fail "$1 and $2 do not agree"
}

# near A B PART: asserts that they differ by at most PART times B.
near() {
    awk -v a="$1" -v b="$2" -v part="$3" 'BEGIN { d = a - b; d = d < 0 ? -d : d
        b = b < 0 ? -b : b; exit !(a ~ /[0-9]/ && b ~ /[0-9]/ && d <= part * b) }' || fail "$1 is not $2 to $3"
}

# measures_of ARGUMENTS: asserts that the lines `name value` of measures.py for these rows and scores (nan: undefined)
# equal those of $tmp/metrics.
measures_of() {
    "$root/tests/measures.py" "$@" >"$tmp/plain" || fail "measures.py $*"
    [ -s "$tmp/plain" ] || fail "measures.py $*: no measures"
    awk 'FILENAME == ARGV[1] { if (!($1 in found)) found[$1] = $2; next }
        { x = $1 in found ? found[$1] : "nan"
          d = x - $2; d = d < 0 ? -d : d; most = 1e-9 * ($2 < 0 ? -$2 : $2)
          if (x " " $2 != "nan nan" && !(x ~ /[0-9]/ && $2 ~ /[0-9]/ && d <= most)) {
              print $1 " is " x ", not " $2; bad = 1
          } }
        END { exit bad }' "$tmp/metrics" "$tmp/plain" || fail "measures of $*"
}

# agree A B TOLERANCE: asserts that two files of numbers have the same count of lines, and that no
# number differs by more than TOLERANCE times the spread of A.
agree() {
    paste "$1" "$2" | awk -v tolerance="$3" '
        NF != 2 || $1 !~ /[0-9]/ || $2 !~ /[0-9]/ { print "line " NR ": " $0; bad = 1; exit 1 }
        { low = NR == 1 || $1 < low ? $1 + 0 : low; high = NR == 1 || $1 > high ? $1 + 0 : high
          d = $1 - $2; d = d < 0 ? -d : d; most = d > most ? d : most }
        END { if (!NR || bad || most > tolerance * (high - low)) {
            print "numbers differ by " most ", spread " high - low; exit 1 } }' ||
        fail "$1 and $2 do not agree"
}

# ---- programs ----

# Each Bats file sets the family of `train` and `predict`: family=mc.

# far_rows LABEL..: 90 overlapping rows of 12 features with these labels in turn; one feature is about
# -70, one about 200: cubic kernel values of 10^10 differ between rows by 1.
far_rows() {
    awk '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            seed = 7777
            for (i = 0; i < 90; i++) {
                line = ARGV[i % (ARGC - 1) + 1]
                for (j = 1; j <= 12; j++) {
                    v = uniform() + (j == i % 3 + 4 ? .3 : 0)
                    line = line sprintf(" %d:%.6g", j, j == 2 ? -70 - 5 * v : j == 3 ? 150 + 90 * v : v)
                }
                print line
            }
        }' "$@"
}

# train ARGUMENTS: the trainer, quiet; its report is left in $tmp/train.out, and what it said is
# shown when it fails. Where it can have a proof, of rows that are not too many, svm-check verifies it.
train() {
    local proof=$BATS_FILE_TMPDIR/proof said
    if ! provable "$@"; then
        quietly "svm-$family-train" "$@" >"$tmp/train.out"
        return
    fi
    : >"$proof"
    quietly "svm-$family-train" --proof "$proof" "$@" >"$tmp/train.out"
    mapfile -t said <"$tmp/said"
    if [[ ${said[*]} == *': no proof is written: '* ]]; then
        [ ! -s "$proof" ] || fail "svm-$family-train $*: a proof, and a reason for none"
        sed -i '/: no proof is written: /d' "$tmp/said"
    else
        svm-check "${@: -2:1}" "${@: -1}" "$proof" >"$proof.verdict" ||
            fail "svm-$family-train $*: $(<"$proof.verdict")"
    fi
}

# provable ARGUMENTS: whether they end in a training file of some 50 KB at most and a model, and are no
# sweep and nothing that --proof refuses; and memory is not short.
provable() {
    local text
    ulimit -v >"$tmp/said"
    read -r text <"$tmp/said"
    [ "$text" = unlimited ] || return 1
    [ $# -ge 2 ] && [ -f "${*: -2:1}" ] || return 1
    ! IFS= read -r -d '' -N 50001 text <"${*: -2:1}" || return 1 # at most 50,000 characters
    [[ " $* " != *" -v"* && "${*: -1}" != -* ]] || return 1
    [[ ! -e ${*: -1} || -f ${*: -1} ]] || return 1 # what goes to a device cannot be read again
    ! [[ " $* " =~ \ (--folds|--fold-file|--validate|--proof|--pairs|--pair-features|grill|grill-np|lowrank|fw)[\ =] ]]
}

# predict ARGUMENTS: the predictor, in the same way; prints what it printed.
predict() {
    quietly "svm-$family-predict" "$@"
}

# quietly PROGRAM ARGUMENTS: fails the test if the program fails; its stderr is left in $tmp/said.
quietly() {
    local program=$1 status=0
    shift
    "$program" -q "$@" 2>"$tmp/said" || status=$?
    [ "$status" = 0 ] || fail "$program -q $*: exit $status: $(<"$tmp/said")"
}

# refused PROGRAM ARGUMENTS: asserts exit 1, one line on stderr that begins with the program's name,
# nothing on stdout. The line is left in $tmp/err.
refused() {
    ended_with 1 "$@"
}

# misused PROGRAM ARGUMENTS: the same with exit 2.
misused() {
    ended_with 2 "$@"
}

ended_with() {
    local expected=$1 status=0 lines
    shift
    limited "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    [ "$status" = "$expected" ] ||
        fail "exit $status, not $expected: $*: $(head -c 400 "$tmp/err" | head -3)"
    [ ! -s "$tmp/out" ] || fail "printed on stdout: $*: $(head -c 400 "$tmp/out" | head -3)"
    mapfile lines <"$tmp/err" # no process: this runs thousands of times
    [[ ${#lines[@]} = 1 && ${lines[0]} == *$'\n' ]] ||
        fail "not one line of diagnosis: $*: $(head -c 800 "$tmp/err" | head -5)"
    [[ ${lines[0]} == "$1: "* ]] ||
        fail "diagnosis without the program's name: $*: ${lines[0]}"
}

# holds FOLDER NAMES: asserts that the folder holds exactly these names, temporary files included.
holds() {
    local folder=$1 found name IFS=/ # no name has a slash
    shift
    shopt -s nullglob dotglob
    found=("$folder"/*)
    shopt -u nullglob dotglob
    found=("${found[@]#"$folder/"}")
    [ $# = ${#found[@]} ] || fail "$folder holds ${found[*]@Q}, not ${*@Q}"
    for name; do
        [[ /${found[*]}/ == *"/$name/"* ]] || fail "$folder holds ${found[*]@Q}, not ${*@Q}"
    done
}

# ten_decades: 150 rows of two labels whose features have units over ten decades, the largest shared by many
# rows: what tells these apart is a tiny part of their norms.
ten_decades() {
    awk 'function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            seed = 7
            for (i = 0; i < 150; i++) {
                line = uniform() < .45 ? "+1" : "-1"
                for (f = 1; f <= 11; f++) {
                    v = f < 7 ? int(uniform() * 80) / 10 : int(uniform() * (f < 10 ? 1 : 2) + 1)
                    line = line " " f ":" v * 10 ^ (f - 6)
                }
                print line
            }
        }'
}
