# tools/export and tools/inspect. Exports are evaluated by tests/exports.py, and C by a compiler; their
# predictions are those of svm-FAMILY-predict.

load helper

setup() {
    with_tools
    python=python3
    /usr/bin/python3 -c 'import numpy' 2>/dev/null && python=/usr/bin/python3
}

# write_as ARGUMENTS: the tool, whose name is one of the shell's own commands.
write_as() {
    $python "$root/tools/export" "$@"
}

# rows FAMILY: writes train.svm and test.svm.
rows() {
    local size
    case $1 in
    rank) size='--molecules 15 --systems 2' ;;
    mc) size='--rows 40 --features 12 --classes 4 --values 0' ;;
    ml) size='--rows 40 --features 60 --labels 6' ;;
    smm) size='--rows 40 --height 4 --width 3' ;;
    top) size='--rows 60 --features 12' ;;
    esac
    generate "$1" $size --output train.svm
    generate "$1" $size --seed 2 --output test.svm
}

# predictions FAMILY: what the predictor writes for test.svm, with the scores.
predictions() {
    local scores=--scores
    case $1 in
    rank | top | smm) scores= ;;
    mc) grep -q ^probability-scale model && scores='-b 1' ;;
    esac
    "svm-$1-predict" -q $scores test.svm model expected
    if [ "$1" = ml ]; then # label sets before the scores
        svm-ml-predict -q test.svm model sets
        cut -d' ' -f 2- expected | paste -d' ' sets - >both
        mv both expected
    fi
}

# A main function for the exported one: rows in, predictions out.
driver() {
    cat <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void m_scores(const uint32_t *index, const float *value, size_t n, double *scores);
const char *m_label(const double *scores);
void m_probabilities(const double *scores, double *probabilities);
void m_set(const double *scores, unsigned char *chosen);
extern const char *const m_labels[];
static uint32_t index_[100000];
static float value[100000];
static char line[1000000];
int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        double scores[100], *shown = scores;
        size_t n = 0;
        if (line[0] == '#') continue;
        strtok(line, "#");
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
            char *colon = strchr(word, ':');
            if (colon && word[0] != 'q') {
                index_[n] = (uint32_t)strtoul(word, NULL, 10);
                value[n++] = strtof(colon + 1, NULL);
            }
        }
        m_scores(index_, value, n, scores);
#ifdef LABEL
        printf("%s", m_label(scores));
#endif
#ifdef SETS
        unsigned char chosen[100];
        m_set(scores, chosen);
        const char *comma = "";
        for (size_t k = 0; k < SCORES; k++) {
            if (chosen[k]) {
                printf("%s%s", comma, m_labels[k]);
                comma = ",";
            }
        }
#endif
#ifdef PROBABILITIES
        double probabilities[100];
        m_probabilities(scores, shown = probabilities);
#endif
        for (size_t k = 0; k < SCORES; k++) {
            printf(RANK && k == 0 ? "%.17g" : " %.17g", shown[k]);
        }
        puts("");
    }
    return 0;
}
END
}

# exported_c FAMILY: the predictions of the C function, which compiles without a warning.
exported_c() {
    local flags="-DRANK=0"
    case $1 in
    rank) flags="-DRANK=1" ;;
    ml) flags="$flags -DSETS" ;;
    *) flags="$flags -DLABEL" ;;
    esac
    ! grep -q ^probability-scale model || flags="$flags -DPROBABILITIES"
    write_as --name m -o model.c model
    [ -e driver.c ] || driver >driver.c
    cc -std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Werror -c model.c
    cc -std=c99 -w $flags "-DSCORES=$(awk '$1 == "outputs" { print $2; f = 1; exit } END { if (!f) print 1 }' model)" \
        -o predict driver.c model.o -lm
    ./predict <test.svm >found
}

# check_exports FAMILY FORMATS OPTIONS: trains, exports and compares.
check_exports() {
    local family=$1 formats=$2 form files=
    shift 2
    "svm-$family-train" --force -q "$@" train.svm model >report
    predictions "$family" 2>/dev/null
    for form in $formats; do
        [ $form != onnx ] || $python -c 'import numpy' 2>/dev/null || continue
        if [ $form = c ]; then
            exported_c "$family"
        else
            write_as -o model.$form model
            files="$files model.$form"
        fi
    done
    [[ $formats != *c* ]] || files="$files found"
    $python "$root/tests/exports.py" expected test.svm $files || fail "$family $*"
}

