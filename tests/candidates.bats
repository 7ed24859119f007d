# svm-rank-candidates: max-marginals compared with a plain reference (reference/candidates.py), invariances, files,
# spanning trees, the choice by known structures, the published data set.

load helper
load rank_tools

reference=$root/tests/reference/candidates.py

setup() {
    cd "$tmp" || exit 1
    ties=
    printf '2 1:2\n1 1:1\n' >two.svm
    train two.svm line.model # scores are a multiple of the feature
}

# candidates ARGUMENTS: the program, quiet, which must succeed.
candidates() {
    quietly svm-rank-candidates "$@"
}

# score_rows MODEL: the model's scores of candidates.svm into the file scores.
score_rows() {
    sed -E 's/^(nan|-inf)? *qid/0 qid/' candidates.svm >labelled.svm
    predict labelled.svm "$1" | cut -d' ' -f1 >scores
}

# agrees MODEL EDGES WEIGHT [BY]: the program and the reference give the same table of candidates.svm and times.tsv.
agrees() {
    candidates --edges "$2" -D "$3" -E 0 candidates.svm "$1" times.tsv found
    "$reference" check found candidates.svm scores times.tsv edges="$2" order-weight="$3" by="${4-enumeration}" \
        ties="$ties" 2>difference || fail "edges $2, weight $3: $(tail -n 1 difference)
$(head -n 40 candidates.svm)
$(head -n 20 times.tsv)"
}

# problem TEXT TIMES: candidates.svm and times.tsv in printf format, and the scores.
problem() {
    # shellcheck disable=SC2059
    printf -- "$1" >candidates.svm
    # shellcheck disable=SC2059
    printf -- "$2" >times.tsv
    score_rows line.model
}

# every_weight MODEL [BY]: agrees with both kinds of edges and small, middle and large weights.
every_weight() {
    local edges weight
    for edges in hinge sigmoid; do
        for weight in 0 .3 20; do
            agrees "$1" $edges $weight "${2-enumeration}"
        done
    done
}

# many FEATURES CANDIDATES SEED: candidates.svm of features whose rows are interleaved, and times.tsv, where two
# features have each time if there are over 20. Scores have six digits: there are no equal ones.
many() {
    awk -v features="$1" -v m="$2" -v s="$3" 'function draw(n) { s = s * 16807 % 2147483647; return s % n }
        BEGIN { for (i = 0; i < 20; i++) draw(2)
            for (i = 1; i <= m; i++) for (f = 1; f <= features; f++) {
                printf "%.6f qid:F%d", draw(1000000) / 1000000, f
                for (k = 1; k <= 4; k++) if (k == 1 || draw(3)) printf " %d:%g", k, 1 + draw(80) / 8
                print " # C" f "." i } }' >candidates.svm
    awk -v features="$1" 'BEGIN { for (f = 1; f <= features; f++) {
        g = features > 20 ? int(f / 2) : f
        printf "F%d\t%g\n", f, (g * 7) % 13 + g / 64 } }' >times.tsv
}

# columns LIST FILE: these columns of a table without its header.
columns() {
    tail -n +2 "$2" | cut -f "$1"
}

# ---- max-marginals ----

@test "candidates: the reference's messages agree with its enumeration" {
    run -0 "$reference" self
    assert_output 'ok: enumeration and messages agree'
}

# bats test_tags=long
@test "candidates: small random problems agree with the enumeration of all assignments" {
    # up to six features: equal scores, times and order scores, candidates without a score, names or neither, features
    # without a time, two runs, headers
    for seed in 1 2 3; do
        "$reference" make $seed .
        predict predict.svm line.model >scores
        every_weight line.model
    done
}

# bats test_tags=long,slow
@test "candidates: many candidates agree with plain messages, for a linear and a kernel model" {
    rows 60 3 4 5 >train.svm
    train train.svm linear.model
    train -t minmax -c 10 train.svm kernel.model
    many 30 25 7
    for model in linear.model kernel.model; do
        score_rows $model
        every_weight $model messages
    done
    # quarters: many equal MS/MS scores and order scores
    sed -i -E 's/^0\.([0-9])[0-9]*/0.\1/; s/([1-4]:[0-9]+)\.[0-9]+/\1/g' candidates.svm
    score_rows linear.model
    every_weight linear.model messages
}

# bats test_tags=long
@test "candidates: one feature, and one candidate, have the order by MS/MS" {
    problem '1 qid:A 1:3 # a\n3 qid:A 1:1 # b\n2 qid:A 1:2 # c\n2 qid:A 1:1 # d\n' 'A\t5\n'
    every_weight line.model
    assert_equal "$(columns 6 found | tr '\n' ' ')" '4 1 2.5 2.5 '
    problem '1 qid:A 1:3 # a\n' 'A\t5\n'
    every_weight line.model
    assert_equal "$(columns 5,6 found)" $'0\t1'
    problem '1 qid:A 1:3\n1 qid:B 1:2\n4 qid:C 1:1\n' 'A\t1\nB\t2\nC\t3\n'
    every_weight line.model
    assert_equal "$(columns 2,5,6 found)" $'1\t0\t1\n2\t0\t1\n3\t0\t1'
}

# bats test_tags=long
@test "candidates: a candidate that contradicts the order loses the weight times the difference of order scores" {
    # deviations 1/2 in A, none in B: scores are divided by 1/2; they are rounded to 2^-30
    problem '1 qid:A 1:3 # a\n0 qid:A 1:1 # b\n5 qid:B 1:2 # c\n' 'A\t1\nB\t2\n'
    score_rows line.model
    candidates -D .25 -E 0 candidates.svm line.model times.tsv found
    awk -F'\t' 'NR == FNR { f[FNR] = $1; next } FNR == 2 { a = $5 } FNR == 3 { b = $5 }
        END { lost = .25 * (f[1] - f[3]); d = (a - b) - (2 - lost); exit !(d * d < 1e-17 && a == 0) }' scores found
    candidates -D 9 -E 0 candidates.svm line.model times.tsv found
    assert_equal "$(columns 2,6 found | tr '\t\n' ': ')" 'a:2 b:1 c:1 '
    # in the other order of times nothing is lost
    printf 'A\t2\nB\t1\n' >times.tsv
    candidates -D 9 -E 0 candidates.svm line.model times.tsv found
    assert_equal "$(columns 2,6 found | tr '\t\n' ': ')" 'a:1 b:2 c:1 '
    every_weight line.model
}

