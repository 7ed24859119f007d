# Pictures: roc, pr, sweep-plot, log-plot and smm-heatmap. Curves are read back from the SVG.

load helper

setup() {
    with_tools
    command -v gnuplot >/dev/null || skip 'gnuplot is not installed'
    # positives score 3 and 2, a negative 2, three negatives 1: AUC = 7.5 / 8, AP = (1 + 5/6) / 2
    printf '%s 1:1\n' +1 -1 +1 -1 -1 -1 >truth.svm
    printf '%s\n' 3 2 2 1 1 1 >scores
    printf 'fpr\ttpr\tthreshold\n0\t0\tinf\n0\t.5\t3\n.25\t1\t2\n1\t1\t1\n' >curve.tsv
    printf 'fpr\ttpr\tthreshold\n0\t0\tinf\n1\t1\t.5\n' >constant.tsv
}

# curve FILE NUMBER: the corners of a curve of that number, from 0, as `x y` from 0 to 1 of the axes.
curve() {
    python3 - "$@" <<'END'
import re, sys
colours = ["  0, 114, 178", "213,  94,   0", "  0, 158, 115"]
text = open(sys.argv[1]).read()
axes = re.search(r"stroke='black'  d='M([\d.]+),([\d.]+) L[\d.]+,([\d.]+) L([\d.]+),", text)
left, top, bottom, right = map(float, axes.groups())
for path in re.findall(r"stroke='rgb\(%s\)'[^>]* d='([^']*)'" % colours[int(sys.argv[2])], text):
    for piece in path.split("M")[1:]:
        points = [tuple(map(float, point.split(","))) for point in piece.replace("L", " ").split()]
        if all(y <= bottom + .01 for _, y in points):  # the legend's sample is below
            for x, y in points:
                print(round((x - left) / (right - left), 3), round((bottom - y) / (bottom - top), 3))
END
}

@test "roc: a curve computed by hand, from predictions and from rates" {
    roc --linear --truth truth.svm picture.svg scores
    printf '%s\n' '0.0 0.0' '0.0 0.5' '0.25 1.0' '1.0 1.0' | diff - <(curve picture.svg 0)
    grep -q '>scores (AUC 0.938)<' picture.svg
    grep -q '>chance (AUC 0.500)<' picture.svg
    roc --linear other.svg curve.tsv
    curve picture.svg 0 | diff - <(curve other.svg 0)
    grep -q '>curve (AUC 0.938)<' other.svg
    # labels as words, and the column of a score
    sed 's/^+1/yes/; s/^-1/no/' truth.svm >words.svm
    awk '{ print "no", $1, 7 }' scores >columns
    roc --linear --positive yes --column 2 --truth words.svm --names A other.svg columns
    curve picture.svg 0 | diff - <(curve other.svg 0)
    grep -q '>A (AUC 0.938)<' other.svg
}

@test "roc: constant scores give the diagonal, also on the logarithmic axis" {
    roc --from 0.0001 picture.svg constant.tsv
    curve picture.svg 0 >points
    [ "$(wc -l <points)" -gt 40 ]
    awk '{ x = 10 ^ (4 * ($1 - 1)); d = x - $2; if (d < 0) d = -d; if (d > .002 + .004 * x) exit 1 }' points ||
        fail "$(cat points)"
    grep -q '>constant (AUC 0.500)<' picture.svg
    roc --linear picture.svg constant.tsv
    printf '%s\n' '0.0 0.0' '1.0 1.0' | diff - <(curve picture.svg 0)
    # the output of svm-top-predict for a model without weights
    printf '1 1:1\n-1 1:1\n' >equal.svm
    svm-top-train -q -s svm equal.svm model >report
    svm-top-predict -q --roc flat.tsv equal.svm model labels
    cut -f 1,2 flat.tsv | diff - <(cut -f 1,2 constant.tsv)
}

@test "roc: the logarithmic axis begins below the smallest rate, with the rate of positives there" {
    roc picture.svg curve.tsv
    curve picture.svg 0 >points
    # from .001 on; at .001 the curve is at .5 + .5 (.001 / .25)
    assert_equal "$(head -n 1 points)" '0.0 0.502'
    grep -q '>10⁻³<' picture.svg
    assert_equal "$(tail -n 1 points)" '1.0 1.0'
}

