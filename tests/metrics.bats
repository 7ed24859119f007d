# Ranking measures and pairwise probabilities, below the programs.

load helper

@test "metrics: measures agree with their definitions, and with values worked by hand" {
    unit families/rank/metrics
}

@test "sigmoid: the slope is the minimum of Platt's objective over both orders of each pair" {
    unit families/rank/sigmoid
}