# bats test_tags=long,slow
@test "candidates: a candidate without a score has the lowest of its feature" {
    text='qid:A 1:1 # a\n%s qid:A 1:3 # b\n-2 qid:A 1:3 # c\n3 qid:A 1:2 # d\n5 qid:B 1:2 # e\n%s qid:B 1:1 # f\n'
    for none in nan -inf ''; do
        # shellcheck disable=SC2059
        problem "1 $(printf "$text" "$none" "$none")\n" 'A\t1\nB\t2\n'
        sed -i 's/^ //' candidates.svm
        every_weight line.model
        agrees line.model hinge 0
        assert_equal "$(columns 6 found | tr '\n' ' ')" '2 3.5 3.5 1 1.5 1.5 '
    done
    # no candidate of a feature has one, and none of all
    problem 'nan qid:A 1:1\n-inf qid:A 1:3\n2 qid:B 1:2\n1 qid:B 1:4\n' 'A\t1\nB\t2\n'
    every_weight line.model
    problem 'nan qid:A 1:1\n-inf qid:A 1:3\nqid:B 1:2\nnan qid:B 1:4\n' 'A\t1\nB\t2\n'
    every_weight line.model
}

# bats test_tags=long
@test "candidates: features of different runs are not compared" {
    text='2 qid:A 1:3 # a\n1 qid:A 1:1 # b\n1 qid:B 1:2 # c\n1.5 qid:B 1:4 # d\n1 qid:C 1:2 # e\n2 qid:C 1:1 # f\n'
    problem "$text" 'A\t1\tx\nB\t2\ty\nC\t3\tz\n'
    every_weight line.model
    cp found apart
    candidates -D 0 -E 0 candidates.svm line.model times.tsv found
    cmp found apart
    problem "$text" 'A\t1\tx\nB\t2\ty\nC\t3\tx\n'
    every_weight line.model
    # runs given together are the same as each alone
    many 8 5 3
    awk -v OFS='\t' '{ print $0, NR % 2 ? "odd" : "even" }' times.tsv >both.tsv
    score_rows line.model
    cp both.tsv times.tsv
    agrees line.model hinge 1 messages
    for run in odd even; do
        grep $run both.tsv >times.tsv
        grep -E " qid:($(cut -f1 times.tsv | paste -sd'|')) " candidates.svm >part.svm
        # the rest of the candidates remains, as the scores are divided by a mean over all features
        candidates -D 1 -E 0 candidates.svm line.model times.tsv part
        grep -E "^($(cut -f1 times.tsv | paste -sd'|'))	" part >alone
        grep -E "^($(cut -f1 times.tsv | paste -sd'|'))	" found | cmp - alone
    done
}

# bats test_tags=long
@test "candidates: features without a time, and times without candidates, are counted in a warning" {
    problem '1 qid:A 1:3 # a\n0 qid:A 1:1 # b\n5 qid:B 1:2 # c\n4 qid:B 1:3 # d\n1 qid:C 1:1\n2 qid:C 1:5\n' \
        'B\t1\nX\t1.5\nC\t2\nY\t3\nZ\t4\n'
    every_weight line.model
    svm-rank-candidates -D 1 candidates.svm line.model times.tsv out 2>err
    assert_equal "$(columns 5,6 out | head -2)" "$(columns 5,6 found | head -2)"
    grep -q '^svm-rank-candidates: warning: ' err
    grep -w warning err | grep -qw 3 || fail "three times have no candidates: $(<err)"
    grep -w warning err | grep -qw 1 || fail "one feature has no time: $(<err)"
    # no warning where everything has both
    printf 'A\t1\nB\t2\nC\t3\n' >times.tsv
    svm-rank-candidates -D 1 -E 0 candidates.svm line.model times.tsv out 2>err
    run -1 grep warning err
}

# bats test_tags=long
@test "candidates: equal times say nothing, and groups of equal times are joined to one tree" {
    text='2 qid:A 1:3 # a\n1 qid:A 1:1 # b\n1 qid:B 1:2 # c\n1.5 qid:B 1:4 # d\n1 qid:C 1:2 # e\n2 qid:C 1:1 # f\n'
    text+='3 qid:D 1:2 # g\n1 qid:D 1:4 # h\n'
    for times in '1 1 2 2' '2 2 2 1' '3 1 3 2'; do
        set -- $times
        problem "$text" "A\t$1\nB\t$2\nC\t$3\nD\t$4\n"
        every_weight line.model
    done
    problem "$text" 'A\t7\nB\t7\nC\t7\nD\t7\n'
    every_weight line.model
    for options in '' '--trees 9' '--edges sigmoid'; do
        candidates -D 3 $options candidates.svm line.model times.tsv found
        candidates -D 0 candidates.svm line.model times.tsv plain
        agree <(columns 5 plain) <(columns 5 found) 1e-14 # means of equal numbers are rounded
        cmp <(columns 6 plain) <(columns 6 found)
    done
}

# ---- invariances ----

@test "candidates: no order weight gives the order by MS/MS" {
    many 9 12 4
    sed -i -E 's/^0\.([0-9])[0-9]*/0.\1/' candidates.svm # tenths: equal scores
    for options in '' '--trees 5' '--edges sigmoid'; do
        candidates -D 0 -E 0 $options candidates.svm line.model times.tsv found
        awk -F'\t' 'FNR == 1 { next } { n++; feature[n] = $1; score[n] = $3; rank[n] = $6 }
            END { for (i = 1; i <= n; i++) { above = equal = 0
                for (j = 1; j <= n; j++) if (feature[j] == feature[i]) {
                    above += score[j] > score[i]; equal += score[j] == score[i] }
                if (rank[i] != 1 + above + (equal - 1) / 2) { print i ": " rank[i]; exit 1 } } }' found ||
            fail "$options: not the mid-ranks of the MS/MS scores"
    done
}

