# tools/convert: formats convert in both directions, and errors name their line.

load helper

setup() { with_tools; }

# refused_at FILE[:LINE] WHAT ARGUMENTS: convert ends with exit 1 and one line that has both, and
# leaves no output.
refused_at() {
    local where=$1 what=$2
    shift 2
    refused convert "$@" result
    [[ "$(<err)" == "convert: $where: "*"$what"* ]] || fail "not $where, $what: $(<err)"
    [ ! -e result ] || fail "an output was left: $*"
}

@test "convert: an empty output name is refused with its own message" {
    echo '1 1:1' >in
    run -1 convert in ''
    assert_output 'convert: : No such file or directory'
}

@test "convert: CSV by column names, one-hot categories and quotes, and back byte for byte" {
    cat >data.csv <<'END'
name,rt,system,colour,x1,"x,2",unused
mol a,3.25,Eawag,red,1,0,u
"mol ""b"", c",4.0,Eawag,blue,0.50,2e-3,u
c,1,UF Z,red,0,-1,u
END
    convert --label rt --query system --names name --categorical colour --drop unused \
        --feature-names names data.csv data.svm
    cat >expected <<'END'
3.25 qid:Eawag 1:1 3:1 # mol a
4.0 qid:Eawag 1:0.50 2:2e-3 4:1 # mol "b", c
1 qid:UF_Z 2:-1 3:1 # c
END
    diff expected data.svm
    printf '%s\n' x1 x,2 colour=red colour=blue | diff - names
    # and back: label, qid and comment
    convert --feature-names names data.svm back.csv
    cat >expected <<'END'
label,qid,x1,"x,2",colour=red,colour=blue,comment
3.25,Eawag,1,0,1,0,mol a
4.0,Eawag,0.50,2e-3,0,1,"mol ""b"", c"
1,UF_Z,0,-1,1,0,c
END
    diff expected back.csv
    convert back.csv again.svm
    cmp data.svm again.svm
    convert --from csv - - <back.csv | cmp - data.svm
    convert --to tsv data.svm - | convert --from tsv - - | cmp - data.svm
}

@test "convert: test rows get the features of --like, in any order of columns" {
    printf 'y,a,c,b\n1,1,red,2\n2,0,blue,5\n' >train.csv
    convert --label y --categorical c --feature-names names train.csv train.svm
    printf 'b,more,c,y,a\n7,9,blue,1,8\n6,9,green,2,0\n' >test.csv
    refused_at test.csv:3 "'green' is not in the names of --like" --label y --like names test.csv
    convert --label y --like names --unknown zero test.csv test.svm
    printf '1 1:8 2:7 4:1\n2 2:6\n' | diff - test.svm
    printf 'y,a,c\n1,1,red\n' >less.csv
    refused_at less.csv:1 "no column 'b'" --label y --like names less.csv
}

@test "convert: a missing value is an error, omitted, zero or a number" {
    printf 'y,a,b\n1,,2\n,3,NA\n3,4,5\n' >data.csv
    refused_at data.csv:2 "column 'a': value is missing" --label y data.csv
    convert --label y --missing skip data.csv - 2>said | diff - <(echo 3 1:4 2:5)
    assert_equal "$(<said)" 'convert: note: 2 rows are left out, in which a value or the label is missing'
    refused_at data.csv:3 'label is missing' --label y --missing zero data.csv
    convert --label y --missing=-.5 --missing-label none data.csv - |
        diff - <(printf '1 1:-.5 2:2\n1:3 2:-.5\n3 1:4 2:5\n')
    convert --label y --missing zero --missing-label skip --missing-words NA,x data.csv - |
        diff - <(printf '1 2:2\n3 1:4 2:5\n')
}

@test "convert: several labels, in columns of 0 and 1 or in one" {
    printf 'jazz,a,rock\n1,2,0\n0,0,0\n1,3,1\n' >data.csv
    convert --label jazz,rock data.csv - | diff - <(printf 'jazz 1:2\n1:0\njazz,rock 1:3\n')
    printf 'y;a\nhot jazz|rock;2\n;3\n' >data.csv
    convert --label y --label-separator '|' data.csv - | diff - <(printf 'hot_jazz,rock 1:2\n1:3\n')
    printf 'y,a\nx y,1\nx_y,2\n' >data.csv
    refused_at data.csv:3 "'x y' and 'x_y' would both be written as label 'x_y'" --label y data.csv
}

