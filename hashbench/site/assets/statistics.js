// The tests of `hashbench compare`, for two methods at a time. Nothing here knows the page.
"use strict";

// The two-sided p-value of Student's t with a whole number of degrees of freedom (Abramowitz and
// Stegun 26.7.3 and 26.7.4).
function studentP(ratio, freedom) {
  const angle = Math.atan(Math.abs(ratio) / Math.sqrt(freedom));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const odd = freedom % 2 === 1;
  let sum = 0;
  for (let term = odd ? cosine : 1, k = odd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= ((k - 1) / k) * cosine * cosine;
  }
  const within = odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return Math.max(0, 1 - within);
}

// How far t has to be for a two-sided p-value.
function studentRatio(p, freedom) {
  let [low, high] = [0, 1];
  while (studentP(high, freedom) > p) high *= 2;
  for (let i = 0; i < 80; i += 1) {
    const middle = (low + high) / 2;
    if (studentP(middle, freedom) > p) low = middle; else high = middle;
  }
  return high;
}

// The t-test over splits, corrected for the rows that they share (Nadeau and Bengio 2003).
function overSplits(differences, overlap) {
  const count = differences.length;
  const middle = mean(differences);
  if (Math.max(...differences) - Math.min(...differences) <= 1e-12) return { difference: middle, low: middle, high: middle, p: 1 };
  const error = Math.sqrt((1 / count + overlap) * deviation(differences) ** 2);
  const half = studentRatio(0.05, count - 1) * error;
  return { difference: middle, low: middle - half, high: middle + half, p: studentP(middle / error, count - 1) };
}

// A generator of numbers from 0 to 1 whose draws are the same every time (mulberry32).
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// The paired bootstrap over queries: mean, percentile interval, and twice the smaller share of
// resampled means on a side of zero.
function overQueries(differences, samples = 10000) {
  const draw = seeded(1);
  const count = differences.length;
  const means = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample += 1) {
    let sum = 0;
    for (let i = 0; i < count; i += 1) sum += differences[Math.floor(draw() * count)];
    means[sample] = sum / count;
  }
  means.sort();
  const at = (share) => means[Math.round(share * (samples - 1))];
  const rounding = 1e-12; // a mean that is zero but for it is on both sides
  const side = Math.min(means.filter((each) => each <= rounding).length, means.filter((each) => each >= -rounding).length) / samples;
  return { difference: mean([...differences]), low: at(0.025), high: at(0.975), p: Math.max(2 / samples, Math.min(1, 2 * side)), atMost: 2 * side <= 2 / samples };
}

// Holm's correction of p-values for all of them together.
function holm(values) {
  const order = [...values.keys()].sort((a, b) => values[a] - values[b]);
  const corrected = [];
  order.reduce((least, place, rank) => (corrected[place] = Math.max(least, Math.min(1, values[place] * (order.length - rank)))), 0);
  return corrected;
}