@test "export: linear models of each family, in each format, predict as svm-FAMILY-predict" {
    local family
    for family in rank top mc ml smm; do
        rows $family
        check_exports $family 'c onnx pmml'
    done
}

@test "export: each kernel that LIBSVM has" {
    rows rank
    for kernel in polynomial rbf sigmoid; do
        check_exports rank 'c json onnx pmml' -t $kernel -c 0.1 -r 0.5
    done
}

# bats test_tags=long,slow
@test "export: the other kernels, which PMML does not have" {
    rows rank
    for kernel in tanimoto minmax laplacian rational; do
        check_exports rank 'c json onnx' -t $kernel
    done
    run -1 write_as --format pmml model
    assert_output "export: model: the format has no kernel 'rational': --format c, json and onnx have it"
}

# bats test_tags=long,slow
@test "export: each scaling of a linear model" {
    local scale
    rows top
    check_exports top 'c json' -s svm -B 1 --scale std
    check_exports top 'onnx pmml' -s svm -B 1 --scale minmax --calibrate 0.2
    check_exports top 'c onnx pmml' -s svm -B 1 --scale l2
    check_exports top 'c json onnx pmml' -s svm -B 1 --scale quantile
}

# bats test_tags=long,slow
@test "export: scalings with a kernel, and probabilities of classes" {
    rows top
    check_exports top 'c onnx pmml' -s svm -t rbf --scale quantile
    check_exports top 'c json' -s svm -t rbf --scale l2
    rows mc
    check_exports mc 'c pmml' -t rbf --scale std-center
    check_exports mc 'c onnx pmml' -b 1
}

# bats test_tags=long,slow
@test "export: label sets of each threshold" {
    rows ml
    check_exports ml 'c onnx pmml' --threshold scut -t rbf
    check_exports ml pmml --threshold global
    check_exports ml 'c onnx' --threshold zero --at-least-one -B 1
    check_exports ml 'c json onnx' --threshold top:2
    write_as --format pmml model 2>said >model.pmml
    assert_equal "$(<said)" 'export: note: PMML has the scores only: it cannot express label sets of --threshold top:K'
}

# bats test_tags=long,slow
@test "export: at the edge: no weights, precomputed kernels, several matrices, features of no training row" {
    # w = 0, and quantiles of a constant and a binary feature
    printf '%s\n' '1 1:1 2:1' '-1 1:1 2:1' '1 1:1' '-1 1:1' >train.svm
    printf '%s\n' '1 1:1 2:1' '-1 2:7' '1 1:-3' '-1' >test.svm
    check_exports top 'c onnx' -s svm -B 1 -w1 3
    check_exports top 'c json onnx pmml' -s svm -B 1 -w1 3 -t rbf --scale quantile
    printf '%s\n' '1 0:1 1:2 2:1' '-1 0:2 1:1 2:3' >train.svm
    printf '%s\n' '1 0:1 1:.5 2:-1' '1 0:2 2:4' >test.svm
    check_exports mc 'c json onnx' -t precomputed
    # features that no training row has count in norms, unless a scaling by column omits them
    printf '%s\n' '1 1:1 4000000000:1' '2 1:-1 7:2' '3 7:1' >train.svm
    printf '%s\n' '1 1:1 8:3' '2 7:3 4000000000:2 4000000001:1' >test.svm
    check_exports mc 'c pmml'
    check_exports mc c -t laplacian -g 0.1
    check_exports mc 'c json' -t laplacian -g 0.1 --scale std
    run -1 write_as --format onnx model
    assert_output --partial '4000000000 features are too many for a format that lists all (at most 1048576)'
    rows smm
    sed -i 's/^+1/b/; s/^-1/a/; 3s/^[ab]/c/; 5s/^[ab]/c/; 7s/^[ab]/c/' train.svm
    check_exports smm 'c onnx pmml' -s nuclear
}

