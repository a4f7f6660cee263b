// Exact numbers while somebody types: fractions [p, q] in lowest terms, q > 0. They are written as
// normgeo/pictures/home/arithmetic.py writes them, and a test compares the two.

const LONGEST = 9;
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const divisor = (a, b) => (b ? divisor(b, a % b) : a);

function fraction(p, q = 1) {
  const common = divisor(Math.abs(p), q) || 1;
  return [p / common, q / common];
}

const parsed = (words) => fraction(...words.split("/").map(Number));
const plus = ([p, q], [r, s]) => fraction(p * s + r * q, q * s);
const minus = (one, [r, s]) => plus(one, [-r, s]);
const square = ([p, q]) => fraction(p * p, q * q);
const size = ([p, q]) => [Math.abs(p), q];
const value = ([p, q]) => p / q;

function mean(numbers) {
  const [p, q] = numbers.reduce(plus, [0, 1]);
  return fraction(p, q * numbers.length);
}

// A = X Wᵀ, in whole numbers.
const product = (X, W) =>
  X.map((x) => W.map((w) => x.reduce((sum, entry, d) => sum + entry * w[d], 0)));

// What a word averages over for the place (n, h) of a matrix like A.
const over = (word, M, n, h) =>
  word === "batch" ? M.map((row) => row[h]) : word === "layer" ? M[n] : [];

// μ and v = σ² of each place, for the two words of a method.
function moments({ center, scale }, A, W) {
  const exact = A.map((row) => row.map((a) => [a, 1]));
  const mu = exact.map((row, n) =>
    row.map((_, h) => (center === "none" ? [0, 1] : mean(over(center, exact, n, h)))),
  );
  const squares = exact.map((row, n) => row.map((a, h) => square(minus(a, mu[n][h]))));
  const variance = squares.map((row, n) =>
    row.map((_, h) =>
      scale === "weight"
        ? W[h].map((w) => [w * w, 1]).reduce(plus)
        : mean(over(scale, squares, n, h)),
    ),
  );
  return { mu, variance };
}

// z at a place; null where σ = 0.
function normalized(a, mu, variance) {
  return variance[0] ? value(minus([a, 1], mu)) / Math.sqrt(value(variance)) : null;
}

function root([p, q]) {
  const [r, s] = [p, q].map((number) => Math.round(Math.sqrt(number)));
  return r * r === p && s * s === q ? [r, s] : null;
}

const signed = (words) => words.replace("-", "−");

// Three digits, powers of ten written out.
function number(value) {
  const rounded = Number(value.toPrecision(3));
  const large = Math.abs(rounded);
  if (rounded === 0 || (large >= 1e-4 && large < 1e6)) {
    const form = { maximumSignificantDigits: 3, roundingMode: "halfEven" };
    return signed((rounded && value).toLocaleString("en-US", form));
  }
  const [mantissa, power] = rounded.toExponential(2).split("e");
  const exponent = [...power.replace("+", "")].map((digit) => RAISED[digit]).join("");
  return `${signed(String(Number(mantissa)))} · 10${exponent}`;
}

function shown([p, q]) {
  const words = p.toLocaleString("en-US") + (q > 1 ? `/${q}` : "");
  return words.length <= LONGEST ? signed(words) : number(p / q);
}

function rootOf(variance) {
  const exact = root(variance);
  if (exact) {
    return shown(exact);
  }
  const words = shown(variance);
  return /^[\d.,]+$/.test(words) ? `√${words}` : `√(${words})`;
}

// The three lines of Eq. 5 at a place: mean, scale, result.
function arithmetic({ center, scale }, { mu, variance }, A, W, n, h, words) {
  const a = A[n][h];
  const [m, v] = [mu[n][h], variance[n][h]];
  const centered = A.map((row, i) => row.map((b, j) => minus([b, 1], mu[i][j])));
  const ofWeights = scale === "weight";
  const parts = ofWeights ? W[h].map((w) => [w, 1]) : over(scale, centered, n, h);
  const whole = parts.every(([, q]) => q === 1);
  const squares = parts
    .map((part) => (whole ? `${shown(size(part))}²` : shown(square(part))))
    .join(" + ");
  const averaged = over(center, A, n, h);
  const sum = averaged
    .map((b, i) => (i ? ` ${b < 0 ? "−" : "+"} ${shown([Math.abs(b), 1])}` : shown([b, 1])))
    .join("");
  const first = averaged.length ? `μ = (${sum})/${averaged.length} = ${shown(m)}` : words.noMean;
  const second = ofWeights
    ? `σ = ‖w‖ = √(${squares}) = ${rootOf(v)}`
    : `σ² = (${squares})/${parts.length} = ${shown(v)}`;
  const z = normalized(a, m, v);
  if (z === null) {
    return [first, second, words.noZ[ofWeights ? "weights" : averaged.length ? "equal" : "zero"]];
  }
  const sigma = rootOf(v);
  const below = sigma.includes("/") && !sigma.startsWith("√") ? `(${sigma})` : sigma;
  const above = `${shown([a, 1])} ${m[0] < 0 ? "+" : "−"} ${shown(size(m))}`;
  return [first, second, `z = (${above})/${below} = ${number(z)}`];
}
