/* 36 rows, the first 12 positive, and the optima of classification at the top on them.
 *
 * The optima are those of the primal and the dual as quadratic and second-order cone programs,
 * solved by cvxopt 1.3 (abstol = reltol = 1e-11) with numpy in double from the same values; the two
 * agree to 5e-11 everywhere. rbf: gamma = 0.125. */
#ifndef TESTS_UNIT_FAMILIES_TOP_SOLVER_OPTIMA_H
#define TESTS_UNIT_FAMILIES_TOP_SOLVER_OPTIMA_H

#include "families/top/solver/top.h"

enum { OPTIMA_ROWS = 36, OPTIMA_WIDTH = 4, OPTIMA_POSITIVES = 12 };

static const float optima_x[OPTIMA_ROWS][OPTIMA_WIDTH] = {
    {0.40F, -0.12F, 0.35F, 0.42F},   {2.34F, 1.31F, 0.05F, -0.78F},
    {1.95F, 2.83F, 0.87F, -1.23F},   {0.24F, 2.80F, 0.80F, -1.73F},
    {1.12F, 0.04F, -0.03F, -0.49F},  {0.49F, 1.75F, 0.54F, -0.59F},
    {1.61F, 2.03F, -1.04F, -0.26F},  {0.22F, 1.03F, -0.69F, 0.02F},
    {1.16F, 0.90F, -0.45F, -0.40F},  {0.11F, -0.16F, 0.82F, -1.11F},
    {2.37F, 1.92F, -1.40F, 0.27F},   {0.10F, 1.23F, 0.64F, -1.99F},
    {-0.23F, -0.26F, 0.96F, -1.18F}, {0.74F, -1.10F, -0.33F, -0.84F},
    {1.45F, 0.57F, 2.43F, 0.64F},    {0.84F, 0.84F, -0.61F, -0.07F},
    {1.35F, -0.40F, 0.19F, -0.02F},  {0.61F, -0.36F, -0.15F, 0.24F},
    {0.10F, -0.86F, 0.90F, -1.30F},  {-1.20F, -1.28F, 0.97F, -0.36F},
    {-0.97F, -1.14F, 0.42F, -1.05F}, {-1.27F, 0.61F, -1.20F, -0.32F},
    {-0.01F, -0.45F, -0.05F, 1.34F}, {-0.52F, -1.26F, -1.84F, -0.20F},
    {-0.35F, 0.27F, -0.46F, -0.48F}, {-0.72F, -0.52F, 0.16F, -0.38F},
    {0.10F, 1.90F, 0.48F, -1.58F},   {1.73F, 0.35F, -0.94F, 0.91F},
    {0.02F, -0.62F, -0.63F, -0.99F}, {0.05F, 1.07F, -0.33F, 0.42F},
    {1.88F, -1.21F, 0.26F, -0.31F},  {-1.06F, -1.03F, -0.02F, 0.43F},
    {-0.53F, 0.05F, 0.72F, 0.30F},   {0.87F, 0.46F, 0.49F, 1.83F},
    {0.62F, 0.13F, 0.71F, -0.92F},   {-0.34F, 0.79F, 0.63F, 1.55F},
};

struct optimum {
    enum top_formulation formulation;
    double k, tau, theta;
    enum top_loss loss;
    bool rbf;
    double cost, value;
};