@test "candidates: where all candidates fit the order, every weight gives the mid-ranks by MS/MS" {
    # feature i has values from i to i + 1: those of one end where those of the next begin
    awk 'function draw(n) { s = s * 16807 % 2147483647; return s % n }
        BEGIN { s = 9; for (k = 0; k < 9; k++) for (i = 1; i <= 8; i++)
            printf "%g qid:F%d 1:%g # %d\n", draw(30) / 10, i, i + draw(11) / 10, k }' >candidates.svm
    awk 'BEGIN { for (i = 1; i <= 8; i++) printf "F%d\t%g\n", i, i / 3 }' >times.tsv
    candidates -D 0 -E 0 candidates.svm line.model times.tsv plain
    for weight in .003 .1 1.7 33; do
        candidates -D $weight -E 0 candidates.svm line.model times.tsv found
        agree <(columns 5 plain) <(columns 5 found) 1e-12
        cmp <(columns 6 plain) <(columns 6 found) || fail "weight $weight"
        candidates -D $weight -E 0 --trees 6 candidates.svm line.model times.tsv found
        cmp <(columns 6 plain) <(columns 6 found) || fail "weight $weight, trees"
    done
}

# bats test_tags=long
@test "candidates: a constant added to the scores of a feature, and a factor of all, change nothing" {
    many 9 12 5
    for options in '' '--trees 4' '--edges sigmoid'; do
        candidates -D .5 -E 0 $options candidates.svm line.model times.tsv plain
        awk '{ split($2, q, "F"); $1 = sprintf("%.7f", $1 + (q[2] % 4) * 2.5 - 3); print }' candidates.svm \
            >shifted.svm
        candidates -D .5 -E 0 $options shifted.svm line.model times.tsv found
        agree <(columns 5 plain) <(columns 5 found) 1e-9
        cmp <(columns 1,2,4,6 plain) <(columns 1,2,4,6 found)
        for factor in 3 .001 1e150 1e-150; do
            awk -v factor=$factor '{ $1 = sprintf("%.17g", $1 * factor); print }' candidates.svm >scaled.svm
            candidates -D .5 -E 0 $options scaled.svm line.model times.tsv found
            agree <(columns 5 plain) <(columns 5 found) 1e-9
            cmp <(columns 1,2,4,6 plain) <(columns 1,2,4,6 found)
        done
    done
}

@test "candidates: minutes and seconds, and a later start, give the same" {
    many 9 12 6
    candidates -D .5 -E 0 candidates.svm line.model times.tsv plain
    awk -v OFS='\t' '{ $2 = $2 * 60 - 100; print }' times.tsv >other.tsv
    candidates -D .5 -E 0 candidates.svm line.model other.tsv found
    cmp plain found
}

@test "candidates: equal rows of a feature have equal ranks" {
    many 6 10 8
    awk '{ print } NR % 3 == 0 { sub(/#.*/, "# copy of " NR); print }' candidates.svm >twice.svm
    for edges in hinge sigmoid; do
        candidates -D .8 -E 0 --edges $edges --trees 3 twice.svm line.model times.tsv found
        awk -F'\t' 'FNR > 1 { if ($2 ~ /^copy/ && ($5 != score || $6 != rank)) exit 1; score = $5; rank = $6 }' found ||
            fail "$edges: a copy has another rank"
        grep -q '\.5$' found
    done
}

# bats test_tags=long
@test "candidates: scores that are equal but for rounding have mid-ranks" {
    ties=exact
    many 30 25 7
    sed -i -E 's/^0\.([0-9])[0-9]*/0.\1/; s/ [234]:[0-9.]+//g; s/(1:[0-9]+)\.[0-9]+/\1/' candidates.svm
    score_rows line.model
    every_weight line.model messages
}

# ---- output ----

@test "candidates: MS/MS scores are written as they were read" {
    problem '1.25 qid:A 1:1\n-inf qid:A 1:3\nnan qid:A 1:3\nqid:A 1:2\n-1e-7 qid:A 1:1\n0 qid:A 1:1\n' 'A\t1\n'
    candidates -E 0 candidates.svm line.model times.tsv found
    assert_equal "$(columns 3 found | tr '\n' ' ' | sed 's/1e-07/1e-7/')" '1.25 -inf nan nan -1e-7 0 '
}

@test "candidates: rows are written in the order of the input, with their names or numbers" {
    # numbers are those of rows, not of lines
    text='# comment\n1 qid:B 1:1\n\n2 qid:A 1:2 # InChI=1S/CH4/h1H4 x\n1.50 qid:B 1:3 #\n7e-1 qid:A 1:1 #spaced  \n'
    problem "$text" 'A\t1\nB\t2\n'
    candidates -D .1 -E 0 candidates.svm line.model times.tsv found
    assert_equal "$(head -1 found)" $'feature\tcandidate\tms-score\torder-score\tscore\trank'
    assert_equal "$(columns 1-3 found)" $'B\t1\t1\nA\tInChI=1S/CH4/h1H4 x\t2\nB\t3\t1.5\nA\tspaced\t0.7'
    cmp <(columns 4 found) <(grep qid candidates.svm | predict - line.model)
    # the order of rows has no effect on any, where times are different
    many 9 12 7
    candidates -D .5 -E 0 candidates.svm line.model times.tsv found
    awk '{ print (NR * 7919) % 1009 " " $0 }' candidates.svm | sort -n | cut -d' ' -f2- >mixed.svm
    candidates -D .5 -E 0 mixed.svm line.model times.tsv mixed
    cmp <(sed 's/.*# //' mixed.svm) <(columns 2 mixed)
    cmp <(columns 1,2,6 found | sort) <(columns 1,2,6 mixed | sort)
    candidates -D .5 -E 0 candidates.svm line.model times.tsv | cmp - found
    candidates -D .5 -E 0 candidates.svm line.model times.tsv - | cmp - found
}