@test "convert: columns by patterns, by numbers without a header, and decimal commas" {
    printf 'rt;d_1;e;d_2\n1,5;1;7;2,25\n' >data.csv
    convert --label rt --features 'd_*' --decimal-comma data.csv - | diff - <(echo 1.5 1:1 2:2.25)
    convert --label rt --features d_2,d_1 --decimal-comma data.csv - | diff - <(echo 1.5 1:2.25 2:1)
    printf 'y;a\n1;0,26\n' >data.csv
    refused_at data.csv:2 "value is not a number: '0,26'; see --decimal-comma" --label y data.csv
    printf 'y;a\n1;#NV\n' >data.csv
    refused_at data.csv:2 "'#NV'; see --missing-words, --categorical, --drop" --label y data.csv
    printf 'y;a\n1;1.234,5\n' >data.csv
    refused_at data.csv:2 "'1.234,5'; see --categorical, --drop" --label y --decimal-comma data.csv
    printf '1\t2\t3\n' >data.tab
    convert --no-header --label 2 data.tab - | diff - <(echo 2 1:1 2:3)
    printf 'a|b\n1|2\n' >data.csv
    convert --delimiter '|' --unlabelled data.csv - | diff - <(echo 1:1 2:2)
}

# bats test_tags=long,slow
@test "convert: malformed tables are refused with their line" {
    refuses() {
        # shellcheck disable=SC2059 # a format on purpose
        printf "$3" >bad.csv
        refused_at "bad.csv$1" "$2" --label y bad.csv
    }
    refuses '' 'is empty' ''
    refuses :1 "--label: there is no column 'y'" 'a,b\n1,2\n'
    refuses :1 "two columns are named 'a'" 'y,a,a\n1,2,3\n'
    refuses :3 '3 fields for 2 columns' 'y,a\n1,2\n1,2,3\n'
    refuses :4 "value is not a number: 'x'" 'y,a\n1,2\n\n1,x\n'
    refuses :2 'value is not finite' 'y,a\n1,inf\n'
    refuses :2 'too large for single precision' 'y,a\n1,1e39\n'
    refuses :2 'not a number' 'y,a\n1,0x10\n'
    refuses :2 'not a number' 'y,a\n1,1_000\n'
    refuses :3 'not CSV' 'y,a\n1,2\n1,"2\n3,4\n'
    refuses :3 'NUL byte' 'y,a\n1,2\n1,\0\n'
    refuses '' 'has no rows' 'y,a\n'
    printf '\xff\xfey\0,\0a\0\n\0' >bad.csv
    refused_at bad.csv 'UTF-16' --label y bad.csv
    printf 'y,a\n1,2\n' | gzip | head -c 20 >bad.csv
    refused_at bad.csv 'gzip data ends early' --label y bad.csv
    refused_at missing.csv 'No such file' --label y missing.csv
    refused_at . 'Is a directory' --from csv --label y .
    misused convert --labels-file y.npy bad.csv result
    misused convert --missing x bad.csv result
    misused convert bad.csv
    # a byte order mark, CRLF and a missing last line end are accepted
    printf '\xef\xbb\xbfy,a\r\n1,2\r\n3,4' >good.csv
    convert --label y good.csv - | diff - <(printf '1 1:2\n3 1:4\n')
    # an existing file stays if the conversion fails
    echo old >result
    printf 'y,a\n1,2\n1,x\n' >bad.csv
    refused convert --label y bad.csv result
    assert_equal "$(cat result)" old
    holds . bad.csv err good.csv out result
}

@test "convert: ARFF with MULAN's labels, nominal and missing values, dense and sparse" {
    cat >data.arff <<'END'
% a comment
@relation 'music: -C 2'
@ATTRIBUTE 'amazed, x' {0,1}
@attribute happy {0,1}
@attribute Mean real

@attribute "a b" NUMERIC
@attribute col {red,'dark blue'}
@data
1,0,0.5,3,red
0,0,?,-1e-3,'dark blue'
% another
0,1,0,0,red
END
    printf 'amazed_x 1:0.5 2:3 3:1\n1:0.25 2:-1e-3 4:1\nhappy 3:1\n' >expected
    convert --missing 0.25 --feature-names names data.arff data.svm
    diff expected data.svm
    cat >labels.xml <<'END'
<?xml version="1.0"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="amazed, x"><label name="happy"/></label>
</labels>
END
    convert --missing 0.25 --labels-xml labels.xml data.arff - | cmp - data.svm
    for how in --sparse ''; do
        convert $how --labels-xml back.xml --feature-names names data.svm back.arff
        convert --labels-xml back.xml --feature-names again back.arff - | cmp - data.svm
        cmp names again
    done
    grep -qx '<label name="amazed_x"></label>' back.xml
    # Weka's sparse rows: an omitted value is the first nominal one
    printf '@relation r\n@attribute a {x,y}\n@attribute b numeric\n@attribute c {p,n}\n@data\n{1 2}\n{0 y,2 n}\n' >s.arff
    convert --feature-names names s.arff - | diff - <(printf 'p 1:2 2:1\nn 3:1\n')
    printf 'b\na=x\na=y\n' | diff - names
    # one label: nominal, or a number
    printf 'yes 1:1\nno 1:.5\n' >one.svm
    convert one.svm one.arff
    grep -qx '@attribute label {no,yes}' one.arff
    convert one.arff - | cmp - one.svm
    printf '1.50 1:1\n2 1:.5\n' >one.svm
    convert --numeric-label one.svm one.arff
    grep -qx '@attribute label numeric' one.arff
    convert one.arff - | cmp - one.svm
}

