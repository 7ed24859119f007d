# Loaded by the Bats files of ranks, tests/cluster_*.bats, behind helper: `load cluster`. Their tests skip
# unless the build under test has MPI (make MPI=1 test) and there is Open MPI's mpirun.
#
#   ranks 3 svm-rank-train ARGUMENTS            the program on three ranks
#   on_ranks 3 refused svm-rank-train ARGUMENTS  refused, misused of helper, of three ranks

# A file with a setup of its own calls this there.
setup() {
    need_ranks
    cd "$tmp" || exit 1
}

need_ranks() {
    grep -q -a MPI_Init_thread "$bin/svm-rank-train" || skip 'no build with MPI: make MPI=1 test'
    command -v mpirun >/dev/null || skip 'no mpirun (package openmpi-bin)'
}

# In a container there is often no user but root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# other tests run beside: processes that wait leave the processor to them
export OMPI_MCA_mpi_yield_when_idle=1

# ranks N PROGRAM ARGUMENTS: its stdout and stderr without mpirun's own words, which are kept in
# $tmp/mpirun.said, and the exit code of the program. Ends by SIGKILL after two minutes.
ranks() {
    local n=$1 status=0
    shift
    timeout -s KILL 120 mpirun --oversubscribe -n "$n" "$@" 2>"$tmp/mpirun.said" || status=$?
    own_words "$tmp/mpirun.said" >&2
    return "$status"
}

# own_words FILE: what programs have said, of what came from mpirun, which puts its own words between
# dashed lines, or behind [host:process] or [warn]; and ends by SIGTERM the ranks that are left when one
# has failed.
own_words() {
    awk '/^-+$/ && length > 20 { inside = !inside; next }
        !inside && !/^\[[^]]*:[0-9]+\] / && !/^mpirun: / && !/: ended by SIGTERM$/ && !/^\[warn\] / && NF' "$1"
}

# on_ranks N refused|misused PROGRAM ARGUMENTS: the assertion of helper, of a program on N ranks.
on_ranks() (
    count=$1
    shift
    # shellcheck disable=SC2317 # refused and misused call it
    limited() {
        ranks "$count" "$@"
    }
    "$@"
)

# bounds TRAINER RANKS OPTIONS: a fit over ranks that takes another way there than one process has bounds of
# the same optimum, and reaches its gap.
bounds() {
    local trainer=$1 n=$2
    shift 2
    "$trainer" -q -j 1 "$@" data.svm plain.model >plain
    ranks "$n" "$trainer" -q -j 1 "$@" data.svm model >report || fail "$n ranks: $*"
    within "$(header dual report)" 0 "$(header primal plain)"
    within "$(header dual plain)" 0 "$(header primal report)"
    within "$(header gap report)" 0 1e-3
}

# whole RANKS TRAINER OPTIONS: a fit that ranks do not spread leaves the model of one process, to the byte.
whole() {
    local n=$1
    shift
    "$@" -q -j 1 data.svm plain.model >plain || fail "$*"
    ranks "$n" "$@" -j 1 data.svm model >report 2>said || fail "$n ranks: $*"
    cmp plain.model model
}