@test "candidates: --best K writes the K best of each feature, the first of equal ones" {
    many 7 9 2
    sed -i -E 's/^0\.([0-9])[0-9]*/0.\1/; s/ [234]:[0-9.]+//g; s/1:([0-9]+)\.[0-9]+/1:\1/' candidates.svm
    candidates -D .5 -E 0 candidates.svm line.model times.tsv all
    grep -q '\.5$' all
    for k in 1 2 5 8 9 1000; do
        candidates -D .5 -E 0 --best $k candidates.svm line.model times.tsv found
        { head -1 all
          tail -n +2 all | awk -F'\t' -v OFS='\t' '{ print NR, $0 }' | sort -t$'\t' -k2,2 -k7,7g -k1,1n |
              awk -F'\t' -v k=$k '{ n = $2 == feature ? n + 1 : 1; feature = $2 } n <= k' | sort -n | cut -f2-
        } | diff - found || fail "--best $k"
    done
    cmp all found
}

# bats test_tags=long
@test "candidates: CRLF, a byte order mark, gzip and pipes change nothing" {
    many 7 9 3
    awk -v OFS='\t' '{ print $0, "run" }' times.tsv >with && mv with times.tsv
    columns 1,2 <(candidates candidates.svm line.model times.tsv) | awk -F'\t' '!seen[$1]++' | head -5 >truth.tsv
    options='-D .5,2 -E 0 --truth'
    candidates $options truth.tsv candidates.svm line.model times.tsv plain >table
    for change in 's/$/\r/' '1s/^/\xef\xbb\xbf/' '$!s/^//'; do
        rm -f changed.*
        for file in candidates.svm times.tsv truth.tsv; do
            sed "$change" $file >changed.$file
        done
        candidates $options changed.truth.tsv changed.candidates.svm line.model changed.times.tsv found >other
        cmp plain found || fail "$change"
        cmp table other
        gzip changed.* # names end in .gz, contents are recognised
        candidates $options changed.truth.tsv.gz changed.candidates.svm.gz line.model changed.times.tsv.gz found >other
        cmp plain found || fail "gzip: $change"
        cmp table other
    done
    gzip -c line.model >model
    cp changed.times.tsv.gz times
    candidates $options truth.tsv - model times found <candidates.svm >other
    cmp plain found
    gzip -c candidates.svm | candidates $options <(gzip -c truth.tsv) - model <(cat times.tsv) found >other
    cmp plain found
    cmp table other
    # without the last newline
    printf %s "$(<times.tsv)" >times.cut
    printf %s "$(<candidates.svm)" >candidates.cut
    printf %s "$(<truth.tsv)" >truth.cut
    candidates $options truth.cut candidates.cut line.model times.cut found >other
    cmp plain found
    cmp table other
}

@test "candidates: a header in the file of times is skipped" {
    many 7 9 3
    candidates -D .5 -E 0 candidates.svm line.model times.tsv plain
    for header in $'feature\tminutes' $'id\tRT (min)' $'F1\ttime'; do
        { echo "$header" && cat times.tsv; } >headed.tsv
        candidates -D .5 -E 0 candidates.svm line.model headed.tsv found
        cmp plain found || fail "$header"
    done
    { printf 'feature\tminutes\trun\n' && sed 's/$/\tone/' times.tsv; } >headed.tsv
    candidates -D .5 -E 0 candidates.svm line.model headed.tsv found
    cmp plain found
}

# bats test_tags=long
@test "candidates: the same bytes for any number of threads and any order of the times" {
    many 40 15 3
    awk -v OFS='\t' '{ print $0, NR % 5 ? "one" : "two" }' times.tsv >with && mv with times.tsv
    for options in '' '--edges sigmoid' '--trees 7' '--trees 7 --edges sigmoid --best 3'; do
        candidates -D .5 -E 0 -j 1 $options candidates.svm line.model times.tsv plain
        for threads in 2 3 8; do
            candidates -D .5 -E 0 -j $threads $options candidates.svm line.model times.tsv found
            cmp plain found || fail "$options, $threads threads"
        done
        for order in '-r' '-k2,2g' '-k3,3 -k2,2gr'; do
            sort $order times.tsv >sorted.tsv
            candidates -D .5 -E 0 $options candidates.svm line.model sorted.tsv found
            cmp plain found || fail "$options, times sorted by $order"
        done
    done
    columns 1,2 plain | awk -F'\t' '!seen[$1]++' >truth.tsv
    candidates --truth truth.tsv -D .1,1,4 -E 0 -j 1 candidates.svm line.model times.tsv plain >table
    candidates --truth truth.tsv -D .1,1,4 -E 0 -j 3 candidates.svm line.model times.tsv found >other
    cmp plain found
    cmp table other
}

# ---- spanning trees ----

@test "candidates: random trees repeat by seed" {
    many 8 6 1
    candidates -D 2 -E 0 --trees 3 --seed 5 candidates.svm line.model times.tsv first
    candidates -D 2 -E 0 --trees 3 --seed 5 candidates.svm line.model times.tsv again
    cmp first again
    candidates -D 2 -E 0 --trees 3 --seed 6 candidates.svm line.model times.tsv other
    run -1 cmp -s first other
    candidates -D 2 -E 0 --trees 3 candidates.svm line.model times.tsv default
    candidates -D 2 -E 0 --trees 3 --seed 1 candidates.svm line.model times.tsv one
    cmp default one
    candidates -D 2 -E 0 --trees 0 --seed 1 candidates.svm line.model times.tsv chain
    candidates -D 2 -E 0 --seed 9 candidates.svm line.model times.tsv other
    cmp chain other
    run -1 cmp -s chain one
}

