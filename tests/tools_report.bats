# tools/report: the page is well-formed, complete in itself, and has the programs' numbers; a browser shows it.

load helper

setup() { with_tools; }

# fraud: a sweep, a model, predictions and measures of top.
fraud() {
    generate top --rows 150 --output train.svm
    generate top --rows 100 --seed 2 --output test.svm
    svm-top-train -q -s svm -t rbf -v 3 -c 1,8 -g 2^-5,2^-2 train.svm model >sweep.tsv
    svm-top-predict --metrics test.svm model labels >measures
}

# bare: a folder for PATH without gnuplot.
bare() {
    mkdir bare
    ln -s "$(python3 -c 'import sys; print(sys.executable)')" bare/python3
    ln -s "$(command -v env)" bare
}

# cells PAGE: a line for each row of its tables, with blanks between, and each paragraph; fails unless the page is
# well-formed and refers to nothing outside.
cells() {
    python3 - "$1" <<'END'
import re, sys, xml.etree.ElementTree as ET
text = open(sys.argv[1], encoding="utf-8").read()
assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
root = ET.fromstring(text)
ids = [e.get("id") for e in root.iter() if e.get("id")]
assert len(set(ids)) == len(ids), "an id is there twice"
links = [v for e in root.iter() for k, v in e.attrib.items() if re.search("href$|src$", k)]
assert all(link[1:] in ids for link in links), links
assert not re.search(r"<script|@import|url\((?!.?#)", text)
for e in root.iter():
    if e.tag in ("tr", "p", "h1", "h2", "pre", "figcaption"):
        print(" ".join(t.strip() for t in e.itertext() if t.strip()))
END
}

@test "report: a page of a sweep, a model, predictions and measures has the programs' numbers" {
    fraud
    report --sweep sweep.tsv --model model --truth test.svm --predictions labels --measures measures page.html
    cells page.html >text
    local best
    best=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        NR == 2 || $at["tpr@0.01"] > most { most = $at["tpr@0.01"]; cost = $at["cost"]; gamma = $at["gamma"] }
        END { print "tpr@0.01 = " most " is the best of 4 points, at cost " cost ", gamma " gamma "." }' sweep.tsv)
    svm-top-predict -q --confusion table test.svm model again
    for line in 'top: svm, rbf' "$best" "primal $(header primal model)" "dual $(header dual model)" \
        "support-vectors $(sed -n '/^SV$/,/^end/p' model | sed '1d;$d' | wc -l)" "auc $(printf %.6g "$(metric auc measures)")" \
        "0.1 $(printf %.6g "$(metric tpr@0.1 measures)")" \
        '# incomplete: if given, -w, --row-weights, -e' \
        "svm-top-train --formulation svm --loss hinge --cost $(header cost model) --kernel rbf --gamma $(header gamma model) TRAINING_FILE model"; do
        grep -qFx -e "$line" text || fail "no $line in $(<text)"
    done
    # the table of confusions, whose labels are by value
    sed -n '2,3p' table | awk '{ print $1, $3, $2 }' | sort >expected
    grep -E '^[-+]1 [0-9]+ [0-9]+$' text | sort | diff - expected
    grep -qF "model $(wc -c <model) $(sha256sum model | cut -d' ' -f 1)" <(sed 's/^model model/model/' text)
    if command -v gnuplot >/dev/null; then
        assert_equal "$(grep -c '<svg role="img"' page.html)" 3
        grep -q "labels (AUC $(printf %.3f "$(metric auc measures)"))" page.html
    fi
    ln -s "$root/tools/report" dualsvm-report # as installed
    ./dualsvm-report --model model installed.html
    grep -qFx 'dualsvm-report --model model installed.html</pre>' installed.html
    # the same bytes again, from pipes and gzip
    cp page.html first.html
    gzip -k model
    report --title 'top: svm, rbf' --sweep sweep.tsv --model model.gz --truth - --predictions labels --measures measures page.html <test.svm
    diff <(sed '/<pre>/,$d' first.html) <(sed '/<pre>/,$d' page.html)
}

@test "report: without gnuplot, or of one point, there are tables only" {
    fraud
    bare
    PATH=$root/tools:$tmp/bare report --model model --truth test.svm --predictions labels --sweep sweep.tsv page.html 2>said
    assert_equal "$(<said)" 'report: note: gnuplot is missing (Debian: apt-get install gnuplot-nox): tables only'
    cells page.html >text
    run -1 grep -q '<svg' page.html
    grep -q '^point cost gamma tpr@0.01' text
    head -n 2 sweep.tsv >one.tsv
    report --sweep one.tsv page.html
    cells page.html | grep -q 'is the best of 1 points\.$'
    printf 'point\tcost\thamming-loss\thamming-loss-sd\n1\t1\t.2\t0\n2\t8\t.1\t0\n' >losses.tsv # the least is the best
    report --sweep losses.tsv page.html
    cells page.html | grep -qx 'hamming-loss = .1 is the best of 2 points, at cost 8\.'
    # a model that is not of the best point
    svm-top-train -q -s svm -t rbf -c 100 -g 2 train.svm other >report
    report --sweep sweep.tsv --model other page.html
    cells page.html | grep -q '^The model below has other parameters: cost 100, gamma 2\.$'
}

