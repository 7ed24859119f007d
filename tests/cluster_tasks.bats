# Fits that are dealt to ranks, and what starts programs on a cluster.

load helper
load cluster

@test "cluster: without mpirun the build with MPI is as the plain one" {
    svm-rank-train "$root/datasets/rank.train" model >out
    grep -q '^gap = ' out
    mpirun -n 1 svm-rank-train "$root/datasets/rank.train" model.1 >out.1
    cmp model model.1
    grep -q '^gap = ' out.1
    misused svm-rank-train --no-such-option
}

@test "cluster: a mistake is told once, and ends all ranks with its exit code" {
    on_ranks 3 refused svm-rank-train no-such-file
    on_ranks 3 misused svm-rank-train --no-such-option
    holds . out err mpirun.said
}