@test "candidates: the best candidate of each feature has the score 0, in the chain and over several trees" {
    many 8 6 1
    for options in '' '--edges sigmoid' '--trees 1' '--trees 5' '--trees 5 --edges sigmoid'; do
        candidates -D 2 -E 0 $options candidates.svm line.model times.tsv found
        columns 1,5 found | awk -F'\t' '!($1 in best) || $2 > best[$1] { best[$1] = $2 }
            END { for (f in best) if (best[f] != 0) { print f ": " best[f]; exit 1 } }' >score ||
            fail "$options: $(<score)"
    done
}

# bats test_tags=long,slow
@test "candidates: two features have one tree, the chain" {
    for seed in 1 2 3 4; do
        many 2 9 $seed
        for edges in hinge sigmoid; do
            candidates -D 1 -E 0 --edges $edges candidates.svm line.model times.tsv chain
            for trees in 1 2 7; do
                candidates -D 1 -E 0 --edges $edges --trees $trees --seed $seed \
                    candidates.svm line.model times.tsv found
                agree <(columns 5 chain) <(columns 5 found) 1e-14
                cmp <(columns 6 chain) <(columns 6 found)
            done
        done
    done
    # three features at two times have one, too
    many 3 9 5
    printf 'F1\t1\nF2\t2\nF3\t2\n' >times.tsv
    candidates -D 1 -E 0 candidates.svm line.model times.tsv chain
    candidates -D 1 -E 0 --trees 1 candidates.svm line.model times.tsv found
    agree <(columns 5 chain) <(columns 5 found) 1e-14
}

# bats test_tags=long
@test "candidates: many random trees approach the mean over all spanning trees" {
    # the reference states the tolerance: five standard deviations of a mean over this many trees, which all differ
    # from the mean by three times as much
    trees=3000
    for times in '1 2 3' '3 1 2' '1 2 3 4' '2 1 2 3'; do
        set -- $times
        many $# 5 17
        printf 'F%s\n' $(seq $#) | paste - <(printf '%s\n' "$@") >times.tsv
        score_rows line.model
        for edges in hinge sigmoid; do
            candidates -D .7 -E 0 --edges $edges --trees $trees --seed 3 candidates.svm line.model times.tsv found
            "$reference" trees found $trees candidates.svm scores times.tsv edges=$edges order-weight=.7 2>difference ||
                fail "times $times, $edges: $(tail -n 1 difference)"
        done
    done
}

# ---- the time term ----

# timed: a model with a map to minutes for systems A and B, train.svm, and candidates.svm of equal MS/MS scores with
# times.tsv of run B.
timed() {
    "$bin/datasets/generate" rank --systems 3 --molecules 200 --features 30 --output all.svm
    sed -i 's/ qid:1 / qid:Alpha /; s/ qid:2 / qid:Beta /; s/ qid:3 / qid:Gamma /; s/ *#.*//' all.svm
    grep -v ' qid:Gamma ' all.svm >train.svm
    grep ' qid:Gamma ' all.svm | head -15 >gamma.svm
    train -t minmax --targets 1 train.svm targets.model
    grep -v '^targets-widths ' targets.model | changed_model >one_width.model # predicts the width that the term takes
    grep ' qid:Beta ' all.svm | awk 'NR % 2 {
        print "1 qid:F" int(NR / 2) % 5 substr($0, index($0, $2) + length($2)) }' >candidates.svm
    # measured times from the lowest to the highest of the training rows
    grep ' qid:Beta ' all.svm | cut -d' ' -f1 | sort -g |
        awk '{ v[NR] = $1 } END { for (f = 0; f < 5; f++)
            printf "F%d\t%s\tBeta\n", f, v[int(1 + f * (NR - 1) / 4)] }' >times.tsv
}

# bats test_tags=long
@test "candidates: the time term is the capped square of the error in units of the model's interval" {
    timed
    sed 's/qid:F./qid:Beta/' candidates.svm | predict - one_width.model >minutes
    for weight in 1 .3; do
        candidates -D 0 -E $weight candidates.svm targets.model times.tsv found
        "$reference" time found minutes times.tsv $weight 2>difference || fail "$(tail -n 1 difference)"
    done
    # the run's name without regard to case, or another name by --system
    candidates -D 0 -E 1 candidates.svm targets.model times.tsv plain
    sed 's/Beta/BETA/' times.tsv >upper.tsv
    candidates -D 0 -E 1 candidates.svm targets.model upper.tsv found
    cmp plain found
    for change in 's/Beta/run 7/' 's/\tBeta//'; do
        sed "$change" times.tsv >other.tsv
        candidates -D 0 -E 1 --system Beta candidates.svm targets.model other.tsv found
        cmp plain found || fail "$change"
    done
    # another system has another map; a run that the model does not know has none
    sed 's/Beta/Alpha/' times.tsv >alpha.tsv
    sed 's/qid:F./qid:Alpha/' candidates.svm | predict - one_width.model >minutes
    candidates -D 0 -E 1 candidates.svm targets.model alpha.tsv found
    "$reference" time found minutes alpha.tsv 1 2>difference || fail "$(tail -n 1 difference)"
    run -1 cmp -s plain found
    sed 's/Beta/unknown/' times.tsv >other.tsv
    refused svm-rank-candidates -q -D 0 -E 1 candidates.svm targets.model other.tsv
    candidates -D 0 candidates.svm targets.model other.tsv found
    assert_equal "$(columns 5 found | sort -u)" 0
    # a model without maps
    train -t minmax train.svm plain.model
    refused svm-rank-candidates -q -D 0 -E 1 candidates.svm plain.model times.tsv
    candidates -D 0 candidates.svm plain.model times.tsv found
    assert_equal "$(columns 5 found | sort -u)" 0
}