@test "report: classes, label sets and rankings, with names that mean something to HTML" {
    printf '%s\n' '<b>&" 1:1' 'y 1:-1' '<b>&" 1:2' 'y 1:-2' 'z 2:1' >rows
    svm-mc-train -q -c 10 rows model >report
    svm-mc-predict -q rows model labels
    report --model model --truth rows --predictions labels --title '<i>&' page.html
    cells page.html >text
    grep -qFx '<i>&' text
    grep -qFx '<b>&" 2 0 0' text
    grep -qFx '5 of 5 rows have the predicted label (100%).' text
    printf '%s 1:1\n' a a b a >rows # wrong ones, below a header
    printf '%s\n' 'labels a b' a b b a >labels
    report --truth rows --predictions labels page.html
    cells page.html | grep '^[ab] . . . ' | diff - <(printf '%s\n' 'a 3 2 2 1.0000 0.6667' 'b 1 2 1 0.5000 1.0000')
    generate ml --rows 80 --labels 6 --output rows
    svm-ml-train --force -q rows model >report
    svm-ml-predict --metrics rows model labels >measures
    report --truth rows --predictions labels page.html
    cells page.html >text
    grep -Fqx "$(awk '{ printf "%.0f", $2 * 80 }' <(grep subset-accuracy measures)) of 80 rows have exactly the predicted label set." text
    # macro-F1 is the mean over labels
    near "$(awk 'NF == 7 && $7 + 0 == $7 && $2 + $3 > 0 { s += $7; n++ } END { print s / n }' text)" "$(metric macro-f1 measures)" 1e-3
    generate rank --molecules 30 --output rows
    svm-rank-train --force -q rows model >report
    svm-rank-predict --metrics rows model labels >measures
    report --truth rows --predictions labels --model model page.html
    cells page.html | grep -qFx "Pairwise accuracy: $(printf %.6g "$(metric pairwise-accuracy measures)"), the mean over queries of at least 5 rows."
    grep -q '<h2>Largest weights</h2>' page.html
    generate smm --rows 60 --output rows
    svm-smm-train --force -q rows model >report
    svm-smm-predict -q rows model labels
    report --truth rows --predictions labels --model model page.html
    cells page.html | grep -qFx 'None: the problem is not convex.'
}

@test "report, roc, compare: predictions with --names and --header say what those without say" {
    local family model header
    mkdir without with
    bare
    for family in top rank ml mc; do
        generate $family --output all
        sed -n '/^#/p; /^[^#]/{ s/ *#.*//; s/$/ # a name/p; }' all | head -n 40 >rows
        svm-$family-train --force -q rows model >report
        svm-$family-predict -q rows model without/scores
        header=--header
        [[ $family != m? ]] || header=
        svm-$family-predict -q --names $header rows model with/scores
        grep -q $'\ta name$' with/scores
        model='--model model'
        [ $family != top ] || model=
        for kind in without with; do
            # shellcheck disable=SC2086
            PATH=$root/tools:$tmp/bare report $model --truth rows --predictions $kind/scores $kind/page.html
            sed -i '/<h2>Commands/,$d' $kind/page.html
        done
        cmp without/page.html with/page.html
        grep -q 'class="lead"' with/page.html
        [ $family != top ] || grep -q '>0.001</td>' with/page.html
    done
    compare --names a,b --truth rows without/scores with/scores >table
    printf '1 1:1\n-1 1:1\n' >rows
    printf '%s\n' $'labels\t1\t-1\tname' $'1\t.5\t.1\tx' $'-1\t.1\t.5\ty z' >scores # of --scores --header
    PATH=$root/tools:$tmp/bare report --truth rows --predictions scores page.html
    grep -qF '2 of 2 rows have the predicted label (100%).' page.html
    refused roc --truth rows picture.svg scores
    [[ "$(<err)" == 'roc: scores:2: 3 columns: --column N says which is the score' ]]
    printf '1\t.5\n-1\t.1\n' >scores # another program's, with tabs
    roc --truth rows picture.svg scores
    grep -q '(AUC 1.000)' picture.svg
    seq 100 >words # predictions that are none: no long table
    seq 100 | sed 's/$/a 1:1/' >rows
    PATH=$root/tools:$tmp/bare report --truth rows --predictions words page.html
    grep -q '<summary>All 200 labels</summary>' page.html
}

@test "report: a browser shows the page, without errors" {
    local browser
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'no chromium'
    fraud
    report --sweep sweep.tsv --model model --truth test.svm --predictions labels page.html
    limited "$browser" --headless --no-sandbox --disable-gpu --enable-logging=stderr --window-size=900,1200 \
        --user-data-dir="$tmp/profile" --screenshot="$tmp/shot.png" "file://$tmp/page.html" 2>said ||
        skip "the browser does not start here: $(tail -n 1 said)"
    run -1 grep 'CONSOLE' said
    # not one colour: the pixels do not compress to nothing
    python3 - <<'END'
import struct, zlib
data, at, packed = open("shot.png", "rb").read(), 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += size + 12
assert struct.unpack(">II", data[16:24]) == (900, 1200)
assert len(set(zlib.decompress(packed))) > 50
END
}

@test "report: errors name the user's files" {
    fraud
    misused report page.html
    misused report --predictions labels page.html
    misused report --model model page.txt
    head -n 5 labels >few
    refused report --model model --truth test.svm --predictions few page.html
    [[ "$(<err)" == 'report: few: 5 predictions for the 100 rows of test.svm' ]]
    refused report --model sweep.tsv page.html
    [[ "$(<err)" == "report: sweep.tsv:1: not a model: "* ]]
    refused report --sweep measures page.html
    [[ "$(<err)" == 'report: measures:1: not the table of a sweep'* ]]
    refused report --sweep sweep.tsv --measure speed page.html
    [[ "$(<err)" == "report: sweep.tsv:1: there is no measure 'speed' (measures: tpr@0.01, "* ]]
    refused report --model none page.html
    : >empty
    refused report --truth empty --predictions empty page.html
    refused report --measures test.svm page.html
    assert_not_exists page.html
}
