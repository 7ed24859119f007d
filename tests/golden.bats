# Files of format version 1: predictions from them, bit by bit, and error messages of the programs.

load helper

setup() {
    cd "$tmp" || exit 1
    golden=$root/tests/golden
}

# how FILE: sets $options to the options of predict that the name of a golden file implies, and $stem to
# the path of its model and rows without their endings.
how() {
    local name=${1##*/}
    name=${name%.*}
    stem=${1%/*}/${name%%.*}
    case $name in
    *.order | *.pairs | *.scores) options=(--"${name##*.}") ;;
    *.probability) options=(-b 1) ;;
    *.*) fail "no option is called ${name##*.}" ;;
    *) options=() ;;
    esac
}

# predicts FAMILY: asserts that every model of the family predicts as before.
predicts() {
    local file n=0
    local -a options
    for file in "$golden/$1"/*.out "$golden/$1"/*.near; do
        [ -e "$file" ] || continue # no .near here
        how "$file"
        "svm-$1-predict" -q "${options[@]}" "$stem.rows" "$stem.model" >found ||
            fail "$stem: exit $?"
        if [[ $file == *.out ]]; then
            diff "$file" found || fail "$file"
        else
            nearly "$file" found || fail "$file"
        fi
        n=$((n + 1))
    done
    for file in "$golden/$1"/*.model; do # none is forgotten
        compgen -G "${file%.model}.*[rt]" >/dev/null || fail "no predictions of $file"
    done
    [ "$n" -ge 5 ]
}

# nearly A B: asserts equal lines of equal words, numbers to 1e-12.
nearly() {
    awk 'NR == FNR { a[FNR] = $0; n = FNR; next }
         { m = split(a[FNR], word, " "); bad = bad || m != NF
           for (i = 1; i <= NF; i++) {
               d = $i - word[i]
               size = word[i] < 0 ? -word[i] : word[i]
               is_number = $i ~ /^-?[0-9.]+(e-?[0-9]+)?$/
               off = !is_number || d > 1e-12 * (1 + size) || -d > 1e-12 * (1 + size)
               if ($i != word[i] && off) {
                   print FNR ": " $i ", not " word[i]
                   bad = 1
               }
           } }
         END { exit bad || n != FNR }' "$1" "$2"
}

# bats test_tags=long
@test "golden: models of rank predict as before" {
    predicts rank
}

@test "golden: models of top predict as before" {
    predicts top
}

# bats test_tags=long
@test "golden: models of mc predict as before" {
    predicts mc
}

@test "golden: models of ml predict as before" {
    predicts ml
}

@test "golden: models of smm predict as before" {
    predicts smm
}

# rewritten FILE: the model, read and written to `copy`.
rewritten() {
    local family=${1%/*}
    unit families/models "${family##*/}" "$1" copy
}

# bats test_tags=long
@test "golden: a model that is read and written has the same bytes" {
    local file n=0
    for file in "$golden"/*/*.model; do
        case $file in */old* | */liblinear*) continue ;; esac
        rewritten "$file"
        cmp "$file" copy
        n=$((n + 1))
    done
    [ "$n" -ge 45 ]
}

@test "golden: a model with its certificate in another place, or without, keeps it when rewritten" {
    for file in "$golden"/*/old*.model; do
        rewritten "$file"
        grep -v '^certified \|^end ' "$file" >body
        grep -v '^certified \|^end ' copy | diff body -
        awk '/^gap /{ gap = NR } $0 == "certified no" && NR == gap + 1 { found = 1 }
            END { exit !found }' copy
    done
}

@test "golden: the predictions agree with the formulas" {
    command -v python3 >/dev/null || skip 'python3 is not installed'
    "$golden/make" made
    for family in rank top mc ml smm; do
        diff -r "$golden/$family" "made/$family"
    done
}

@test "golden: a change in the last digits of a number is detected" {
    printf '1 0.25 x\n' >a
    printf '1 0.25000000000000006 x\n' >b
    nearly a b
    printf '1 0.250000000002 x\n' >b
    run -1 nearly a b
    printf '1 0.25 y\n' >b
    run -1 nearly a b
    printf '1 0.25\n' >b
    run -1 nearly a b
    printf '1 0.25 x\n1 0.25 x\n' >b
    run -1 nearly a b
    printf 'nan 0.25 x\n' >b
    run -1 nearly a b
}

# ---- messages ----

# tells FAMILY: asserts that the programs of the family answer the commands of their transcripts as before.
tells() {
    for program in "svm-$1-train" "svm-$1-predict"; do
        "$golden/cli/transcript" "$program" >found
        diff "$golden/cli/$program" found || fail "$program"
    done
}

# bats test_tags=long,slow
@test "golden: the programs of rank report errors as before" {
    tells rank
}

# bats test_tags=long,slow
@test "golden: the programs of top report errors as before" {
    tells top
}

# bats test_tags=long
@test "golden: the programs of mc report errors as before" {
    tells mc
}

# bats test_tags=long,slow
@test "golden: the programs of ml report errors as before" {
    tells ml
}

# bats test_tags=long,slow
@test "golden: the programs of smm report errors as before" {
    tells smm
}