@test "pr: a curve computed by hand" {
    pr --truth truth.svm picture.svg scores
    curve picture.svg 0 >points
    assert_equal "$(head -n 2 points | tr '\n' ' ')" '0.0 1.0 0.5 1.0 '
    grep -qx '1.0 0.667' points
    assert_equal "$(tail -n 1 points)" '1.0 0.333'
    grep -q '>scores (AP 0.917)<' picture.svg
    grep -q '>chance (0.333)<' picture.svg
    pr --positives 2 --negatives 4 other.svg curve.tsv
    curve other.svg 0 | diff points -
    # between thresholds counts grow in proportion: constant scores give a horizontal line
    pr --positives 2 --negatives 6 flat.svg constant.tsv
    curve flat.svg 0 | awk '$2 != .25 { bad = 1 } END { exit bad || !NR }'
    grep -q '>constant (AP 0.' flat.svg
}

@test "pr, roc: areas equal those of svm-top-predict, also with ties" {
    generate top --rows 300 --output rows.svm
    awk '{ for (i = 2; i <= NF; i++) { split($i, a, ":"); $i = a[1] ":" (a[2] > 0 ? 1 : -1) } print }' rows.svm |
        cut -d' ' -f 1-4 >tied.svm
    svm-top-train -q tied.svm model >report
    svm-top-predict --metrics --roc rates.tsv tied.svm model labels >measures
    svm-top-predict -q tied.svm model predictions
    [ "$(cut -d' ' -f 2 predictions | sort -u | wc -l)" -lt 30 ]
    roc picture.svg rates.tsv
    grep -q "(AUC $(printf %.3f "$(metric auc measures)"))" picture.svg
    pr --truth tied.svm picture.svg predictions
    grep -q "(AP $(printf %.3f "$(metric average-precision measures)"))" picture.svg
}

@test "roc, pr: malformed files are refused with their line" {
    refuses() {
        # shellcheck disable=SC2059
        printf "$2" >bad.tsv
        refused roc picture.svg bad.tsv
        [[ "$(<err)" == "roc: bad.tsv$1"* ]] || fail "not $1: $(<err)"
    }
    refuses ': is empty' ''
    refuses ':1: not a curve' 'a\tb\n'
    refuses ':2: tpr: not a number' 'fpr\ttpr\n0\tx\n'
    refuses ':2: rate is not from 0 to 1' 'fpr\ttpr\n0\t1.5\n'
    refuses ':3: rate is below' 'fpr\ttpr\n.5\t.5\n.4\t.6\n'
    refuses ':3: 1 fields' 'fpr\ttpr\n0\t0\n1\n'
    refuses ': does not end at 1 1' 'fpr\ttpr\n0\t.5\n'
    printf '3\n2\n' >short
    refused roc --truth truth.svm picture.svg short
    [[ "$(<err)" == *'2 predictions for the 6 rows of truth.svm' ]]
    printf '3\n2\n2\nx\n1\n1\n' >word
    refused pr --truth truth.svm picture.svg word
    [[ "$(<err)" == "pr: word:4: score is not a number: 'x'" ]]
    printf '1 1:1\n2 1:1\n' >one.svm
    refused roc --truth one.svm picture.svg scores
    [[ "$(<err)" == *'one.svm: all rows are positive' ]]
    refused roc picture.jpg curve.tsv
    refused roc nowhere/picture.svg curve.tsv
    misused pr picture.svg curve.tsv
    misused roc --linear --from .1 picture.svg curve.tsv
    misused roc --names a,b picture.svg curve.tsv
    [ ! -e picture.svg ]
}

