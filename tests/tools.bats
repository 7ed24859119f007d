# Properties of all tools, and tools/compare.

load helper

setup() { with_tools; }

@test "tools/compare: a table computed by hand" {
    printf 'data A B C\nd1 .9 .8 .7\nd2 .9 .9 .7\n# a comment\n\nd3 .6 .8 .7\nd4 .9 .7 .8\n' >table
    # ranks 1 2 3, 1.5 1.5 3, 3 1 2, 1 3 2; squares 14 13.5 14 14, variance (55.5 - 48) / 2 = 3.75;
    # chi2 = 16 (.375^2 + .125^2 + .5^2) / 3.75 = 26/15, p = exp(-13/15);
    # F = 3*26/15 / (4*2 - 26/15) = .8298, p = (1 + 2F/6)^-3; CD = 2.3437 sqrt(1/2)
    compare table >out
    cat >expected <<'END'
rank A 1.6250
rank B 1.8750
rank C 2.5000
data-sets 4
methods 3
friedman-chi2 1.7333
friedman-p 0.4204
iman-davenport-f 0.8298
iman-davenport-p 0.4807
alpha 0.05
critical-difference 1.6572
END
    diff expected out
    # the transposed order
    compare --lower table | grep '^rank' >lower
    printf 'rank C 1.5000\nrank B 2.1250\nrank A 2.3750\n' | diff - lower
    # ten data sets with the same ranks: chi2 = n (k-1), CD = 2.3437 sqrt(1/5)
    awk 'BEGIN { print "d A B C"; for (i = 1; i <= 10; i++) print "s" i, 3, 2, 1 }' >alike
    compare alike >out
    grep -qx 'friedman-chi2 20.0000' out
    grep -qx 'iman-davenport-f inf' out
    grep -qx 'critical-difference 1.0481' out
    grep '^differs' out >differs
    echo 'differs A C' | cmp - differs
}

# bats test_tags=long,slow
@test "tools/compare: q equals the published table for two to ten methods (Demsar 2006, table 5)" {
    for row in '0.05 1.960 2.344 2.569 2.728 2.850 2.948 3.031 3.102 3.164' \
        '0.1 1.645 2.052 2.291 2.459 2.589 2.693 2.780 2.855 2.920'; do
        read -r -a q <<<"$row"
        for k in 2 3 4 5 6 7 8 9 10; do
            awk -v k=$k 'BEGIN { for (r = 0; r < 3; r++) { line = r ? "s" r : "d"
                for (i = 1; i <= k; i++) line = line " " (r ? i : "m" i); print line } }' >table
            compare --alpha "${q[0]}" table | awk -v k=$k -v q="${q[k - 1]}" '
                $1 == "critical-difference" { d = $2 / sqrt(k * (k + 1) / 12) - q }
                END { exit !(d < .0012 && d > -.0012) }' || fail "q of $k at ${q[0]}"
        done
    done
}

@test "tools/compare: the diagram has each method and each group, and bad tables are refused" {
    printf 'd A B\ns 1 2 3\n' >long
    run -1 compare long
    assert_output 'compare: long:2: 4 fields for 3 columns'
    printf 'd A B\ns 1 x\n' >word
    run -1 compare word
    assert_output "compare: word:2: not a number: 'x'"
    # with tabs, a cell without a value leaves out its data set
    printf 'd\tA\tB\n%s\n%s\n%s\n%s\n' $'a b\t1\t2' $'c\t3\t' $'d\t\t4' $'e\t2\t1' >gaps
    compare gaps >out 2>said
    grep -qx 'data-sets 2' out || fail "$(cat out)"
    assert_equal "$(cat said)" 'compare: 2 left out: no value of each of A, B'
    printf 'd A B\ns 1 2\n' >one
    run -1 compare one
    assert_output --partial 'at least two data sets'
    command -v gnuplot >/dev/null || skip 'gnuplot is not installed'
    awk 'BEGIN { print "d A B <C>"; for (i = 1; i <= 10; i++) print "s" i, 3, 2, 1 }' >alike
    compare --picture diagram.svg alike >out
    # the bars A-B and B-C are parts of one path, the last
    assert_equal "$(grep -o " d='[^']*'" diagram.svg | tail -n 1 | grep -o M | wc -l)" 2
    for text in 'A 1.00' 'B 2.00' '3.00 &lt;C>' 'CD = 1.048'; do
        grep -qF ">$text<" diagram.svg || fail "no $text: $(grep -o '<text>.*' diagram.svg)"
    done
}