@test "convert: malformed ARFF is refused with its line" {
    refuses() {
        # shellcheck disable=SC2059
        printf "@relation r\n$3" >bad.arff
        refused_at "bad.arff$1" "$2" bad.arff
    }
    refuses '' 'has no @data' '@attribute a real\n'
    refuses :2 '@attribute NAME TYPE' '@attribute a\n@data\n1\n'
    refuses :2 'type is not known' '@attribute a matrix\n@data\n1\n'
    refuses :3 "two attributes are named 'a'" '@attribute a real\n@attribute a real\n@data\n1\n'
    refuses :5 '1 fields for 2 attributes' '@attribute a real\n@attribute b real\n@data\n1\n'
    refuses :5 "has no value 'z'" '@attribute a real\n@attribute b {x,y}\n@data\n1,z\n'
    refuses :5 'they count from 0' '@attribute a real\n@attribute b {x,y}\n@data\n{2 x}\n'
    refuses :5 'given twice' '@attribute a real\n@attribute b {x,y}\n@data\n{0 1,0 1}\n'
    refuses :5 'no }' '@attribute a real\n@attribute b {x,y}\n@data\n{0 1\n'
    refuses :5 'quotes that do not end' "@attribute a real\n@attribute b {x,y}\n@data\n'1,x\n"
    refuses '' "attribute 'a' is a string" '@attribute a string\n@attribute b {x,y}\n@data\nu,x\n'
    printf '@relation r\n@attribute a real\n@data\n1\n' >a.arff
    echo '<labels><label name="b"/></labels>' >l.xml
    refused_at l.xml "label 'b' is no attribute" --labels-xml l.xml a.arff
    echo '<labels><label' >l.xml
    refused_at l.xml 'not XML' --labels-xml l.xml a.arff
}

# npy FILE DESCR FORTRAN SHAPE FORMAT NUMBER...: an array in this format.
npy() {
    python3 - "$@" <<'END'
import struct, sys
path, kind, fortran, shape, code, *values = sys.argv[1:]
head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (kind, fortran, shape)
head += " " * (-(len(head) + 11) % 64) + "\n"
number = float if code[-1] in "efd" else int
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
    file.write(struct.pack(code[0] + str(len(values)) + code[1], *map(number, values)))
END
}