@test "pictures: SVG, PNG and PDF according to the end of the name, for any name" {
    printf 'it'\''s <a> & "b" $(c) `d` \\ e_f^g {h}\n' >title
    for end in svg png pdf; do
        roc --title "$(cat title)" --names "$(cat title)" picture.$end curve.tsv
    done
    [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
    [ "$(head -c 4 picture.pdf)" = %PDF ]
    grep -qF "it's &lt;a" picture.svg
    grep -qF 'e_f^g {h} (AUC' picture.svg
    # 6.4 x 4.8 inches by default: 200 dots each in a PNG
    roc --size 5x3 small.png curve.tsv
    python3 -c 'import struct, sys
assert struct.unpack(">II", open("small.png", "rb").read()[16:24]) == (1000, 600)'
    misused roc --size 5 small.png curve.tsv
}

# bats test_tags=long,slow
@test "pictures: texts are drawn literally, also those with a meaning to gnuplot" {
    printf 'iteration\tseconds\tprimal\tdual\tgap\n1\t.1\t2\t1\t.5\n2\t.2\t2\t1.9\t.05\n' >log
    local text
    for text in "'a" "''" '"b"' '\n\101 %d %h %%' '{/Symbol a}_1^2 @~' '`touch obeyed`' '@GPVAL_PWD' '$block1' $'\\' 'a #c; plot' é; do
        log-plot --title "$text" --names "$text" l.svg log
        assert_equal "$(grep -cF "<text>$text</text>" l.svg)" 2
        printf 'set\t%s\tother\n1\t1\t2\n2\t2\t1\n3\t1\t2\n' "${text// /_}" >table # blanks are between columns
        compare --picture c.svg --title "$text" table >/dev/null
        grep -qF "<text>$text</text>" c.svg
        grep -qF "<text>${text// /_} 1.33</text>" c.svg || grep -qF "<text>1.67 ${text// /_}</text>" c.svg
        printf 'kernel\tcost\tm\n%s\t1\t2\nb\t1\t3\n%s\t2\t4\nb\t2\t5\n' "$text" "$text" >table
        sweep-plot l.svg table
        grep -qF "<text>$text</text>" l.svg
    done
    cp log "'a.tsv"
    log-plot l.svg "'a.tsv" log
    grep -qF "<text>'a</text>" l.svg
    [ ! -e obeyed ]
}

@test "sweep-plot: one parameter gives a line with standard errors and the best point" {
    printf '%s\t%s\t%s\t%s\t%s\n' point cost accuracy accuracy-sd gap 1 0.25 .5 .2 1e-3 2 1 .9 .1 1e-3 \
        3 4 .7 0 1e-3 '# best: whatever' '' '' '' '' >sweep.tsv
    sweep-plot --folds 4 picture.svg sweep.tsv
    curve picture.svg 0 >points
    # powers are evenly spaced; .5 +- .1, .9 +- .05
    awk '{ x[NR] = $1; y[NR] = $2 } END { for (i in x) if (x[i] > .49 && x[i] < .51) m = 1; exit !m }' points
    for text in '>2⁻²<' '>2⁰<' '>2²<' '>C<' '>accuracy<' '>best: 0.9 at C = 2⁰<' '>mean and standard error<'; do
        grep -qF "$text" picture.svg || fail "no $text"
    done
    sweep-plot picture.svg sweep.tsv
    grep -q '>mean and standard deviation of folds<' picture.svg
    cut -f 2,3 sweep.tsv >plain.tsv
    sweep-plot picture.svg plain.tsv
    run -1 grep -q 'mean and standard' picture.svg
    # shards: tables with their headers, joined or separate
    { head -n 2 plain.tsv && head -n 1 plain.tsv && sed -n 3,4p plain.tsv; } >cat.tsv
    sweep-plot cat.svg cat.tsv
    cmp <(grep -v '<title>' cat.svg) <(grep -v '<title>' picture.svg)
    # a measure that is better when it is lower
    printf 'cost\tlog-loss\n.1\t.5\n1\t.4\n10\t.6\n' >loss.tsv
    sweep-plot picture.svg loss.tsv
    grep -q '>best: 0.4 at C = 1<' picture.svg
}

@test "sweep-plot: two parameters give a map with the best value over all others" {
    generate mc --rows 120 --features 5 --classes 2 --output rows.svm
    svm-mc-train -q -v 3 -t rbf -c 0.5,8 -g 2^-5,2^-2,2 rows.svm >sweep.tsv
    best=$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) { at[$i] = i } next }
        $at["accuracy"] > most { most = $at["accuracy"] } END { print most }' sweep.tsv)
    sweep-plot picture.svg sweep.tsv
    for text in '>C<' '>γ<' '>accuracy<' '>0.5<' '>8<' '>2⁻⁵<' ">best: $(printf %.4g "$best") at C = "; do
        grep -qF "$text" picture.svg || fail "no $text in $(grep -o '<text>[^<]*' picture.svg)"
    done
    sweep-plot --measure macro-f1 --x gamma picture.svg sweep.tsv 2>said
    grep -qF 'the best over cost is shown' said
    grep -qF '>macro-f1<' picture.svg
    run -1 sweep-plot --measure speed picture.svg sweep.tsv
    assert_output --partial "no measure 'speed' (measures: accuracy"
    head -n 2 sweep.tsv >one.tsv
    run -1 sweep-plot picture.svg one.tsv
    assert_output --partial 'nothing varies'
    printf 'cost\taccuracy\n1\t.5\n2\tx\n' >bad.tsv
    run -1 sweep-plot picture.svg bad.tsv
    assert_output "sweep-plot: bad.tsv:3: accuracy: not a number: 'x'"
    # cells without a value stay empty
    printf 'cost\tgamma\taccuracy\n1\t1\t.5\n1\t3\t\n2\t1\t.6\n' >part.tsv
    sweep-plot picture.svg part.tsv
}