@test "export: onnxruntime gives the same scores, where node has it, and ONNX's checker agrees" {
    rows top
    svm-top-train -q -s svm -t laplacian --scale quantile train.svm model >report
    svm-top-predict -q test.svm model expected
    write_as -o model.onnx model
    local checked=
    if $python -c 'import onnx' 2>/dev/null; then
        $python -c 'import onnx; onnx.checker.check_model(onnx.load("model.onnx"), full_check=True)'
        checked=1
    fi
    if node -e 'require("onnxruntime-node")' 2>/dev/null; then
        cat >run.js <<'END'
const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
    const session = await ort.InferenceSession.create('model.onnx');
    const lines = fs.readFileSync('test.svm', 'utf8').trim().split('\n'), d = 12;
    const x = new Float32Array(lines.length * d);
    lines.forEach((line, i) => line.split(' ').slice(1).forEach(word => {
        const [index, value] = word.split(':').map(Number);
        if (index <= d) x[i * d + index - 1] = value;
    }));
    const { scores, label } = await session.run({ x: new ort.Tensor('float32', x, [lines.length, d]) });
    lines.forEach((_, i) => console.log(label.data[i] + ' ' + scores.data[i]));
})();
END
        node run.js >found
        python3 "$root/tests/exports.py" expected test.svm found
        checked=1
    fi
    [ -n "$checked" ] || skip 'neither onnx for Python (python3-onnx) nor onnxruntime-node'
}

@test "export: JSON has every line of the model" {
    rows rank
    svm-rank-train -q -b 1 --targets 1 -t rbf --scale minmax train.svm model >report
    write_as -o model.json model
    python3 - <<'END'
import json
data = json.load(open("model.json"))
lines = open("model").read().split("\n")
at = lines.index("scaling")
for line in lines[1:at]:
    key, value = line.split(" ", 1)
    if key in ("targets", "targets-widths", "targets-few", "solver"):
        continue
    found = data["kernel"]["name"] if key == "kernel" else data["kernel"][key] if key == "gamma" else \
        data["scaling"]["kind"] if key == "scale" else data["bias"][0] if key == "bias" else data[key]
    assert found == {"yes": True}.get(value, float(value) if value[0].isdigit() else value), (key, found)
words = []
for one in data["targets"]:
    words += [one["query"], one["half-width"] or "none", len(one["score"])]
    words += [x for pair in zip(one["score"], one["label"]) for x in pair]
line = next(line for line in lines if line.startswith("targets "))
assert [float(x) for x in line.split()[2:] if x != "none"] == [float(x) for x in words if x != "none"]
widths = next(line for line in lines if line.startswith("targets-widths ")).split()[1:]
assert data["targets-widths"] == [None if x == "none" else float(x) for x in widths]
few, solver = (next(line for line in lines if line.startswith(key)).split()[1:] for key in ("targets-few ", "solver "))
assert data["targets-few"] == [None if x == "none" else float(x) for x in few]
assert data["solver"] == solver
body = lines.index("SV")
for line, one in zip(lines[at + 1:body], data["scaling"]["features"], strict=True):
    assert [float(x) for x in line.split()] == [one["shift"], one["factor"]]
for line, one in zip(lines[body + 1:-2], data["support-vectors"], strict=True):
    words = line.split()
    assert float(words[0]) == one["coefficient"][0]
    assert len(words) > 1
    assert [tuple(map(float, w.split(":"))) for w in words[1:]] == list(zip(one["index"], one["value"], strict=True))
END
    run write_as --format c model
    assert_line --index 0 'export: note: the maps from scores to labels (--targets) are not exported: --format json has them'
}

@test "export: what depends on the other rows of a query, and pairs, are refused by name, but not in JSON" {
    rows rank
    svm-rank-train -q -t rbf --query-features mean train.svm model >report
    for form in c onnx pmml; do
        run -1 write_as --format $form model
        assert_output 'export: model: --query-features mean depends on the other rows of a query, not on the row alone: --format json has all of the model'
    done
    write_as --format json model | grep -qx '"query-features": "mean",'
    svm-rank-train -q --scale query-std train.svm model >report
    inspect model | grep -qx 'scale = query-std'
    run -1 write_as --format c model
    assert_output 'export: model: --scale query-std depends on the other rows of a query, not on the row alone: --format json has all of the model'
    write_as --format json model | grep -qF '"kind": "query-std"'
    svm-rank-train -q --pair-features exterior train.svm model >report
    run -1 write_as --format c model
    assert_output 'export: model: pair features (exterior) have no scores of rows: --format json has all of the model'
    write_as --format json model | grep -q '^"pairs-of-vectors": \[{"u": [1-9][0-9]*, "v": '
}