@test "tools/compare: chi^2 with ties is scipy's" {
    local python=python3
    $python -c 'import scipy.stats' 2>/dev/null || python=/usr/bin/python3
    $python -c 'import scipy.stats' 2>/dev/null || skip 'no scipy'
    # many ties, also of whole rows
    awk 'BEGIN { s = 5; print "d A B C D E"; for (i = 1; i <= 40; i++) { line = i
        for (j = 0; j < 5; j++) { s = (s * 16807) % 2147483647; line = line " " (i % 9 ? s % 3 + (j == 4) : 7) }
        print line } }' >table
    compare table | awk '/^friedman/ { print $2 }' >ours
    $python - >theirs <<'END'
from scipy.stats import friedmanchisquare
rows = [line.split()[1:] for line in open("table")][1:]
chi2, p = friedmanchisquare(*([float(row[j]) for row in rows] for j in range(5)))
print(f"{chi2:.4f}\n{p:.4g}")
END
    diff theirs ours
    printf 'd A B\n1 2 2\n2 3 3\n' >equal
    compare equal | grep -qx 'friedman-chi2 0.0000'
}

# bats test_tags=long,slow
@test "tools/compare: sign test, Wilcoxon's and the randomisation test of two methods, computed by hand" {
    # differences 3 -1 2 4 0: signed ranks of 1 2 3 4 are +9 -1; P(sum <= 1) = 2/16, twice .25
    # signs: 3 of 4; P(<= 1 of 4) = 5/16, twice .625; of the 16 sums of +-1 +-2 +-3 +-4, 4 are at least 8 in size
    printf '%s\t%s\n' q m a 4 b 1 c 5 d 9 e 2 >one.tsv
    printf '%s\t%s\n' q m b 2 a 1 c 3 d 5 e 2 f 7 g '' >two.tsv
    compare --resamples 100 --measure m one.tsv two.tsv >out 2>said
    grep -qx 'compare: 2 left out: no value of each of one.tsv, two.tsv' said
    tail -n 1 out | cut -f 1-3,6-11 | diff - <(printf '%s\t' one two 1.6 3 1 1 0.625 0.25 && echo 0.25)
    # equal sizes share ranks: differences 1 1 1: one sum of 8 at each end
    printf 'd A B\n1 2 1\n2 3 2\n3 4 3\n' >table
    compare --resamples 100 table | tail -n 1 | cut -f 3-11 | diff - <(printf '%s\t' 1 1 1 3 0 0 0.25 0.25 && echo 0.25)
    # Holm: of three tests the smallest counts three times
    printf 'd A B C\n%s\n%s\n%s\n' '1 9 5 1' '2 8 5 1' '3 7 6 1' >table
    compare --resamples 100 --pairs table >out
    awk -F'\t' '/^[ABC]\t/ { n += $9 == .75 } END { exit n != 3 }' out || fail "$(cat out)"
    # the interval holds the mean, and depends on the seed only
    compare --measure m one.tsv two.tsv 2>said | tail -n 1 | awk -F'\t' 'END { exit !($4 <= $3 && $3 <= $5 && $4 < $5) }'
    compare --seed 2 --resamples 1000 table >a
    compare --seed 2 --resamples 1000 table | cmp a -
    # beyond 16 differences signs are drawn: the p-values agree
    for n in 16 17; do
        awk -v n=$n 'BEGIN { print "d A B"; for (i = 1; i <= n; i++) print i, i % 5 - (i == 17), 1.3 }' >table
        compare --resamples 20000 table | tail -n 1 | cut -f 11
    done >p
    awk '{ p[NR] = $1 } END { d = p[1] - p[2]; exit !(d < .05 && d > -.05 && p[1] < .3 && p[1] > .02) }' p || fail "$(cat p)"
    # many small wins and a large loss: the mean is not shown to differ
    awk 'BEGIN { print "d A B"; for (i = 1; i <= 30; i++) print i, i == 1 ? -3 : .1 + i / 1000, 0 }' >table
    compare table | tail -n 1 | awk -F'\t' 'END { exit !(NF && $9 < .001 && $10 < .001 && $11 > .1 && $4 < 0 && $5 > 0) }'
    # beyond 200 the normal approximation continues the exact distribution
    for n in 200 201; do
        awk -v n=$n 'BEGIN { print "d A B"; for (i = 1; i <= n; i++) print i, (i * 7919 % 211) / 9, (i * 104729 % 199) / 9 }' >table
        compare --resamples 100 table | tail -n 1 | cut -f 10
    done >p
    awk '{ p[NR] = $1 } END { d = p[1] - p[2]; exit !(d < .03 && d > -.03 && p[1] > .001) }' p || fail "$(cat p)"
}

