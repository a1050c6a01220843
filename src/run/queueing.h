// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace raftperf::run {

/// Closed-form answers of queueing theory that the rig must reproduce. Times in units of
/// the mean service time; rho is the utilisation, 0 < rho < 1.

/// The quantile of the response time in M/M/1: exponential with rate 1 - rho
/// (Kleinrock, Queueing Systems I, section 5.2).
double mm1_response_quantile(double rho, double p);

/// P(waiting <= t) in M/D/1 (Erlang 1909; Crommelin 1932):
/// (1 - rho) sum over k <= t of (rho (k - t))^k / k! exp(rho (t - k)).
double md1_waiting_cdf(double rho, double t);

/// The quantile of the response time in M/D/1, by bisection of the above.
double md1_response_quantile(double rho, double p);

/// The quantile of the response time of a period of length T with one stall of length
/// s, whose backlog drains at utilisation rho: q(p) = s - (1 - rho)(1 - p) T. All three
/// times in one unit; valid while it is above the time without a stall.
double stall_quantile(double stall, double period, double rho, double p);

}  // namespace raftperf::run