# bats test_tags=long,slow
@test "sweep-plot: numbers of a map never overlap: they are smaller, or there are none" {
    # sweep N M: a sweep of N by M points
    sweep() {
        awk -v n=$1 -v m=$2 'BEGIN { print "point\tcost\tgamma\taccuracy"
            for (i = 1; i <= n; i++) for (j = 1; j <= m; j++)
                printf "%d\t%g\t%g\t%.4f\n", ++k, 2 ^ i, 2 ^ -j, .5 + .001 * ((7 * i + 5 * j) % 301) }'
    }
    # numbers SIZE: how many cells have numbers in a picture of that size, whose distances are checked
    numbers() {
        sweep-plot --size $1 map.svg grid
        python3 - <<'END'
import re
rows = {}
for x, y, size, digits in re.findall(
        r'translate\(([\d.]+),([\d.]+)\)"[^>]*font-size="([\d.]+)"[^>]*"middle">\s*<text>(0\.\d{3,})<', open("map.svg").read()):
    rows.setdefault(y, []).append((float(x), float(size) * .56 * len(digits)))
for cells in rows.values():
    cells.sort()
    assert all(b - a >= width for (a, width), (b, _) in zip(cells, cells[1:])), cells
print(sum(map(len, rows.values())))
END
    }
    sweep 11 10 >grid
    assert_equal "$(numbers 6.4x4.8)" 110
    assert_equal "$(numbers 10x7)" 110
    assert_equal "$(numbers 3x2)" 0
    sweep 30 30 >grid
    assert_equal "$(numbers 6.4x4.8)" 0
    assert_equal "$(numbers 20x15)" 900
}

@test "sweep-plot, log-plot: a table of another kind is refused by its header" {
    printf 'iteration\tseconds\tprimal\tdual\tgap\n1\t.1\t2\t1\t.5\n' >log
    printf 'recall\tprecision\tthreshold\n1\t.5\t2\n' >pr.tsv
    printf 'point\tcost\taccuracy\tgap\tseconds\n1\t1\t.5\t.1\t1\n2\t2\t.6\t.1\t1\n' >sweep.tsv
    local file
    for file in curve.tsv pr.tsv log; do
        run -1 sweep-plot picture.svg $file
        assert_output "sweep-plot: $file:1: not the table of a sweep (point, parameters, measures)"
    done
    run -1 log-plot picture.svg sweep.tsv
    assert_output 'log-plot: sweep.tsv:1: not a log of a trainer (iteration seconds primal dual gap)'
    [ ! -e picture.svg ]
    sweep-plot picture.svg sweep.tsv
}

@test "log-plot: gaps of the trainers' logs, without zeros" {
    generate rank --molecules 60 --output rows.svm
    svm-rank-train -q --log newton.log --solver newton rows.svm model >report
    svm-rank-train -q --log ocas.log --solver ocas rows.svm model >report
    log-plot picture.svg newton.log ocas.log
    for text in '>newton<' '>ocas<' '>Seconds<' '>Relative duality gap<'; do
        grep -qF "$text" picture.svg || fail "no $text"
    done
    log-plot --x iteration --log-x --names a,b picture.svg newton.log ocas.log
    grep -qF '>Iteration<' picture.svg
    printf '%s\t%s\t%s\t%s\t%s\n' iteration seconds primal dual gap 1 0 2 1 1 2 1 2 1 .1 3 2 1 1 0 >x.log
    log-plot picture.svg x.log
    printf '%s\n' '0.0 1.0' '1.0 0.0' | diff - <(curve picture.svg 0 | sort -u)
    printf '%s\t%s\t%s\t%s\t%s\n' iteration seconds primal dual gap 1 0 2 1 none >x.log
    run -1 log-plot picture.svg x.log
    assert_output 'log-plot: x.log: has no gap above 0'
    run -1 log-plot picture.svg curve.tsv
    assert_output --partial 'curve.tsv:1: not a log'
}