@test "tools/compare: predictions against the labels of a test file" {
    printf '%s\n' '1 qid:1 1:1' '2 qid:1 1:1' '3 qid:1 1:1' '1 qid:2 1:1' '2 qid:2 1:1' >rows
    printf '%s\n' 1 2 3 1 2 >right
    printf '%s\n' 1 1 0 2 2 >wrong
    # queries: 1 and 1 against (.5 + 0 + 0) / 3 and .5
    compare --truth rows right wrong >out
    assert_equal "$(tail -n 1 out | cut -f 3)" 0.666667
    printf '%s\n' 'a 1:1' '2.0 1:1' 'b 1:1' >rows
    printf '%s\n' a 2 b >right
    printf '%s\n' 'a .5' '+2 .1' 'c .3' >wrong
    compare --truth rows right wrong >out
    assert_equal "$(tail -n 1 out | cut -f 3,6-8 | tr '\t' ' ')" '0.333333 1 0 2'
    # the shortest names that distinguish the files
    cp right s.right
    cp wrong s.wrong
    compare --truth rows s.right s.wrong >out
    assert_equal "$(tail -n 1 out | cut -f 1-3 | tr '\t' ' ')" 's.right s.wrong 0.333333'
    misused compare --truth rows right right
    printf 'a\n' >short
    run -1 compare --truth rows right short
    assert_output 'compare: short: 1 predictions for the 3 rows of rows'
}

@test "tools/compare: measures of the scores of other programs are svm-rank-predict's" {
    generate rank --systems 3 --molecules 40 --features 20 | awk '{ $1 = NR % 4; print }' >rows
    awk '{ srand(NR); print int(9 * rand()) / 3 }' rows >other # with ties
    svm-rank-train -q rows model >report
    svm-rank-predict -q --by-query table --ndcg 3 rows model scores
    for measure in ndcg@3 err@10; do
        compare --truth rows --measure $measure scores other >out
        assert_equal "$(sed -n "s/^$measure scores //p" out)" "$(awk -F'\t' -v m=$measure '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == m) c = i; next } { sum += $c } END { printf "%.6g", sum / (NR - 1) }' table)"
    done
    # ties: the mean over the orders of equal scores
    printf '%s\n' '1 qid:1 1:1' '0 qid:1' '0 qid:1' '0 qid:1' '0 qid:1' >five
    printf '1\n1\n0\n0\n-1e30\n' | compare --truth five --measure mrr - | diff - <(echo 'mrr - 0.75')
    sed 's/^/0./' five >fractions
    run -1 compare --truth fractions --measure ndcg@3 <(seq 5)
    assert_output --partial 'has no ndcg@3: labels are not grades, or no row is relevant'
    misused compare --truth rows --measure queries scores
    misused compare --truth rows --key file --measure map scores other
    sed 's/ qid:[^ ]*//' five >plain
    run -1 compare --truth plain --measure map <(seq 5)
    assert_output 'compare: plain: --measure is of queries: rows without qid have none'
}

