// uLSIF, Gaussian naive Bayes and Algorithm 1 for two classes in the plane: what `ddr` computes, to 1e-8.
// Pure functions. Points are pairs of numbers in a row, [x0, y0, x1, y1, ...]; matrices are stored row by row.
globalThis.ddrMath = (() => {
  "use strict";
  function sum(values) {
    let total = 0;
    for (let i = 0; i < values.length; i++) total += values[i];
    return total;
  }

  // Numbers in [0, 1) from a seed (the generator mulberry32).
  function uniforms(seed) {
    let a = seed;
    return () => {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  // The chance in a sample, drawn once: so that points follow a centre that moves, and none jumps.
  function chance(n, seed) {
    const next = uniforms(seed);
    return Array.from({ length: n }, () => {
      const [length, angle] = [Math.sqrt(-2 * Math.log(1 - next())), 2 * Math.PI * next()];
      return { first: next(), left: next(), step: [length * Math.cos(angle), length * Math.sin(angle)] };
    });
  }

  // A world has the share of its first class, the share of the left cluster in each class, and four centres.
  function sample(world, drawn) {
    const [x, y] = [new Float64Array(2 * drawn.length), []];
    drawn.forEach(({ first, left, step }, i) => {
      y[i] = first < world.prior ? 0 : 1;
      const center = world.centers[2 * y[i] + (left < world.left[y[i]] ? 0 : 1)];
      for (const j of [0, 1]) x[2 * i + j] = center[j] + step[j];
    });
    return { x, y };
  }

  // log p(class 1 | x) - log p(class 2 | x) of the best rule, which knows the world.
  function bestLogOdds(world) {
    const log = (x, y, c) => {
      const [prior, left] = [c ? 1 - world.prior : world.prior, world.left[c]];
      const terms = [left, 1 - left].map((share, k) => {
        const [a, b] = world.centers[2 * c + k];
        return Math.log(prior * share) - ((x - a) ** 2 + (y - b) ** 2) / 2;
      });
      const top = Math.max(...terms);
      return top === -Infinity ? top : top + Math.log(sum(terms.map((t) => Math.exp(t - top))));
    };
    return (x, y) => log(x, y, 0) - log(x, y, 1);
  }

  // Gaussian kernel values, a row for each point and a column for each centre (paper, eq. 10).
  function kernel(x, centers, sigma) {
    const [n, b] = [x.length / 2, centers.length / 2];
    const K = new Float64Array(n * b);
    for (let i = 0, at = 0; i < n; i++)
      for (let l = 0; l < b; l++, at++) {
        const [across, up] = [x[2 * i] - centers[2 * l], x[2 * i + 1] - centers[2 * l + 1]];
        K[at] = Math.exp((across * across + up * up) / (-2 * sigma * sigma));
      }
    return K;
  }

  // Second moment of the kernels over some rows (eq. 12); only its lower half is needed.
  function secondMoment(K, rows, b) {
    const S = new Float64Array(b * b);
    for (const i of rows)
      for (let l = 0; l < b; l++) {
        const value = K[i * b + l] / rows.length;
        for (let m = 0; m <= l; m++) S[l * b + m] += value * K[i * b + m];
      }
    return S;
  }

  // First moment of the kernels over test rows that belong to a class by their posterior (eqs. 9 and 14).
  function softMoment(K, weight, b) {
    const s = new Float64Array(b);
    for (let j = 0; j < weight.length; j++)
      for (let l = 0; l < b; l++) s[l] += weight[j] * K[j * b + l];
    const total = sum(weight);
    return s.map((value) => value / total);
  }

  // Lower Cholesky factor of S + lam I.
  function cholesky(S, lam, b) {
    const L = Float64Array.from(S);
    for (let i = 0; i < b; i++)
      for (let j = 0; j <= i; j++) {
        let value = L[i * b + j] + (i === j ? lam : 0);
        for (let k = 0; k < j; k++) value -= L[i * b + k] * L[j * b + k];
        L[i * b + j] = i === j ? Math.sqrt(value) : value / L[j * b + j];
      }
    return L;
  }

  function solve(L, s, b) {
    const alpha = Float64Array.from(s);
    for (let i = 0; i < b; i++) {
      for (let k = 0; k < i; k++) alpha[i] -= L[i * b + k] * alpha[k];
      alpha[i] /= L[i * b + i];
    }
    for (let i = b - 1; i >= 0; i--) {
      for (let k = i + 1; k < b; k++) alpha[i] -= L[k * b + i] * alpha[k];
      alpha[i] /= L[i * b + i];
    }
    return alpha;
  }

  // uLSIF (eq. 11), prepared: gives the ratio at some training rows for any weights of the test rows.
  function matcher(KTrain, rows, KTest, { lam, clip }) {
    const b = KTrain.centers;
    const L = cholesky(secondMoment(KTrain, rows, b), lam, b);
    return (testWeight) => {
      let alpha = solve(L, softMoment(KTest, testWeight, b), b);
      if (clip === "coefficients") alpha = alpha.map((value) => Math.max(value, 0));
      return rows.map((i) => {
        let ratio = 0;
        for (let l = 0; l < b; l++) ratio += alpha[l] * KTrain[i * b + l];
        return Math.max(ratio, 0);
      });
    };
  }

  const rowsOf = (y, c) => [...y.keys()].filter((i) => y[i] === c);

  // Gaussian naive Bayes from weighted rows, as scikit-learn's; a class without weight cannot win.
  function naiveBayes({ x, y }, weights) {
    const moments = (rows, weight, j) => {
      const total = sum(weight);
      if (total < 1e-8) return [0, 0];
      const mean = sum(rows.map((i, at) => weight[at] * x[2 * i + j])) / total;
      return [mean, sum(rows.map((i, at) => weight[at] * (x[2 * i + j] - mean) ** 2)) / total];
    };
    const all = [...y.keys()];
    const ones = all.map(() => 1);
    const smoothing = 1e-9 * Math.max(...[0, 1].map((j) => moments(all, ones, j)[1]));
    const total = sum(weights);
    return [0, 1].map((c) => {
      const rows = rowsOf(y, c);
      const weight = rows.map((i) => weights[i]);
      const [[meanX, varX], [meanY, varY]] = [0, 1].map((j) => moments(rows, weight, j));
      return { prior: sum(weight) / total, mean: [meanX, meanY], variance: [varX + smoothing, varY + smoothing] };
    });
  }

  function logOdds(model) {
    const terms = model.map(({ prior, mean, variance }) => {
      const level = Math.log(prior) - (Math.log(variance[0]) + Math.log(variance[1])) / 2;
      return (x, y) => level - ((x - mean[0]) ** 2 / variance[0] + (y - mean[1]) ** 2 / variance[1]) / 2;
    });
    return (x, y) => terms[0](x, y) - terms[1](x, y);
  }

  const each = (f, x) => Float64Array.from({ length: x.length / 2 }, (_, i) => f(x[2 * i], x[2 * i + 1]));
  const posteriors = (model, x) => each(logOdds(model), x).map((odds) => 1 / (1 + Math.exp(-odds)));
  const accuracy = (odds, { x, y }) => sum(each(odds, x).map((o, i) => (o > 0) === (y[i] === 0))) / y.length;

  // How many points of equal weight are worth as much (Kish).
  const effectiveSize = (weights) => sum(weights) ** 2 / sum(weights.map((w) => w * w));

  // Mutual information of rows and predicted classes (eq. 16); the prior is the mean posterior.
  function information(posterior) {
    const entropy = (p) => -sum([p, 1 - p].map((q) => (q > 0 ? q * Math.log(q) : 0)));
    return entropy(sum(posterior) / posterior.length) - sum(posterior.map(entropy)) / posterior.length;
  }

  // Weights of mean one. Where the ratio vanishes everywhere there is nothing to say, and they are one.
  function toMeanOne(weights) {
    const mean = sum(weights) / weights.length;
    return mean > 1e-100 ? weights.map((w) => w / mean) : weights.map(() => 1);
  }

  // Short straight pieces of the line where f is zero, found on a grid of squares.
  function zeroLine(f, [left, right, bottom, top], steps) {
    const at = (i, j) => [left + ((right - left) * i) / steps, bottom + ((top - bottom) * j) / steps];
    const row = (j) => Float64Array.from({ length: steps + 1 }, (_, i) => f(...at(i, j)));
    const pieces = [];
    for (let j = 0, below = row(0), above; j < steps; j++, below = above) {
      above = row(j + 1);
      for (let i = 0; i < steps; i++) {
        const sign = below[i] > 0;
        if (sign === below[i + 1] > 0 && sign === above[i] > 0 && sign === above[i + 1] > 0) continue;
        const corners = [[i, j, below[i]], [i + 1, j, below[i + 1]], [i + 1, j + 1, above[i + 1]], [i, j + 1, above[i]]];
        const crossings = corners.flatMap(([a, b, value], k) => {
          const [c, d, next] = corners[(k + 1) % 4];
          const part = value / (value - next);
          return value > 0 === next > 0 ? [] : [at(a + part * (c - a), b + part * (d - b))];
        });
        for (let k = 0; k + 1 < crossings.length; k += 2) pieces.push([crossings[k], crossings[k + 1]]);
      }
    }
    return pieces;
  }

  // What a method ends with: a model of the weighted training rows, and how good it is.
  function learned(train, test, weights) {
    const model = naiveBayes(train, weights);
    return { weights, model, accuracy: accuracy(logOdds(model), test), size: effectiveSize(weights) };
  }

  // Algorithm 1: weights and classifier in turn, the unweighted state first.
  function rounds(train, test, start, match, count) {
    const n = test.y.length;
    const own = [0, 1].map((c) => rowsOf(train.y, c));
    const states = [start];
    for (;;) {
      const state = states.at(-1);
      const posterior = posteriors(state.model, test.x); // step 4
      state.information = information(posterior);
      if (states.length > count) return states;
      const prior = [posterior, posterior.map((p) => 1 - p)].map((p) => Math.max(sum(p) / n, 0.5 / n));
      const weights = train.y.map(() => 1);
      own.forEach((rows, c) => {
        const share = c ? posterior.map((p) => 1 - p) : posterior;
        const ratio = sum(share) > 1e-6 ? match[c](share) : [0];
        const beta = Math.max(...ratio) > 1e-100 ? ratio : rows.map(() => 1); // step 5
        const gamma = prior[c] / sum(prior) / (rows.length / train.y.length); // step 6
        rows.forEach((i, at) => (weights[i] = beta[at] * gamma)); // step 7
      });
      states.push(learned(train, test, toMeanOne(weights))); // step 3
    }
  }

  // The loop ends at the first fall of mutual information, after one reweighting at least.
  function untilDrop(informations) {
    const fall = informations.findIndex((value, t) => t > 1 && value < informations[t - 1]);
    const last = fall > 0 ? fall - 1 : informations.length - 1;
    const kept = informations.indexOf(Math.max(...informations.slice(1, last + 1)), 1);
    return { kept, fall: fall > 0 ? fall : null };
  }

  // No weights, the plain ratio and every state of DDR, from one problem.
  function compare({ train, test, sigma, lam, clip, nCenters, maxIter }) {
    const centers = test.x.slice(0, 2 * nCenters);
    const [KTrain, KTest] = [train, test].map(({ x }) => {
      const K = kernel(x, centers, sigma);
      K.centers = centers.length / 2;
      return K;
    });
    const prepared = (rows) => matcher(KTrain, rows, KTest, { lam, clip });
    const plain = prepared([...train.y.keys()])(test.y.map(() => 1));
    const none = learned(train, test, train.y.map(() => 1));
    const match = [0, 1].map((c) => prepared(rowsOf(train.y, c)));
    const states = rounds(train, test, none, match, maxIter);
    const stop = untilDrop(states.map((state) => state.information));
    return { none, plain: learned(train, test, toMeanOne(plain)), states, ...stop };
  }

  return { accuracy, bestLogOdds, chance, compare, logOdds, posteriors, sample, zeroLine };
})();