@test "smm-heatmap: the matrix of --weights, rows and columns counted from 1" {
    printf '# positive a\n# bias\n0\n# B 2 3\n1 -2 0\n0 0 .5\n# singular-values 1\n1\n# positive b\n# B 2 3\n9 9 9\n9 9 9\n' >weights
    smm-heatmap --title 'a title' picture.svg weights
    for text in '>a title<' '>Row<' '>Column<' '>Weight<' '>3<'; do
        grep -qF "$text" picture.svg || fail "no $text"
    done
    run -1 grep -q '>4<' picture.svg # a scale to 2, from the first matrix
    smm-heatmap --positive b picture.svg weights
    grep -q '>5<' picture.svg
    grep -qF '<title>picture</title>' picture.svg
    smm-heatmap --title 'a < b & c' picture.svg weights
    grep -qF '<title>a &lt; b &amp; c</title>' picture.svg
    run -1 smm-heatmap --positive c picture.svg weights
    assert_output --partial "no machine for label 'c' (labels: a, b)"
    generate smm --rows 60 --output rows.svm
    svm-smm-train -q --weights weights rows.svm model >report
    smm-heatmap picture.pdf weights
    # gnuplot cannot draw a column as an image; it is drawn as a polygon for each cell
    for n in 2 5; do
        seq -1 $((n - 2)) >column
        smm-heatmap picture.svg column
        grep -c '<polygon' picture.svg
    done >polygons
    assert_equal "$(awk 'NR > 1 { print $1 - last } { last = $1 }' polygons)" 3
    printf '1 2\n3\n' >bad
    run -1 smm-heatmap picture.svg bad
    assert_output 'smm-heatmap: bad:2: 1 numbers in a matrix of 2 columns'
    printf '1 x\n' >bad
    run -1 smm-heatmap picture.svg bad
    assert_output "smm-heatmap: bad:1: not a number: 'x'"
}

@test "smm-heatmap: names of rows and columns, every second or third where there are many" {
    printf '%s\n' '1 2 3' '-1 0 .5' >weights
    printf '%s\n' 'Fz %d "a"' 'C3 & <b>' >rows
    printf '\xef\xbb\xbf0 ms\r\n4 ms\r\n8 ms' >columns
    smm-heatmap --row-names rows --column-names columns picture.svg weights
    for text in '>Fz %d "a"<' '>C3 &amp; &lt;b><' '>0 ms<' '>4 ms<' '>8 ms<' '>Row<'; do
        grep -qF "$text" picture.svg || fail "no $text"
    done
    run -1 smm-heatmap --row-names columns picture.svg weights
    assert_output 'smm-heatmap: columns: 3 names for 2 rows'
    run -1 smm-heatmap --column-names rows picture.svg weights
    assert_output 'smm-heatmap: rows: 2 names for 3 columns'
    seq 60 >weights
    seq 60 | sed 's/^/n/' >rows
    smm-heatmap --row-names rows picture.svg weights
    grep -q '>n1<' picture.svg
    run -1 grep -q '>n2<' picture.svg
    smm-heatmap --size 4x20 --row-names rows picture.svg weights
    assert_equal "$(grep -c '>n[0-9]*<' picture.svg)" 60
}

@test "pictures: without gnuplot there is one line that names its package" {
    mkdir empty
    ln -s "$(python3 -c 'import sys; print(sys.executable)')" empty/python3
    ln -s "$(command -v env)" empty
    PATH=$root/tools:$tmp/empty run -1 roc picture.svg curve.tsv
    assert_output 'roc: gnuplot is missing (Debian: apt-get install gnuplot-nox)'
}