@test "tools/blend: the weighted mean of standardised scores, of any family" {
    printf '%s\n' 3 1 2 >first
    printf '%s\n' '+1 10' '-1 -5' '+1 1' >second # of svm-top-predict
    blend first second >mean
    # (3, 1, 2) - 2 over sqrt(2 / 3), (10, -5, 1) - 2 over sqrt(38)
    awk '{ x = (NR == 1) - (NR == 2); y = (NR == 1 ? 8 : NR == 2 ? -7 : -1)
        d = $1 - (x / sqrt(2 / 3) + y / sqrt(38)) / 2; if (d * d > 1e-30) exit 1 }' mean
    blend --weights 3,1 first second >weighted
    awk '{ x = (NR == 1) - (NR == 2); y = (NR == 1 ? 8 : NR == 2 ? -7 : -1)
        d = $1 - (3 * x / sqrt(2 / 3) + y / sqrt(38)) / 4; if (d * d > 1e-30) exit 1 }' weighted
    # units do not matter, not even the largest; headers, names, gzip and standard input as elsewhere
    printf '%s\r\n' score 8.98846567431158e307 -8.98846567431158e307 0 | gzip >large
    paste <(printf '%s\n' name a b c | sed 's/^/score\t/; 1!s/^score/7/; 3s/^7/-1/; 4s/^7/3/') >named
    blend large - <named | diff - <(blend first first)
    blend named large | diff - <(blend first first)
    paste first <(seq 3) | blend - | diff - <(blend first) # --names without comments
    paste first <(seq 7 9) >numbers # names that are numbers, or another program's labels and scores
    run -1 blend numbers
    assert_output 'blend: numbers:1: two columns of numbers, scores and names or the other way round: --column N says which is the score'
    blend --column 1 numbers | diff - <(blend first)
    { printf 'score\tname\n' && cat numbers; } | blend - | diff - <(blend first)
    printf '1 Q0 %s 1 3 dualsvm\n' a b c >run
    run -1 blend run
    assert_output 'blend: run: is a run of --trec, not predictions'
    printf '%s\n' 'a 3 1 7' 'b 1 1 9' 'b 2 1 9' >classes
    run -1 blend classes
    assert_output 'blend: classes:1: 4 columns: --column N says which is the score'
    blend --column 2 classes | diff - <(blend first)
    for file in "equal|all scores are equal" "short|2 predictions for the 3 rows of first" \
        "empty|0 predictions for the 3 rows of first" "huge|a score is too large for a double" \
        "word:3|score is not a number: 'nan'"; do
        printf '%s\n' 1 1 1 >equal
        printf '%s\n' 1 2 >short
        : >empty
        printf '%s\n' 1 1e999 3 >huge
        printf '%s\n' 1 2 nan >word
        run -1 --separate-stderr blend first "${file%%[:|]*}"
        assert_equal "$stderr|$output" "blend: ${file%%|*}: ${file#*|}|"
    done
    run -1 blend empty
    assert_output 'blend: empty: has no predictions'
    for weights in 1 1,0 1,-1 1,inf 1,1e999 '1,' 1,1,1; do
        misused blend --weights=$weights first second
    done
}

@test "tools: each has a --help that fits a terminal, and refuses unknown options" {
    for tool in blend candidates-plot check compare convert easy export inspect log-plot molecules pr report roc smm-heatmap subset sweep-plot; do
        "$root/tools/$tool" --help >help # `export` alone is one of the shell's own commands
        awk 'length > 80 { print; wide = 1 } END { exit wide }' help || fail "$tool --help is wide"
        grep -q '^examples:$' help || fail "$tool --help has no examples"
        misused $tool --no-such-option
    done
    # of which the first would be lost
    misused molecules --label 'RT Inj1' --label 'RT Inj2' own.csv rows
    assert_equal "$(<err)" 'molecules: --label is given twice (see --help)'
}