@test "convert: .npy of one, two and three dimensions, in either order, with any number type" {
    npy C.npy '<f8' False '(2, 3)' '<d' 0.1 0 -2 1e-300 5 6
    npy F.npy '<f8' True '(2, 3)' '<d' 0.1 1e-300 0 5 -2 6
    npy B.npy '>f8' False '(2, 3)' '>d' 0.1 0 -2 1e-300 5 6
    npy y.npy '<i8' False '(2,)' '<q' -1 7
    npy q.npy '|u1' False '(2,)' '<B' 3 200
    printf -- '-1 qid:3 1:0.1 3:-2\n7 qid:200 1:1e-300 2:5 3:6\n' >expected
    for x in C F B; do
        convert --labels-file y.npy --query-file q.npy $x.npy - | diff expected -
    done
    gzip -k F.npy
    convert --labels-file y.npy --query-file q.npy F.npy.gz - | diff expected -
    # and back: the same bytes
    convert --labels-file y2.npy --query-file q2.npy expected C2.npy
    cmp C.npy C2.npy
    cmp y.npy y2.npy
    convert --labels-file y2.npy --query-file q2.npy C2.npy - | diff expected -
    npy s.npy '<f4' False '(2,)' '<f' 0.1 16777216
    convert --unlabelled s.npy - | diff - <(printf '1:0.1\n1:16777216\n')
    npy m.npy '<i2' False '(1, 2, 2)' '<h' 1 0 -3 4
    convert --unlabelled m.npy - | diff - <(printf '# matrix 2 2\n1:1 3:-3 4:4\n')
    # several labels, and words
    npy C3.npy '<i2' False '(2, 2, 3)' '<h' 1 2 3 4 5 6 7 8 9 10 11 12
    npy F3.npy '<i2' True '(2, 2, 3)' '<h' 1 7 4 10 2 8 5 11 3 9 6 12
    convert --unlabelled C3.npy - >C3.svm
    convert --unlabelled F3.npy - | cmp - C3.svm
    npy Y.npy '|b1' False '(2, 2)' '<?' 1 1 0 1
    printf 'a\nb\n' >names
    convert --labels-file Y.npy --label-names names C.npy several.svm
    assert_equal "$(cut -d' ' -f1 several.svm | tr '\n' ' ')" 'a,b b '
    convert --labels-file Y2.npy --label-names names2 several.svm X2.npy
    cmp names names2
    convert --labels-file Y2.npy --label-names names2 X2.npy - | cmp - several.svm
    printf 'no 1:1\nmaybe 1:2\n' >words.svm
    convert --labels-file w.npy words.svm X.npy
    convert --labels-file w.npy X.npy - | cmp - words.svm
    printf '\xef\xbb\xbf-1\r\n7 \r\n' >y.txt # a line a row, with an end of line or without
    printf '3\n200' >q.txt
    gzip q.txt
    convert --labels-file y.txt --query-file q.txt.gz C.npy - | cmp - expected
}

@test "convert: NumPy reads the written files, and its files are read" {
    python=python3
    $python -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
    $python -c 'import numpy' 2>/dev/null || skip 'no numpy'
    $python - <<'END'
import numpy as np
r = np.random.default_rng(1)
X = r.normal(size=(50, 7)) * 10.0 ** r.integers(-9, 9, (50, 7))
X[r.random((50, 7)) < .3] = 0
np.save("X.npy", np.asfortranarray(X))
np.save("S.npy", X.astype("f4"))
np.save("y.npy", np.array(["a", "b c", "\u00fc"])[r.integers(0, 3, 50)])
END
    convert --labels-file y.npy X.npy X.svm
    convert --labels-file y2.npy X.svm X2.npy
    convert --labels-file y.npy S.npy S.svm
    convert --labels-file y2.npy --single S.svm S2.npy
    $python -c '
import numpy as np
assert (np.load("X.npy") == np.load("X2.npy")).all()
assert (np.load("S.npy") == np.load("S2.npy")).all() and np.load("S2.npy").dtype == "f4"
assert (np.char.replace(np.load("y.npy"), " ", "_") == np.load("y2.npy")).all()'
}

# bats test_tags=long,slow
@test "convert: malformed .npy is refused" {
    npy X.npy '<f8' False '(2, 1)' '<d' 1 2
    npy y.npy '<f8' False '(3,)' '<d' 1 2 3
    refused_at y.npy '3 rows, but X.npy has 2' --labels-file y.npy X.npy
    refused_at X.npy 'where are the labels' X.npy
    npy bad.npy '<f8' False '(2, 1)' '<d' 1 nan
    refused_at bad.npy 'row 2, column 1: value is nan' --unlabelled bad.npy
    convert --unlabelled --missing 9 bad.npy - | diff - <(printf '1:1\n1:9\n')
    npy bad.npy '<f8' False '(2, 1)' '<d' inf 1
    refused_at bad.npy 'row 1, column 1: value is not finite' --unlabelled bad.npy
    npy bad.npy '<f8' False '(3, 1)' '<d' 1 2
    refused_at bad.npy 'ends early' --unlabelled bad.npy
    npy bad.npy '|O' False '(2,)' '<d' 1 2
    refused_at bad.npy 'an array of Python objects: save it as text' --unlabelled bad.npy
    npy bad.npy '<c16' False '(2,)' '<d' 1 2
    refused_at bad.npy "type '<c16' cannot be read" --unlabelled bad.npy
    printf 'a\n\n' >y.txt
    refused_at y.txt:2 'label is empty' --labels-file y.txt X.npy
    printf 'a\nb\nc\n' >y.txt
    refused_at y.txt '3 rows, but X.npy has 2' --labels-file y.txt X.npy
    npy bad.npy '<f8' False '()' '<d' 1
    refused_at bad.npy '0 dimensions' --unlabelled bad.npy
    npy bad.npy '<f8' False '(-1, 2)' '<d' 1
    refused_at bad.npy 'negative shape' --unlabelled bad.npy
    npy bad.npy '<f8' False '(2, 99999999999999999999)' '<d' 1
    refused_at bad.npy 'ends early' --unlabelled bad.npy
    npy bad.npy '<f8' False "__import__('os').abort()" '<d' 1
    refused_at bad.npy 'header cannot be read' --unlabelled bad.npy
    head -c 9 X.npy >bad.npy
    refused_at bad.npy 'header cannot be read' --unlabelled bad.npy
    printf 'PK\3\4aaaaaaaa' >bad.npy
    refused_at bad.npy 'is an .npz archive' --unlabelled bad.npy
    : >bad.npy
    refused_at bad.npy 'not a .npy file' --unlabelled bad.npy
}