# bats test_tags=long
@test "candidates: standards give a run its map, as in svm-rank-predict" {
    timed
    sed 's/Beta/Gamma/' times.tsv >gamma.tsv
    sed 's/qid:F./qid:Gamma/' candidates.svm | predict --standards gamma.svm - targets.model >minutes
    candidates -D 0 -E 1 --standards gamma.svm candidates.svm targets.model gamma.tsv found
    "$reference" time found minutes gamma.tsv 1 2>difference || fail "$(tail -n 1 difference)"
    # the only system of the standards is that of runs without a name; other names are told
    cut -f 1,2 gamma.tsv >nameless.tsv
    candidates -D 0 -E 1 --standards gamma.svm candidates.svm targets.model nameless.tsv again
    cmp found again
    sed 's/Gamma/Run7/' gamma.tsv >run7.tsv
    run svm-rank-candidates -q --standards gamma.svm candidates.svm targets.model run7.tsv again
    assert_output 'svm-rank-candidates: warning: the times of 5 of 5 features are not compared with minutes: their run has no standards of its name (qid; see --system), or fewer than four'
    candidates -D 0 -E 1 --system Gamma --standards gamma.svm candidates.svm targets.model run7.tsv again
    cmp found again
    refused svm-rank-candidates -q --standards gamma.svm candidates.svm line.model gamma.tsv
    refused svm-rank-candidates -q --standards missing candidates.svm targets.model gamma.tsv
}

@test "candidates: the time term and the order add up" {
    timed
    # a single feature: its scores are MS/MS plus time term, whatever the order weight
    head -40 candidates.svm | awk '{ $1 = NR % 7; $2 = "qid:F2"; print }' >one.svm
    candidates -D 3 -E 0 one.svm targets.model times.tsv ms
    sed 's/^[^ ]*/1/' one.svm >equal.svm
    candidates -D 3 -E 1 equal.svm targets.model times.tsv time
    candidates -D 3 -E 1 one.svm targets.model times.tsv both
    paste <(columns 5 ms) <(columns 5 time) <(columns 5 both) | awk '{ sum[NR] = $1 + $2; both[NR] = $3
            if (NR == 1 || sum[NR] > best) best = sum[NR] }
        END { for (i = 1; i <= NR; i++) { d = sum[i] - best - both[i]; if (d > 1e-9 || d < -1e-9) exit 1 } }'
}

# ---- the choice by known structures ----

# known: 14 features, of which nine have known structures, one of them no candidate.
known() {
    many 14 12 21
    sed -i -E 's/^0\.([0-9][0-9])[0-9]*/0.\1/; s/ [234]:[0-9.]+//g' candidates.svm
    score_rows line.model
    # of each feature the candidate whose value is nearest to the position of its time, mostly
    sort -k2,2g times.tsv | awk -F'\t' '{ print $1 "\t" NR * .7 }' >position
    awk 'NR == FNR { at[$1] = $2; next } { f = substr($2, 5); split($3, v, ":"); d = v[2] - at[f]; d = d < 0 ? -d : d
        if (!(f in best) || d < best[f]) { best[f] = d; name[f] = $NF } }
        END { for (f in best) print f "\t" name[f] }' position candidates.svm | sort | head -9 >truth.tsv
    awk -F'\t' -v OFS='\t' 'NR == 4 { $2 = "no candidate" } { print }' truth.tsv >with && mv with truth.tsv
}

# bats test_tags=long
@test "candidates: --truth measures each point, and chooses the one of the largest mean reciprocal rank" {
    known
    for how in 'hinge .02,.1,.5,2' 'sigmoid .1,1,10' 'hinge .3'; do
        set -- $how
        svm-rank-candidates --edges $1 -D $2 -E 0 --truth truth.tsv candidates.svm line.model times.tsv found \
            2>err >table
        "$reference" table candidates.svm scores times.tsv truth.tsv edges=$1 order-weight=$2 by=messages >expected
        "$reference" compare expected table 2>difference || fail "$how: $(tail -n 1 difference)"
        assert_equal "$(cut -f1-3 table | sed -n 2p)" $'0\t0\t9'
        # the candidates are those of the chosen point
        best=$(grep -v '^left' expected | tail -n +2 | sort -t$'\t' -s -k8,8gr | head -1 | cut -f1)
        candidates --edges $1 -D $best -E 0 candidates.svm line.model times.tsv chosen
        cmp found chosen || fail "$how: not the candidates of weight $best"
        # a structure that is no candidate is counted, and the estimate is written
        grep -w warning err | grep -qw 1 || fail "$(<err)"
        estimate=$(grep '^left' expected | awk -F'\t' '{ printf "%.3f", $NF }')
        sed -n 's/^leave-one-feature-out: .*mrr = //p' err | awk -v e="$estimate" '{
            d = $1 - e; if (d < .001 && d > -.001) found = 1 } END { exit !found }' || fail "not $estimate: $(<err)"
    done
    # the weights matter: MS/MS alone is not the best
    assert_not_equal "$(grep -v '^left' expected | tail -n +2 | sort -t$'\t' -s -k8,8gr | head -1 | cut -f1)" 0
}

@test "candidates: --truth without an output file writes the table only" {
    known
    candidates -D .1,1 -E 0 --truth truth.tsv candidates.svm line.model times.tsv >table
    assert_equal "$(head -1 table)" \
        $'order-weight\ttime-weight\tfeatures\ttop-1\ttop-5\ttop-10\ttop-20\tmrr'
    assert_equal "$(wc -l <table)" 4
    holds . candidates.svm labelled.svm line.model position scores table times.tsv truth.tsv two.svm said train.out
    # the default weights: MS/MS alone first, and the candidates are those of the best row
    candidates --truth truth.tsv candidates.svm line.model times.tsv found >table
    [ "$(wc -l <table)" -ge 4 ]
    assert_equal "$(sed -n 2p table | cut -f1,2)" $'0\t0'
    "$reference" measures found truth.tsv score >measured
    near "$(metric mrr measured)" "$(columns 8 table | sort -gr | head -1)" 1e-4
    "$reference" measures found truth.tsv ms-score >measured
    near "$(metric mrr measured)" "$(sed -n 2p table | cut -f8)" 1e-4
}