@test "tools: outputs are treated as in the programs: descriptors, links, permissions, no input as output" {
    awk 'BEGIN { for (i = 1; i <= 20; i++) print i % 2, "1:" i }' >rows
    subset --rows 5 rows part
    for name in /dev/fd/3 /proc/self/fd/3 link; do
        ln -sf /dev/fd/3 link
        seq 2000 >old
        subset --rows 5 rows $name 3<>old
        cmp old part
        echo head >old
        subset --rows 5 rows $name 3>>old
        { echo head && cat part; } | cmp - old
        subset --rows 5 rows $name 3>&1 >out | cmp - part
    done
    { echo head && subset --rows 5 rows /dev/stdout; } 1<>old
    { echo head && cat part; } | cmp - old
    run -1 subset --rows 5 rows /dev/fd/9
    assert_output 'subset: /dev/fd/9: cannot be written: Bad file descriptor'
    cp rows A
    local clash
    while read -r clash; do
        run -2 timeout 60 bash -c "$clash"
        [[ $output == *': two outputs have this name' || $output == *': is read and written' ]] ||
            fail "$clash: $output"
        cmp rows A
    done <<'END'
subset --share .5 A - >>A
subset --share .5 - - <A >>A
subset --share .5 A /dev/fd/3 3>>A
subset --share .5 A /dev/fd/3 3<>A
subset --share .5 --rest - A -
subset --share .5 --rest ./new A new
subset --share .5 --rest /dev/fd/3 A /proc/self/fd/3 3>new
subset --share .5 --rest /dev/fd/3 A /dev/fd/4 3>new 4>>new
convert --from svmlight --to csv A - >>A
check mc A >>A
compare --truth A part rows >>A
END
    subset --rows 5 A A # that reads before it takes the place
    cmp A part
    for mode in 6777 1640 600; do
        echo old >new
        [ "$(id -u)" != 0 ] || chown nobody new
        chmod $mode new
        subset --rows 5 rows new
        assert_equal "$(stat -c '%a %u' new)" "$(printf '%o' $((0$mode & 0777))) $(id -u)"
    done
    ln -sf new link
    subset --rows 5 rows link
    [ -L link ]
    cmp new part
    # links that the system does not follow are not followed
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/fs/protected_symlinks)" = 1 ]; then
        mkdir -m 1777 shared
        echo old >victim
        (cd shared && ln -s ../victim link)
        chown -h nobody shared/link
        run -1 subset --rows 5 rows shared/link
        assert_output 'subset: shared/link: Permission denied'
        assert_equal "$(<victim)" old
    fi
}

@test "tools: a full disk ends with one line, and a closed pipe quietly" {
    printf 'a\n1\n' >data.csv
    if [ -c /dev/full ]; then
        run -1 convert --unlabelled data.csv /dev/full
        assert_output 'convert: /dev/full: cannot be written: No space left on device'
        convert --unlabelled data.csv - >/dev/full 2>err && fail 'no error'
        assert_equal "$(cat err)" 'convert: <stdout>: cannot be written: No space left on device'
    fi
    yes 1 | head -n 100000 | cat <(echo a) - >long.csv
    { convert --unlabelled long.csv - 2>err || echo $? >code; } | head -n 1
    assert_equal "$(cat code) $(cat err)" '141 '
    run -1 convert --unlabelled data.csv nowhere/out
    assert_output 'convert: nowhere/out: No such file or directory'
    # a signal leaves no file
    mkfifo pipe
    python3 "$root/tools/convert" --unlabelled --from csv pipe out 2>err &
    { echo a && sleep 0.5 && kill -TERM $!; } >pipe
    code=0
    wait $! || code=$?
    assert_equal $code 143
    holds . code data.csv err long.csv pipe
}
