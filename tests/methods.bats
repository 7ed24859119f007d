# What solvers have in common (solvers/methods), below the programs.

load helper

@test "monitors: what stands before a monitor drops nothing of it, neither limits nor time" {
    unit solvers/methods/monitor
}

@test "huberised Newton: bounds hold and belong to the points kept, however the path ends" {
    unit solvers/methods/huber_path
}