@test "convert: indices of XMC count from 0 and become 1; its header is checked and written" {
    printf '3 4 3\n0,2 0:.5 3:1\n 2:7\n1 1:1e-3 2:0\n' >data.xmc
    convert data.xmc data.svm
    printf '0,2 1:.5 4:1\n3:7\n1 2:1e-3\n' | diff - data.svm
    convert data.svm - --to xmc | diff - <(printf '3 4 3\n0,2 0:.5 3:1\n 2:7\n1 1:1e-3\n')
    printf 'jazz\nrock\npop\n' >names
    convert --label-names names data.xmc named.svm
    assert_equal "$(cut -d' ' -f1 named.svm | tr '\n' ' ')" 'jazz,pop 3:7 rock '
    convert --label-names names2 named.svm named.xmc
    convert --label-names names2 named.xmc again.svm
    cut -d' ' -f2- named.svm | diff - <(cut -d' ' -f2- again.svm)
    refuses() {
        # shellcheck disable=SC2059
        printf "$3" >bad.xmc
        refused_at "bad.xmc$1" "$2" bad.xmc
    }
    refuses :1 "a header 'ROWS FEATURES LABELS'" '0 1:2\n'
    refuses :2 'INDEX from 0 to 3' '1 4 3\n0 4:1\n'
    refuses :2 'from 0 to 2' '1 4 3\n3 1:1\n'
    refuses :2 'label is given twice' '1 4 3\n2,02 1:1\n'
    refuses :2 'index 1 is given twice' '1 4 3\n2 1:1 0:1 1:2\n'
    refuses :2 'not a number' '1 4 3\n2 1:x\n'
    refuses :3 'more rows than the 1' '1 4 3\n2 1:1\n2 1:1\n'
    refuses :2 'ends after 1 of 2 rows' '2 4 3\n2 1:1\n'
    printf 'a 1:1\n' >words.svm
    refused convert words.svm out.xmc
}

@test "convert: svmlight rows with zero-based or unsorted indices and placeholders for missing values" {
    printf '# Column indices are zero-based\n-2 qid:1 0:3 2:1 # a\n1.5 qid:1 1:1 4294967294:2\n' >data.svm
    convert --zero-based data.svm - | diff - <(printf '%s\n' '-2 qid:1 1:3 3:1 # a' \
        '1.5 qid:1 2:1 4294967295:2')
    printf '1 2:1 0:1\n' >data.svm
    refused_at data.svm:1 "index is not above the one before: '0:1'" --zero-based data.svm
    convert --zero-based --sort data.svm - | diff - <(echo 1 1:1 3:1)
    convert --from svmlight --zero-based --sort --to csv data.svm - | diff - <(printf 'label,f1,f2,f3\n1,1,0,1\n')
    printf '1 4294967295:1\n' >data.svm
    refused_at data.svm:1 'index is over' --zero-based data.svm
    printf '1 3:1 2:5 3:2\n' >data.svm
    refused_at data.svm:1 'index is given twice: 3' --sort data.svm
    printf '1 1:1\n' >data.svm
    convert --zero-based data.svm - 2>err | diff - <(echo 1 2:1)
    assert_equal "$(<err)" 'convert: data.svm: no index is 0: are its indices zero-based?'
    printf '# Column indices are zero-based\n1 1:1\n' >data.svm
    convert --to csv data.svm - 2>err >table
    assert_equal "$(<err)" 'convert: data.svm: a comment says zero-based: --zero-based shifts indices'
    # numbers are equal in any spelling; other words compare byte by byte
    printf '%s\n' '1 qid:1 1:1.79769313486e+308 2:1' '2 qid:1 1:179769313486e297 2:0' '0 qid:1 1:NaN' \
        '3 qid:1 1:' '4 qid:1 1:3' >data.svm
    refused_at data.svm:1 'too large' data.svm
    refused_at data.svm:1 'value is 1.79769313486e+308 (see --missing)' \
        --missing-words 1.79769313486e+308 data.svm
    refused_at data.svm:3 'value is not finite' --missing zero --missing-words 1.79769313486e+308 data.svm
    words=NaN,1.79769313486e+308
    convert --missing zero --missing-words $words data.svm - | diff - <(printf '%s\n' '1 qid:1 2:1' \
        '2 qid:1 2:0' '0 qid:1' '3 qid:1' '4 qid:1 1:3')
    convert --missing skip --missing-words $words data.svm - | diff - <(echo 4 qid:1 1:3)
    convert --missing -1 --missing-words $words data.svm - | diff - <(printf '%s\n' '1 qid:1 1:-1 2:1' \
        '2 qid:1 1:-1 2:0' '0 qid:1 1:-1' '3 qid:1 1:-1' '4 qid:1 1:3')
    misused convert --sort --from csv data.svm result
}