@test "export: outputs, names and errors" {
    rows top
    svm-top-train -q --positive 1 train.svm model.gz >report
    write_as --format c model.gz >a.c
    write_as -o model.c <(cat model.gz)
    cmp a.c model.c
    grep -q '^void model_scores(' a.c
    write_as -o 1-x.c.gz model.gz
    gzip -dc 1-x.c.gz | grep -q '^void _1_x_scores('
    gzip -dc model.gz >model
    misused export model
    misused export -o model.txt model
    misused export -o model model
    refused export --format c test.svm
    [[ "$(<err)" == "export: test.svm:1: not a model: a first line 'dualsvm FAMILY 1' is expected: '"* ]]
    head -n 20 model >short
    refused export --format c short
    [[ "$(<err)" == "export: short: the model is truncated: it has no last line 'end LINES CRC'" ]]
    sed 's/^threshold ./threshold 9/' model >changed
    refused export --format c changed
    [[ "$(<err)" == 'export: changed: the model was changed: its checksum is not that of its last line' ]]
    : >empty
    refused export --format c empty
    grep -q 'extern const char \*const model_labels\[2\];' a.c
    # a label with characters that mean something to C and XML
    awk '{ $1 = $1 > 0 ? "\"??/<&\\é" : "b"; print }' train.svm >words.svm
    mv words.svm train.svm
    sed 's/^[^ ]*/b/' test.svm >words.svm
    mv words.svm test.svm
    check_exports top 'c json onnx pmml' --positive '"??/<&\é'
}

@test "inspect: the header, the certificate in words, and the largest weights" {
    for value in 1 2 3; do
        printf "%s:$value\n" '1 1:1 3' '-1 2' '1 1' '-1 1:-1 2'
    done >train.svm
    svm-top-train -q -s svm -B 1 --scale std --calibrate 0.5 train.svm model >report
    printf '%s\n' one two three >names
    inspect --feature-names names --top 2 model >out
    for line in 'family = top' 'formulation = svm, hinge' 'scale = std' 'labels = 1 -1' \
        "primal = $(header primal model)" "dual = $(header dual model)" \
        'options = --formulation svm --loss hinge --cost 1 --kernel linear --scale std --calibrate 0.5 (incomplete: -B V; and, if given, -w, --row-weights, -e)'; do
        grep -qFx -e "$line" out || fail "no $line in $(<out)"
    done
    grep -Eq '^certificate = the optimum is at most [0-9.e-]+% below this model.s objective: dual <= optimum <= primal$' out
    grep -q "^decision = 1 if the score is above $(header calibrated-threshold model), else -1$" out
    # the table: weights by size
    sed -n '/^w$/,/^end/p' model | sed '1d;$d' | awk '{ print ($1 < 0 ? -$1 : $1), NR, $1 }' | sort -k1,1gr | head -n 2 >largest
    sed '1,/^index/d' out | cut -f 1,3 | tr '\t' ' ' | diff - <(cut -d' ' -f 2,3 largest)
    sed -n 's/^index\t//p' out | grep -qx $'name\tweight'
    inspect --top 0 model | sed '1,/^index/d' | wc -l | grep -qx 3
    printf '%s\n' four >>names # of other features
    refused inspect --feature-names names model
    [[ "$(<err)" == 'inspect: names: 4 names for the 3 features of model' ]]
    rows mc
    svm-mc-train --force -q -t rbf train.svm model >report
    inspect model >out
    grep -qx "support-vectors = $(sed -n '/^SV$/,/^end/p' model | sed '1d;$d' | wc -l)" out
    grep -q '^kernel = rbf, gamma 0.0833' out
    run -1 grep -q '^index' out
    rows smm
    svm-smm-train --force -q train.svm model >report
    inspect model | grep -qx 'certificate = none: the problem is not convex'
    refused inspect train.svm
    misused inspect --top -1 model
}
