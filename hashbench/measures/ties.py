# mypy: disable-error-code="no-untyped-def"
"""Exact values of ranked measures when items are tied: expectations and bounds over all orders.

Every function takes ``counts[q, d, g]``, the number of items of grade g in bucket d, and never an
order. Notation for one query: a bucket holds n items, r of them relevant, with grades that sum to
g; before it are N items, M of them relevant, with grades that sum to G; the cutoff takes its first
m places. P(i) is the precision at rank i, or the mean grade of the first i items if there are more
than two grades; S is the sum of P(i) over the relevant ranks so far. With two grades g = r, G = M.
"""

from __future__ import annotations

import math

import numpy as np

from hashbench.core.compilation import kernel

EXPECTED, OPTIMISTIC, PESSIMISTIC = 0, 1, 2
RETRIEVED, ALL, MIN = 0, 1, 2

#: Up to this many terms a sum is a loop; beyond, a closed form is exact to the last digits.
_FEW = 48

#: A weight below this share of the heaviest cannot change the sum in double precision.
_NEGLIGIBLE = 1e-22


@kernel()
def reciprocals(before, count):
    """Return the sum of 1 / (before + i) for i = 1..count.

    A few terms are added one by one. The rest is a difference of digamma values, each in its
    asymptotic series about the half integers; written with log1p the difference keeps its digits
    however far the two ends are from zero.
    """
    total = 0.0
    while count > 0 and (before < _FEW or count <= _FEW):
        total += 1.0 / (before + 1)
        before += 1
        count -= 1
    if count == 0:
        return total
    low = before + 0.5
    a, b = 1.0 / (low * low), 1.0 / ((low + count) * (low + count))
    series = (b - a) / 24.0 - 7.0 * (b * b - a * a) / 960.0 + 31.0 * (b**3 - a**3) / 8064.0
    return total + math.log1p(count / low) + series


@kernel()
def ratio_sum(first, slope, before, count):
    """Return the sum of (first + i slope) / (before + 1 + i) for i = 0..count-1."""
    if count <= _FEW:
        total = 0.0
        for i in range(count):
            total += (first + i * slope) / (before + 1 + i)
        return total
    return slope * count + (first - slope * (before + 1)) * reciprocals(before, count)


@kernel()
def _totals(items):
    """Return n, r and g of a bucket that has ``items[grade]`` items of each grade."""
    r, g = np.int64(0), np.int64(0)
    for grade in range(1, items.size):
        r += items[grade]
        g += grade * items[grade]
    return items[0] + r, r, g


@kernel()
def _in_order_of_grade(items, best_first, G, N, count):
    """Return what `count` relevant items of a bucket add to S at ranks N + 1, N + 2, ..."""
    total = 0.0
    for step in range(1, items.size):
        grade = items.size - step if best_first else step
        taken = min(count, items[grade])
        total += ratio_sum(float(G + grade), float(grade), N, taken)
        G, N, count = G + grade * taken, N + taken, count - taken
    return total


@kernel()
def _whole_bucket(ties, items, G, N):
    """Return what a bucket that is inside the cutoff adds to S."""
    n, r, _ = _totals(items)
    if ties == OPTIMISTIC:
        return _in_order_of_grade(items, True, G, N, r)
    if ties == PESSIMISTIC:
        return _in_order_of_grade(items, False, G, N + n - r, r)
    return _expected_part(items, G, N, n)


@kernel()
def _expected_part(items, G, N, m):
    """Return what the first m places of a bucket add to S in expectation.

    Place i is relevant with probability r / n; given that, each of the i places before it is
    relevant with probability (r - 1) / (n - 1). A relevant item has grade g / r on average.
    """
    n, r, g = _totals(items)
    grade = g / r
    slope = (r - 1) / (n - 1) if n > 1 else 0.0
    return r / n * ratio_sum(G + grade, grade * slope, N, m)


@kernel()
def _split_sum(ties, items, G, N, m):
    """Return what a bucket split by the cutoff adds to S, where the divisor is fixed."""
    n, r, _ = _totals(items)
    if ties == OPTIMISTIC:
        return _in_order_of_grade(items, True, G, N, min(m, r))
    if ties == PESSIMISTIC:
        least = max(0, m - (n - r))
        return _in_order_of_grade(items, False, G, N + m - least, least)
    return _expected_part(items, G, N, m)


@kernel()
def _split_mean(ties, S, items, G, M, N, m):
    """Return S / h where h, the relevant items above the cutoff, depends on the split bucket.

    More relevant items may lower the mean, so the bounds are searched over every possible h.
    """
    n, r, _ = _totals(items)
    least, most = max(0, m - (n - r)), min(m, r)
    if ties == EXPECTED:
        return _hypergeometric_mean(S, items, G, M, N, m, least, most)
    best = -1.0
    for j in range(least, most + 1):
        shift = 0 if ties == OPTIMISTIC else m - j
        inside = _in_order_of_grade(items, ties == OPTIMISTIC, G, N + shift, j)
        value = (S + inside) / (M + j) if M + j > 0 else 0.0
        better = value > best if ties == OPTIMISTIC else value < best
        if j == least or better:
            best = value
    return best