@test "candidates: both weights are lists with --truth" {
    timed
    awk '{ $1 = (NR * 7) % 11; print $0 " # C" NR }' candidates.svm >with && mv with candidates.svm
    awk 'substr($2, 5) in seen { next } { seen[substr($2, 5)]; print substr($2, 5) "\tC" NR }' candidates.svm >truth.tsv
    candidates -D .1,1 -E .5,2 --truth truth.tsv candidates.svm targets.model times.tsv found >table
    assert_equal "$(columns 1,2 table | tr '\t\n' ': ')" '0:0 0.1:0.5 0.1:2 1:0.5 1:2 '
    best=$(columns 1,2,8 table | sort -t$'\t' -s -k3,3gr | head -1)
    candidates -D "$(cut -f1 <<<"$best")" -E "$(cut -f2 <<<"$best")" candidates.svm targets.model times.tsv chosen
    cmp found chosen
}

# ---- what is refused ----

# refuses MESSAGE-START ARGUMENTS: exit 1 and a line that begins so; the output file is as before, with nothing beside.
refuses() {
    local start=$1
    shift
    mkdir -p folder
    echo old >folder/found
    refused svm-rank-candidates -q "$@" folder/found
    [[ "$(<err)" == "svm-rank-candidates: $start"?* ]] || fail "not '$start': $(<err)"
    assert_equal "$(<folder/found)" old
    holds folder found
}

simple() {
    problem '1 qid:A 1:3 # a\n0 qid:A 1:1 # b\n5 qid:B 1:2 # c\n4 qid:B 1:1 # d\n' 'A\t1\nB\t2\n'
}

# bats test_tags=long,slow
@test "candidates: bad files of times are refused at their line" {
    simple
    while IFS='|' read -r line text; do
        # shellcheck disable=SC2059
        printf "$text" >bad
        refuses "bad:$line:" candidates.svm line.model bad
        # shellcheck disable=SC2059
        printf "$text" | gzip >bad
        refuses "bad:$line:" candidates.svm line.model bad
    done <<'TABLE'
3|A\t1\nB\t2\nA\t3\n
3|A\t1\nB\t2\nA\t1\tx\n
2|A\t1\nA\t1\n
4|feature\tminutes\nA\t1\nB\t2\nB\t2\n
2|A\t1\nB\tnan\n
2|A\t1\nB\tinf\n
2|A\t1\nB\t-inf\n
2|A\t1\nB\t1e400\n
2|A\t1\nB\t0x10\n
2|A\t1\nB\t1,5\n
2|A\t1\nB\t1x\n
2|A\t1\nB\t2 min\n
2|A\t1\nB\t\n
2|A\t1\nB\tminutes\n
3|feature\tminutes\nA\t1\nB\tminutes\n
2|feature\tminutes\nfeature\tminutes\nA\t1\n
2|A\t1\nB\n
2|A\t1\nB 2\n
2|A\t1\nB\t2\tx\ty\n
1|A\t1\tx\ty\nB\t2\n
2|A\t1\n\t2\n
2|A\t1\nB\t2\0\n
2|A\t1\n\xef\xbb\xbfB\t2\n
TABLE
}

# bats test_tags=long
@test "candidates: bad files of known structures are refused at their line" {
    simple
    while IFS='|' read -r line text; do
        # shellcheck disable=SC2059
        printf "$text" >bad
        refuses "bad:$line:" --truth bad candidates.svm line.model times.tsv
    done <<'TABLE'
2|A\ta\nB\n
2|A\ta\nB c\n
2|A\ta\nB\tc\tmore\n
2|A\ta\nA\ta\n
3|A\ta\nB\tc\nA\tb\n
2|A\ta\n\tc\n
2|A\ta\nB\tc\0\n
TABLE
    : >bad
    refuses 'bad: ' --truth bad candidates.svm line.model times.tsv
    refuses 'missing: ' --truth missing candidates.svm line.model times.tsv
}

# bats test_tags=long
@test "candidates: bad rows are refused at their line" {
    simple
    while IFS='|' read -r line text; do
        # shellcheck disable=SC2059
        printf -- "$text" >bad
        refuses "bad:$line:" bad line.model times.tsv
    done <<'TABLE'
2|1 qid:A 1:1\nx qid:B 1:1\n
2|1 qid:A 1:1\ninf qid:B 1:1\n
2|1 qid:A 1:1\n1e400 qid:B 1:1\n
2|1 qid:A 1:1\n0x1 qid:B 1:1\n
2|1 qid:A 1:1\n1x qid:B 1:1\n
2|1 qid:A 1:1\nnanx qid:B 1:1\n
2|1 qid:A 1:1\n1 qid:B 1:x\n
2|1 qid:A 1:1\n1 qid:B 1:nan\n
2|1 qid:A 1:1\n1 qid:B 1:-inf\n
2|1 qid:A 1:1\n1 qid:B 2:1 1:1\n
2|1 qid:A 1:1\n1 qid: 1:1\n
2|1 qid:A 1:1\n1 qid:B qid:B 1:1\n
1|1 qid:A 1:1e39\n1 qid:B 1:1\n
3|# c\n1 qid:A 1:1\nnan qid:B 0:1\n
TABLE
    : >bad
    refuses 'bad: ' bad line.model times.tsv
    # labels that only this program accepts
    printf 'nan 1:1\n1 1:2\n' >bad
    refused svm-rank-predict -q bad line.model
}