static const struct optimum optima[] = {
    {TOP_PUSH, 1, 0.1, 1, TOP_HINGE, false, 0.1, 1.15256265763},
    {TOP_PUSH, 1, 0.1, 1, TOP_HINGE, false, 2, 20.5361545095},
    {TOP_PUSH, 1, 0.1, 1, TOP_HINGE, true, 0.1, 1.17059630265},
    {TOP_PUSH, 1, 0.1, 1, TOP_HINGE, true, 2, 17.2298177803},
    {TOP_PUSH, 1, 0.1, 1, TOP_SQUARED_HINGE, false, 0.1, 1.14087346127},
    {TOP_PUSH, 1, 0.1, 1, TOP_SQUARED_HINGE, false, 2, 22.3202134766},
    {TOP_PUSH, 1, 0.1, 1, TOP_SQUARED_HINGE, true, 0.1, 1.10822362263},
    {TOP_PUSH, 1, 0.1, 1, TOP_SQUARED_HINGE, true, 2, 16.2559375983},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_HINGE, false, 0.1, 1.07220033377},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_HINGE, false, 2, 17.9189150003},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_HINGE, true, 0.1, 1.17040409329},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_HINGE, true, 2, 17.1263165168},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_SQUARED_HINGE, false, 0.1, 1.06209448497},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_SQUARED_HINGE, false, 2, 20.2371499609},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_SQUARED_HINGE, true, 0.1, 1.10767066999},
    {TOP_PUSH_K, 3, 0.1, 1, TOP_SQUARED_HINGE, true, 2, 16.2459121202},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_HINGE, false, 0.1, 1.00322569073},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_HINGE, false, 2, 16.1519975873},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_HINGE, true, 0.1, 1.16459672598},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_HINGE, true, 2, 16.523870613},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_SQUARED_HINGE, false, 0.1, 0.992996997427},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_SQUARED_HINGE, false, 2, 18.6266804057},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_SQUARED_HINGE, true, 0.1, 1.09440811333},
    {TOP_TAU_FPL, 1, 0.15, 1, TOP_SQUARED_HINGE, true, 2, 15.9027387133},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_HINGE, false, 0.1, 1.10676618454},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_HINGE, false, 2, 18.90928202},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_HINGE, true, 0.1, 1.17059630265},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_HINGE, true, 2, 17.2298177802},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_SQUARED_HINGE, false, 0.1, 1.09173649686},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_SQUARED_HINGE, false, 2, 21.0101791822},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_SQUARED_HINGE, true, 0.1, 1.10822362263},
    {TOP_PUSH_K, 2.5, 0.1, 1, TOP_SQUARED_HINGE, true, 2, 16.2559375983},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_HINGE, false, 0.1, 1.2},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_HINGE, false, 2, 24},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_HINGE, true, 0.1, 1.19956450947},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_HINGE, true, 2, 23.8258037882},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_SQUARED_HINGE, false, 0.1, 1.2},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_SQUARED_HINGE, false, 2, 24},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_SQUARED_HINGE, true, 0.1, 1.19845346329},
    {TOP_MEAN_K, 1, 0.4, 1, TOP_SQUARED_HINGE, true, 2, 23.7861592696},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_HINGE, false, 0.1, 1.88484639687},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_HINGE, false, 2, 36.3477307693},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_HINGE, true, 0.1, 2.07771655541},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_HINGE, true, 2, 36.5483703646},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_SQUARED_HINGE, false, 0.1, 2.38498987065},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_SQUARED_HINGE, false, 2, 47.1440970586},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_SQUARED_HINGE, true, 0.1, 2.55978509606},
    {TOP_PAT_MAT, 1, 0.2, 1, TOP_SQUARED_HINGE, true, 2, 45.3666855234},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_HINGE, false, 0.1, 9.84843819516},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_HINGE, false, 2, 154.70602445},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_HINGE, true, 0.1, 10.7176680694},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_HINGE, true, 2, 186.738996716},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_SQUARED_HINGE, false, 0.1, 35.8467896321},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_SQUARED_HINGE, false, 2, 684.166984873},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_SQUARED_HINGE, true, 0.1, 43.4491539286},
    {TOP_PAT_MAT, 1, 0.2, 0.1, TOP_SQUARED_HINGE, true, 2, 628.327838052},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_HINGE, false, 0.1, 1.5257688023},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_HINGE, false, 2, 22.9061077721},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_HINGE, true, 0.1, 2.10520832758},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_HINGE, true, 2, 25.0677809467},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_SQUARED_HINGE, false, 0.1, 1.83887908308},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_SQUARED_HINGE, false, 2, 33.7768827589},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_SQUARED_HINGE, true, 0.1, 2.49585601523},
    {TOP_PAT_MAT_NP, 1, 0.1, 1, TOP_SQUARED_HINGE, true, 2, 30.4884739909},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_HINGE, false, 0.1, 2.36588416106},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_HINGE, false, 2, 24.5049490047},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_HINGE, true, 0.1, 3.81475315607},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_HINGE, true, 2, 35.9009031644},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_SQUARED_HINGE, false, 0.1, 2.81080721515},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_SQUARED_HINGE, false, 2, 43.5132768721},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_SQUARED_HINGE, true, 0.1, 5.13715436769},
    {TOP_PAT_MAT_NP, 1, 0.3, 0.3, TOP_SQUARED_HINGE, true, 2, 39.9404227422},
};

enum { OPTIMA = sizeof optima / sizeof optima[0] };

#endif