@kernel()
def _hypergeometric_mean(S, items, G, M, N, m, least, most):
    """Return the expected S / h, given that j of the m places are relevant, over all j.

    The weights follow from the mode by their ratios and are divided by their own sum: no
    factorial is formed, so nothing overflows and no digits are lost.
    """
    n, r, g = _totals(items)
    grade = g / r if r > 0 else 0.0
    alone = ratio_sum(1, 0.0, N, m)
    after = ratio_sum(0, 1.0, N, m)
    mode = min(max((m + 1) * (r + 1) // (n + 2), least), most)
    weights, values = 0.0, 0.0
    for direction in (-1, 1):
        weight, j = 1.0, mode
        while least <= j <= most and weight > _NEGLIGIBLE:
            if direction == 1 or j != mode:
                slope = (j - 1) / (m - 1) if m > 1 else 0.0
                inside = j / m * ((G + grade) * alone + grade * slope * after)
                weights += weight
                if M + j > 0:
                    values += weight * (S + inside) / (M + j)
            if direction == 1:
                weight *= (r - j) / (j + 1) * ((m - j) / (n - r - m + j + 1))
            else:
                weight *= j / (r - j + 1) * ((n - r - m + j) / (m - j + 1))
            j += direction
    return values / weights


@kernel()
def average_precision(counts, cutoff, norm, ties):
    """Return AP over the first `cutoff` ranks of every query; nan without a relevant item.

    With more than two grades this is the mean of ACG at the relevant ranks (WAP).

    Parameters
    ----------
    counts : (queries, buckets, grades) int64
    cutoff : int
    norm : `RETRIEVED`, `ALL` or `MIN`
    ties : `EXPECTED`, `OPTIMISTIC` or `PESSIMISTIC`

    Returns
    -------
    (queries,) float64
    """
    values = np.empty(counts.shape[0])
    for q in range(counts.shape[0]):
        S, G, M, N = 0.0, np.int64(0), np.int64(0), np.int64(0)
        mean = -1.0
        for d in range(counts.shape[1]):
            items = counts[q, d]
            n, r, g = _totals(items)
            m = min(n, cutoff - N)
            if m == n and r > 0:
                S += _whole_bucket(ties, items, G, N)
            elif 0 < m < n and norm == RETRIEVED:
                mean = _split_mean(ties, S, items, G, M, N, m)
            elif 0 < m < n and r > 0:
                S += _split_sum(ties, items, G, N, m)
            if m < n:
                break
            G, M, N = G + g, M + r, N + n
        R = counts[q, :, 1:].sum()
        if R == 0:
            values[q] = np.nan
        elif norm == RETRIEVED:
            values[q] = mean if mean >= 0.0 else (S / M if M > 0 else 0.0)
        else:
            values[q] = S / (R if norm == ALL else min(R, cutoff))
    return values


@kernel()
def _first_hits(M, N, n, r, t):
    """Return the expected sum of P(i) over the first t of the r > t relevant items of a bucket.

    Place i counts if it is relevant and fewer than t relevant places are before it:
        sum_i (r/n) E[(M + 1 + X_i) 1(X_i < t)] / (N + i),   X_i ~ Hypergeometric(n-1, r-1, i-1)
    and E[X_i 1(X_i < t)] = (i-1)(r-1)/(n-1) P(X'_i < t - 1) with X'_i of (n-2, r-2, i-2). Both
    probabilities are tails of waiting times, whose weights follow from their ratios.
    """
    total = 0.0
    for moment in range(2):
        if moment == 1 and t == 1:
            break
        # the waiting time is the draw at which relevant item number `hit` of the others appears
        others, good, hit = n - 1 - moment, r - 1 - moment, t - moment
        weights = _waiting_time(others, good, hit)
        tail = 0.0
        for i in range(n, moment, -1):
            # P(fewer than `hit` among the draws before place i) = P(waiting time >= i - moment)
            if i - moment <= others:
                tail += weights[i - moment]
            factor = M + 1 if moment == 0 else (i - 1) * (r - 1) / (n - 1)
            total += factor * tail / (N + i)
    return r / n * total


@kernel()
def _waiting_time(others, good, hit):
    """Return the probabilities that the hit-th of `good` items among `others` is draw 0..others."""
    weights = np.zeros(others + 1)
    last = others - good + hit
    mode = hit
    if good > 1:
        mode = min(max(int((hit - 1) / (good - 1) * others) + 1, hit), last)
    total = 0.0
    for direction in (-1, 1):
        weight, w = 1.0, mode
        while hit <= w <= last and weight > _NEGLIGIBLE:
            if direction == 1 or w != mode:
                weights[w] = weight
                total += weight
            # w(i) = C(i-1, hit-1) C(others-i, good-hit) / C(others, good)
            if direction == 1:
                weight *= w / (w - hit + 1) * ((last - w) / (others - w))
            else:
                weight *= (w - hit) / (w - 1) * ((others - w + 1) / (last - w + 1))
            w += direction
    return weights / total


@kernel()
def first_hits_precision(counts, cutoff, ties):
    """Return the mean precision at the first min(cutoff, R) relevant items; nan without one.

    Parameters and result are those of `average_precision`, with two grades.
    """
    values = np.empty(counts.shape[0])
    for q in range(counts.shape[0]):
        S, M, N = 0.0, np.int64(0), np.int64(0)
        for d in range(counts.shape[1]):
            r = counts[q, d, 1]
            n = counts[q, d, 0] + r
            t = min(r, cutoff - M)
            if t == r and r > 0:
                S += _whole_bucket(ties, counts[q, d], M, N)
            elif t > 0 and ties == EXPECTED:
                S += _first_hits(M, N, n, r, t)
            elif t > 0:
                S += ratio_sum(M + 1, 1.0, N + (n - r if ties == PESSIMISTIC else 0), t)
            M += t
            N += n
            if t < r:
                break
        values[q] = S / M if M > 0 else np.nan
    return values


@kernel()
def hits(counts, ranks, ties):
    """Return the number of relevant items in the first k ranks.

    Parameters
    ----------
    counts : (queries, buckets, 2) int64
    ranks : (queries, points) int64, ascending
    ties : `EXPECTED`, `OPTIMISTIC` or `PESSIMISTIC`

    Returns
    -------
    (queries, points) float64
    """
    found = np.empty(ranks.shape)
    for q in range(ranks.shape[0]):
        d, M, N = -1, 0, 0
        n, r = 0, 0
        for point in range(ranks.shape[1]):
            while ranks[q, point] > N + n and d + 1 < counts.shape[1]:
                d += 1
                M, N = M + r, N + n
                r = counts[q, d, 1]
                n = counts[q, d, 0] + r
            m = min(n, ranks[q, point] - N)
            if ties == OPTIMISTIC:
                found[q, point] = M + min(m, r)
            elif ties == PESSIMISTIC:
                found[q, point] = M + max(0, m - (n - r))
            else:
                found[q, point] = M + (m * r / n if n > 0 else 0.0)
    return found


@kernel()
def expected_success(counts, cutoff):
    """Return the probability that a relevant item is in the first `cutoff` ranks, (queries,).

    It depends on the first bucket with a relevant item. None of its r relevant items is among its
    first m places with probability C(n - m, r) / C(n, r), a product of min(m, r) ratios.
    """
    values = np.zeros(counts.shape[0])
    for q in range(counts.shape[0]):
        N = 0
        for d in range(counts.shape[1]):
            r = counts[q, d, 1]
            n = counts[q, d, 0] + r
            m = min(n, cutoff - N)
            if r > 0 and m > 0:
                none = 1.0
                for i in range(min(m, r)):
                    none *= (n - max(m, r) - i) / (n - i)
                values[q] = 1.0 - none
            if r > 0 or m < n:
                break
            N += n
    return values


@kernel()
def discounted_gain(counts, gains, discounts, cutoff, ties):
    """Return the gain of the first `cutoff` ranks, each times its discount.

    Parameters
    ----------
    counts : (queries, buckets, grades) int64
    gains : (grades,) float64, ascending
        Gain of each grade.
    discounts : (items + 1,) float64
        discounts[k] is the sum of the discounts of ranks 1..k.
    cutoff, ties
        As in `average_precision`.

    Returns
    -------
    (queries,) float64
    """
    levels = counts.shape[2]
    values = np.zeros(counts.shape[0])
    for q in range(counts.shape[0]):
        N = 0
        for d in range(counts.shape[1]):
            n = counts[q, d].sum()
            if n == 0:
                continue
            if ties == EXPECTED:
                gain = 0.0
                for g in range(levels):
                    gain += gains[g] * counts[q, d, g]
                values[q] += gain / n * (discounts[min(N + n, cutoff)] - discounts[N])
            else:
                place = N
                for step in range(levels):
                    g = levels - 1 - step if ties == OPTIMISTIC else step
                    stop = min(place + counts[q, d, g], cutoff)
                    values[q] += gains[g] * (discounts[stop] - discounts[place])
                    place = stop
            N += n
            if cutoff <= N:
                break
    return values