# bats test_tags=long
@test "candidates: files that do not fit together, or cannot be read, are refused" {
    simple
    for files in 'missing line.model times.tsv' 'candidates.svm missing times.tsv' \
        'candidates.svm line.model missing'; do
        refuses 'missing: ' $files
    done
    refuses '.: ' candidates.svm line.model .
    # no feature has both candidates and a time
    printf 'C\t1\nD\t2\n' >other.tsv
    refuses '' candidates.svm line.model other.tsv
    : >other.tsv
    refuses '' candidates.svm line.model other.tsv
    printf 'feature\tminutes\n' >other.tsv
    refuses '' candidates.svm line.model other.tsv
    sed 's/qid:. //' candidates.svm >none.svm
    refuses '' none.svm line.model times.tsv
    # damaged models, and those of others
    sed '$d' line.model >cut.model
    refuses '' candidates.svm cut.model times.tsv
    refuses '' candidates.svm candidates.svm times.tsv
    svm-mc-train -q two.svm mc.model >report
    refuses '' candidates.svm mc.model times.tsv
    rows 20 1 4 5 >rows.svm
    svm-rank-train -q --pair-features exterior rows.svm pairs.model >report
    refuses '' candidates.svm pairs.model times.tsv
    # cut gzip files
    gzip -c times.tsv | head -c 20 >cut.gz
    refuses 'cut.gz: ' candidates.svm line.model cut.gz
    gzip -c candidates.svm | head -c 30 >cut.gz
    refuses 'cut.gz: ' cut.gz line.model times.tsv
    # a system that the model does not know
    refuses '' --system nowhere candidates.svm line.model times.tsv
}

@test "candidates: features whose MS/MS scores are all equal do not change the weight of the others" {
    printf '1 1:1\n2 1:2\n' >train.svm
    svm-rank-train -q train.svm time.model >report
    printf 'A\t1\nB\t2\n' >times.tsv
    for score in .5 2.5; do
        printf '%s\n' '0 qid:A 1:1 # a1' '2.5 qid:A 1:4 # a2' >$score.svm
        for name in b1 b2 b3; do echo "$score qid:B 1:1 # $name"; done >>$score.svm
        svm-rank-candidates -q -D 1 $score.svm time.model times.tsv >$score.out
    done
    # theta is 1 over the deviation of A, 1.25, whatever the equal scores of B are
    diff <(grep ^A .5.out) <(grep ^A 2.5.out)
    near "$(awk '$2 == "a2" { print $5 }' .5.out)" -.921129503287375 1e-12
}

@test "candidates: outputs that cannot be written are errors" {
    simple
    refused svm-rank-candidates -q candidates.svm line.model times.tsv /dev/full
    refused svm-rank-candidates -q candidates.svm line.model times.tsv nosuch/found
    mkdir folder
    refused svm-rank-candidates -q candidates.svm line.model times.tsv folder
    holds folder
    run -1 bash -c 'svm-rank-candidates -q candidates.svm line.model times.tsv >/dev/full'
    printf 'A\ta\n' >truth.tsv
    run -1 bash -c 'svm-rank-candidates -q --truth truth.tsv candidates.svm line.model times.tsv >/dev/full'
}

# bats test_tags=long
@test "candidates: usage errors" {
    simple
    printf 'A\ta\n' >truth.tsv
    while read -r options; do
        misused svm-rank-candidates $options candidates.svm line.model times.tsv
    done <<'TABLE'
--unknown
-D
-D x
-D -1
-D nan
-D inf
-D 1e400
-D 1x
-D 1,2
-E -1
-E nan
-E 0,1
--order-weight 1,2
--time-weight 1,2
-D 1,x --truth truth.tsv
-D 1,,2 --truth truth.tsv
-D 1,-2 --truth truth.tsv
--trees -1
--trees x
--trees 1.5
--edges 3
--edges linear
--best 0
--best -1
--best 1.5
--seed x
--seed -1
-j 0
-j x
--threads 100000
TABLE
    misused svm-rank-candidates candidates.svm
    misused svm-rank-candidates candidates.svm line.model
    misused svm-rank-candidates candidates.svm line.model times.tsv found more
    misused svm-rank-candidates candidates.svm line.model times.tsv --truth
    misused svm-rank-candidates candidates.svm line.model times.tsv --system
    misused svm-rank-candidates candidates.svm line.model times.tsv --standards
    run -0 svm-rank-candidates --help
    assert_line 'usage: svm-rank-candidates [options] candidates_file model_file times_file'
    for option in --trees --edges --order-weight --time-weight --truth --best --system --standards --seed --threads; do
        assert_output --partial -- "$option"
    done
    run -0 svm-rank-candidates --version
    assert_output "$(svm-rank-predict --version | sed 's/svm-rank-predict/svm-rank-candidates/')"
    # long and short names of options are the same
    candidates -D .5 -E 0 -j 1 candidates.svm line.model times.tsv short
    candidates --order-weight=.5 --time-weight 0 --threads 1 --edges hinge --trees 0 \
        candidates.svm line.model times.tsv long
    cmp short long
}

# ---- the published data set ----

# bats test_tags=long,slow
@test "candidates: retention order raises top-1 and the mean reciprocal rank of the published data set" {
    quick && skip 'long: the plain build does it'
    real candidates/impact.train.svm.gz
    svm-rank-train -q -t minmax -c 1 --targets 1 "$real" model >report
    real candidates/impact.times.tsv
    times=$real
    real candidates/impact.truth.tsv
    truth=$real
    real candidates/impact.svm.gz
    candidates "$real" model "$times" found
    assert_equal "$(wc -l <found)" 139488
    "$reference" measures found "$truth" ms-score >alone
    "$reference" measures found "$truth" score >ordered
    # the published scores: 14 of 60
    near "$(metric top-1 alone)" "$(awk 'BEGIN { print 14 / 60 }')" 1e-4
    near "$(metric mrr alone)" .381 2e-3
    within "$(metric top-1 ordered)" "$(awk '$1 == "top-1" { print $2 + 1e-9 }' alone)" 1
    within "$(metric mrr ordered)" "$(awk '$1 == "mrr" { print $2 + 1e-9 }' alone)" 1
    # the table has the same numbers
    candidates --truth "$truth" "$real" model "$times" chosen >table
    for name in top-1 top-5 top-10 top-20 mrr; do
        near "$(sed -n '1p;2p' table | cell $name order-weight 0 /dev/stdin)" "$(metric $name alone)" 1e-4
    done
    "$reference" measures chosen "$truth" score >best
    near "$(metric mrr best)" "$(columns 8 table | sort -gr | head -1)" 1e-4
    within "$(metric mrr best)" "$(metric mrr ordered)" 1
}
