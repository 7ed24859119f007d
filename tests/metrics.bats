# Ranking measures and pairwise probabilities, below the programs.

load helper

@test "metrics: measures agree with their definitions, and with values worked by hand" {
    unit metrics
}

@test "sigmoid: the slope is the minimum of Platt's objective over both orders of each pair" {
    unit sigmoid
}
