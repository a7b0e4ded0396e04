// What the story and the hill share: rows of bars, rings that one drags, legends and words for numbers.
const percent = share => `${Math.round(100 * share)}%`;
const signed = share => `${share < -5e-4 ? '−' : ''}${Math.abs(100 * share).toFixed(1)}%`;
const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

function make(tag, name, text, ...children) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;   // 0 too
  node.append(...children);
  return node;
}

function svg(tag, attributes, text = '') {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return node;
}

// A slider of whole steps from `low` to `high`, with its name for those who do not see it.
function slider(label, low, high, value, name = '') {
  const range = make('input', `rr-range ${name}`.trim());
  Object.assign(range, {type: 'range', min: low, max: high, step: 1, value});
  range.setAttribute('aria-label', label);
  return range;
}

// Whole numbers with sum `total` in proportion to the weights, equal ones where all weights are zero.
function apportion(weights, total) {
  const all = sum(weights), parts = weights.map(weight => total * (all ? weight / all : 1 / weights.length));
  const whole = parts.map(Math.floor);
  const order = parts.map((_, i) => i).sort((i, j) => (parts[j] - whole[j]) - (parts[i] - whole[i]));
  for (let left = total - sum(whole), i = 0; i < left; i++) whole[order[i]]++;
  return whole;
}

function button(name, text, act) {
  const node = make('button', `rr-button ${name}`, text);
  node.type = 'button';
  node.addEventListener('click', act);
  return node;
}

// A row for each name: the name, a bar of each kind, and a number.
function bar_rows(names, kinds) {
  return names.map(name => {
    const bars = kinds.map(kind => make('i', `rr-bar rr-${kind}`)), track = make('div', 'rr-track', '', ...bars);
    const number = make('span', 'rr-number');
    return {row: make('div', 'rr-row', '', make('span', 'rr-name', name), track, number), bars, track, number};
  });
}

// What stands below the two ends of a line.
const ends_of = (low, high) => make('div', 'rr-ends', '', make('span', '', low), make('span', '', high));

// The same for a dial of ε, whose value is read aloud as a number.
function privacy_ends() {
  const ends = ends_of('← more private', 'more accurate →');
  ends.setAttribute('aria-hidden', 'true');
  return ends;
}

// What the colours mean, pairs of kind and text, and what the numbers at the right are.
function legend_of(entries, numbers = '') {
  const words = entries.map(([, text]) => make('span', '', text));
  const list = make('div', 'rr-legend', '',
    ...entries.map(([kind], i) => make('div', '', '', make('i', `rr-bar rr-${kind}`), words[i])),
    ...(numbers ? [make('b', '', numbers)] : []));
  return {list, words};
}

// A ring at the end of a bar, from 0 to `most` per cent, which calls `moved` with its value, and `released` afterwards.
function ring(track, label, most, moved, released) {
  const range = slider(label, 0, most, 0);
  range.addEventListener('input', () => moved(range.valueAsNumber));
  range.addEventListener('change', released);
  track.append(range);
  return range;
}