@test "convert: LETOR's docids go to comments and back" {
    printf '2 qid:10 1:0.05 2:NULL 3:0 #docid = GX029-35 inc = 1 prob = 0.1\r\n0 qid:10 1:0 2:1 3:.1 #docid = B\n' >data.letor
    refused_at data.letor:1 'value is NULL' data.letor
    convert --missing zero data.letor data.svm
    printf '2 qid:10 1:0.05 # GX029-35 inc = 1 prob = 0.1\n0 qid:10 2:1 3:.1 # B\n' | diff - data.svm
    convert data.svm back.letor
    printf '2 qid:10 1:0.05 2:0 3:0 #docid = GX029-35 inc = 1 prob = 0.1\n0 qid:10 1:0 2:1 3:.1 #docid = B\n' |
        diff - back.letor
    convert back.letor - | cmp - data.svm
    printf '2 1:1\n' >bad.letor
    refused_at bad.letor:1 'no qid' bad.letor
    printf 'x qid:1 1:1\n' >bad.letor
    refused_at bad.letor:1 'relevance is not a number' bad.letor
}

@test "convert: svmlight rows are refused at the same lines as by the programs" {
    for row in '1 2:1 2:1' '1 0:1 1:1' '1 1:nan' '1 1:1e39' '1 1:' '1 1' '1 x:1' '1 -1:1' '1 1:1:1' \
        '1 4294967296:1' '1 99999999999999999999:1' '1 qid:1 qid:1 1:1' '1 1:1 qid:1' '1 1:0x1' ; do
        printf '1 1:1\n%s\n2 1:2\n' "$row" >bad.svm
        refused_at bad.svm:2 '' bad.svm --to csv
        refused svm-mc-train -q bad.svm model
        [[ "$(<err)" == "svm-mc-train: bad.svm:2:"* ]] || fail "$row: $(<err)"
    done
    printf '1 4000000000:1\n' >wide.svm
    refused_at wide.svm 'columns are too many' wide.svm --to csv
}

@test "convert: real data sets come back byte for byte, through each format that can represent them" {
    real ml/emotions.train.svm.gz
    zcat "$real" | head -n 100 >ml.svm
    convert ml.svm ml.csv.gz
    convert --label-separator , ml.csv.gz - | cmp - ml.svm
    convert --sparse --labels-xml l.xml ml.svm ml.arff.gz
    convert --labels-xml l.xml ml.arff.gz - | cmp - ml.svm
    convert --label-names l.names ml.svm ml.xmc
    convert --label-names l.names ml.xmc - | cmp - ml.svm
    real rank/eccb2018.svm.gz
    convert "$real" rank.tsv.gz
    zcat "$real" | cmp - <(convert rank.tsv.gz -)
}

@test "convert: an empty row stays a row, and rows are streamed with little memory" {
    printf 'a\n0\n0\n' >zero.csv
    convert --unlabelled zero.csv - | diff - <(printf '1:0\n1:0\n')
    { echo y,a,b; yes '1,2,3' | head -n 300000; } | gzip >long.csv.gz
    # Python itself takes about 40 MB of these; the rows as objects would take 200
    (ulimit -v 120000 && convert --label y long.csv.gz - | tail -n 1 | diff - <(echo 1 1:2 2:3))
}
