// SPDX-License-Identifier: Apache-2.0
#include "run/queueing.h"

#include <cmath>

namespace raftperf::run {

double mm1_response_quantile(double rho, double p) { return -std::log1p(-p) / (1 - rho); }

double md1_waiting_cdf(double rho, double t) {
  if (t < 0) {
    return 0;
  }
  // The terms alternate and grow before they shrink; long double keeps the sum exact
  // enough for t up to some 30 service times, far beyond p99.9 at the rho used here.
  long double sum = 0;
  for (int k = 0; k <= static_cast<int>(t); ++k) {
    const long double x = static_cast<long double>(rho) * (static_cast<long double>(k) - t);
    sum += std::pow(x, static_cast<long double>(k)) / std::tgamma(static_cast<long double>(k) + 1) *
           std::exp(-x);
  }
  return static_cast<double>((1 - static_cast<long double>(rho)) * sum);
}

double md1_response_quantile(double rho, double p) {
  double low = 0;
  double high = 30;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (md1_waiting_cdf(rho, middle) < p ? low : high) = middle;
  }
  return 1 + high;
}

double stall_quantile(double stall, double period, double rho, double p) {
  return stall - (1 - rho) * (1 - p) * period;
}

}  // namespace raftperf::run
