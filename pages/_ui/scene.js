// A scene of the lesson: it asks, moves the picture to the answer, and then leaves the dial to the hand. Only a prediction
// and the way on are told to the server, which sends the answer after that.
// Milliseconds: from one picture to the next on the way to the answer, at most; of the whole way, at most; until the
// buttons take a press, so that a double one on the prediction does not lead past the answer.
const SLOW = 1400, WHOLE = 3600, LOCKED = 500;

// Numbers on the way from one picture to another of the same shape; `to` itself where their shapes differ.
function between(from, to, part) {
  if (typeof from === 'number' && typeof to === 'number') return from + part * (to - from);
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) return to.map((one, i) => between(from[i], one, part));
  if (from && to && typeof from === 'object' && typeof to === 'object' && !Array.isArray(to)) {
    return Object.fromEntries(Object.entries(to).map(([key, value]) => [key, between(from[key], value, part)]));
  }
  return to;
}
// Of a hundred people one after the other.
const turned = (from, to, part) => ({...between(from, to, part), each: to.each.map((one, i) => i < part * to.each.length ? one : from.each[i])});

const ink = kind => `var(--rr-${kind})`;

// In a legend: a ring where the picture has one, else the words alone.
const your_own = (you, place) => [place in you ? 'ring' : 'words', you.name];

// How each kind of picture is drawn into an empty host. `you` is the prediction: its name, and where it belongs in the picture;
// nothing before it is made, and where the dial has left the place that was asked about.
const PICTURES = {
  nothing() {},

  bars(host, {names, series, crowd, truth, unit}, you) {
    const all = you?.shares ? [...series, {kind: 'guess', name: 'Your prediction', shares: you.shares}] : series;
    const ends = [...all.flatMap(({shares}) => shares), ...(truth ?? []), you?.share ?? 0, unit ? 1 : 0.5];
    const low = Math.min(0, ...ends), span = Math.max(...ends) - low, place = share => `${100 * (share - low) / span}%`;
    host.append(legend_of([...all.map(({kind, name}) => [kind, name]), ...(truth ? [['mark', 'Truth']] : []),
                        ...(crowd !== undefined ? [['crowd', 'By chance alone']] : []), ...(you && !you.shares ? [your_own(you, 'share')] : [])], unit).list);
    host.append(make('div', 'rr-rows', '', ...names.map((name, i) => {
      const lines = all.map(({kind, name: of, shares}) => {
        const share = shares[i], bar = make('i', `rr-bar rr-moved rr-${kind} ${share < 0 ? 'rr-below' : ''}`);
        bar.style.setProperty('--rr-ink', ink(kind));
        bar.style.left = place(Math.min(0, share));
        bar.style.width = `${100 * Math.abs(share) / span}%`;
        const track = make('div', 'rr-track', '', bar);
        const across = (kind, share) => { track.append(make('i', `rr-line rr-${kind}`)); track.lastChild.style.left = place(share) };
        across('zero', 0);
        if (truth) across('mark', truth[i]);
        if (crowd) across('crowd', crowd);
        if (you?.row === i) across('ring', you.share);
        const text = unit ? `${+(100 * share).toFixed(1)}` : signed(share);
        const line = make('div', 'rr-series', '', track, make('span', 'rr-number', text));
        line.setAttribute('role', 'img');
        line.setAttribute('aria-label', `${name}, ${of}: ${text}`);
        return line;
      });
      return make('div', `rr-row rr-of-${all.length > 1 ? 'many' : 'one'}`, '', make('span', 'rr-name', name), make('div', '', '', ...lines));
    })));
  },

  people(host, {chances, each}, you) {
    const known = each.some(one => one < 3), number = i => each.filter(one => one === i).length;
    const {strip, keys, show} = spinner();
    show(chances);
    [...keys.children].forEach((key, i) => key.append(make('b', '', number(i))));
    keys.prepend(make('p', 'rr-heads', '', make('span'), make('span', '', 'chance'), make('span', '', 'what the coin says'), make('span', '', 'people')));
    const squares = make('div', 'rr-squares', '', ...each.map((one, i) => make('i', `rr-zone-${one} ${i + 1 === you?.count ? 'rr-here' : ''}`)));
    squares.setAttribute('role', 'img');
    squares.setAttribute('aria-label', known ? `${number(0)} told the truth, ${number(1)} reported it by accident, ${number(2)} reported another answer`
      : 'a hundred people');
    const entry = legend_of(you ? [your_own(you, 'count')] : []).list;
    host.append(squares, strip, keys, entry);
    for (const node of [strip, keys, entry]) node.classList.toggle('rr-later', !known);   // their place is kept
  },

  dots(host, {rows, low, high}, you) {
    const width = host.clientWidth, tall = rows.length > 1 ? 84 : 150, side = 24;
    const at = value => side + (width - 2 * side) * (value - low) / (high - low);
    host.append(legend_of([['dot', 'Inv of one survey'], ['dot rr-under', 'below zero'], ...(you ? [your_own(you)] : [])]).list);
    for (const {name, values} of rows) {
      const picture = svg('svg', {width, height: tall + 22, role: 'img'}), base = tall - 5, zero = at(0), below = values.filter(value => value < 0).length;
      picture.append(svg('line', {x1: 0, x2: width, y1: tall, y2: tall, class: 'rr-axis'}), svg('line', {x1: zero, x2: zero, y1: 0, y2: tall, class: 'rr-axis'}));
      // Piles of dots side by side, none of them on both sides of zero; the dots are as large as lets each be seen by itself.
      const piled = size => values.map(value => Math.floor((at(Math.max(low, Math.min(high, value))) - zero) / size));
      const tallest = piles => Math.max(...piles.reduce((many, pile) => many.set(pile, (many.get(pile) ?? 0) + 1), new Map()).values());
      let size = 9;
      while (size > 2 && tallest(piled(size)) * size > base - 18) size -= 0.5;
      const heights = new Map();
      for (const pile of piled(size)) {
        const height = heights.get(pile) ?? 0, under = pile < 0, line = under ? size / 5 : 0;
        heights.set(pile, height + 1);
        picture.append(svg('circle', {cx: zero + size * (pile + 0.5), cy: base + 4 - size * (height + 0.5), r: 0.44 * size - line / 2,
          'stroke-width': line, class: under ? 'rr-dot rr-under' : 'rr-dot'}));
      }
      for (const [x, text, anchor] of [[zero - 10, `${below} below zero`, 'end'], [zero + 10, `${values.length - below} above`, 'start']]) {
        picture.append(svg('text', {x, y: 14, 'text-anchor': anchor, class: 'rr-halo'}, text));
      }
      for (const tick of [low, 0, high]) {
        picture.append(svg('line', {x1: at(tick), x2: at(tick), y1: tall, y2: tall + 4, class: 'rr-axis'}),
                       svg('text', {x: at(tick), y: tall + 18, 'text-anchor': 'middle'}, signed(tick).replace('.0', '')));
      }
      picture.setAttribute('aria-label', `${name}: ${below} of ${values.length} dots are below zero`);
      host.append(make('div', 'rr-dots-of', '', make('p', '', `If ${name}:`), picture));
    }
  },

  curve(host, {points, marks: found, x_ticks, y_ticks, x, y, of, spent}, you) {
    const marks = you?.x === undefined ? found : [...found, {kind: 'guess', ...you}];
    // Lines have their names in a legend, where none meets another; one's own upon a hill, where little room is, a row of its own.
    const lines = marks.filter(({y}) => y === null), colour = kind => kind === 'guess' ? 'currentColor' : ink(kind);
    const {list} = legend_of(lines.map(({name}) => ['until', name]));
    lines.forEach(({kind}, i) => { list.children[i].firstChild.style.borderColor = colour(kind) });
    const [first, last] = [points[0]?.[1], points.at(-1)?.[1]], falls = first > last, hill = points.some(([, one]) => one > first && one > last);
    const width = host.clientWidth, narrow = hill && width < 400, height = Math.min(300, Math.max(narrow ? 205 : 220, width * 0.5)) - (lines.length ? 30 : 0);
    const left = 82, right = width - 14, top = lines.length ? 30 : narrow ? 60 : 40, foot = height - 46;
    const xs = [...points, ...x_ticks].map(([one]) => one), ys = [...points.map(([, one]) => one), ...y_ticks.map(([one]) => one)];
    const across = one => left + (right - left) * (one - Math.min(...xs)) / (Math.max(...xs) - Math.min(...xs));
    const up = one => foot - (foot - top) * (one - Math.min(...ys)) / (Math.max(...ys) - Math.min(...ys));
    const picture = svg('svg', {width, height, role: 'img', 'aria-label': `${y}, by ${x}. ${marks.map(({name}) => name).join('; ')}`});
    picture.append(svg('text', {x: 0, y: 16}, `↑ ${y}`), svg('line', {x1: left, x2: right, y1: foot, y2: foot, class: 'rr-axis'}));
    for (const [tick, text] of y_ticks) {
      picture.append(svg('line', {x1: left, x2: right, y1: up(tick), y2: up(tick), class: 'rr-guide'}));
    }
    let free = Infinity;   // from the right; a tick that would meet the next one's name has none
    for (const [tick, text] of [...x_ticks].reverse()) {
      const x = across(tick), anchor = x < left + 15 ? 'start' : x > right - 30 ? 'end' : 'middle';
      const half = 4 * text.length, end = anchor === 'start' ? x + 2 * half : anchor === 'end' ? x : x + half;
      if (end > free) continue;
      free = end - 2 * half - 4;
      picture.append(svg('text', {x, y: foot + 22, 'text-anchor': anchor}, text));
    }
    picture.append(svg('text', {x: right, y: height - 5, 'text-anchor': 'end'}, `${x} →`));
    picture.append(svg('path', {d: points.map(([a, b], i) => `${i ? 'L' : 'M'}${across(a)},${up(b)}`).join(''), class: `rr-curve rr-of-${of ?? 'none'}`}));
    for (const [tick, text] of y_ticks) {
      picture.append(svg('text', {x: left - 8, y: up(tick) + 5, 'text-anchor': 'end', class: 'rr-tick'}, text));
    }
    for (const {kind, x} of lines) {
      picture.append(svg('line', {x1: across(x), x2: across(x), y1: top, y2: foot, stroke: colour(kind), class: 'rr-until'}));
    }
    for (const {kind, name, x, y} of marks.filter(({y}) => y !== null)) {
      const at = across(x), yours = kind === 'guess';
      // A ring about a point that it would nearly cover is wide enough to be seen.
      const near = Math.min(...found.map(one => Math.hypot(across(one.x) - at, up(one.y ?? y) - up(y))));
      const spot = svg('circle', {cx: at, cy: up(y), r: !yours ? 8 : near < 9 ? 11 + near : 11, fill: yours ? 'none' : ink(kind), class: 'rr-spot'});
      const label = (x, y, anchor) => picture.append(spot, svg('text', {x, y, 'text-anchor': anchor, class: 'rr-halo'}, name));
      // Upon a hill only the summit has its name beside it; one's own stands at the top, where no slope crosses it.
      if (hill) {
        picture.append(spot);
        if (yours) picture.append(svg('text', {x: right, y: narrow ? 36 : 16, 'text-anchor': 'end'}, `○ ${name}`));
        else if (y === Math.max(...ys)) label(at + 13, up(y) - 6, 'start');
        continue;
      }
      // The two names do not meet, nor a falling curve that of the point upon it: below it is room on the left, above it on the right.
      const roomy = at - left > 130 || at + 15 + 6.8 * name.length > width, anchor = (falls && !yours ? roomy : at > (left + right) / 2) ? 'end' : 'start';
      const aside = yours ? -24 : falls ? (anchor === 'end' ? Math.min(20, foot - 6 - up(y)) : -10) : up(y) > foot - 20 ? -8 : 5;
      if (yours && falls && y < found[0].y) label(left + 6, up(y) + 36, 'start');   // below the curve, and below the other name
      else label(at + (anchor === 'end' ? -15 : 15), up(y) + aside, anchor);
    }
    host.append(...(lines.length ? [list] : []), picture);
    if (spent === undefined) return;
    // Budgets add up, and odds multiply: a block for each answer of one person.
    host.append(...spent.map(({name, each, times, odds}) => make('div', 'rr-spent', '', make('span', '', name),
      make('span', '', '', ...Array.from({length: times}, () => make('i', '', each))), make('b', '', odds))));
  },

  // From the triangle of all shares of three answers the part about the foot, near all A; the whole of it, small; below it the line from InvP to InvN, enlarged.
  triangle(host, {points, position, apart}, you) {
    const width = host.clientWidth, root = Math.sqrt(3) / 2, left = 50, side = (width - left - 10) / 0.6, foot = 60, height = foot + Math.min(165, 28 + 0.22 * side * root);
    const flat = ([a, b, c]) => [left + side * (b + c / 2), foot - side * c * root];   // of shares, on screen
    const picture = svg('svg', {width, height, role: 'img', 'aria-label': points.map(({name, shares}) => `${name}: ${shares.map(signed).join(', ')}`).join('; ')});
    const up = (foot - 4) / (side * root), corners = [[width - 4, 4], flat([1 - up, 0, up]), flat([1, 0, 0]), [width - 4, foot]];
    picture.append(svg('path', {d: `M${corners.join('L')}`, class: 'rr-inside'}));
    picture.append(svg('text', {x: left - 8, y: foot + 5, 'text-anchor': 'end'}, 'all A'),
                   svg('text', {x: width - 4, y: foot - 8, 'text-anchor': 'end', class: 'rr-tick'}, 'to all B →'),
                   svg('text', {x: left + side * 0.05, y: 16, class: 'rr-tick'}, '↑ to all C'));
    const of = kind => points.find(point => point.kind === kind), inv = of('inv');
    for (const kind of ['inv_n', 'inv_p']) {
      const [[x1, y1], [x2, y2]] = [inv, of(kind)].map(({shares}) => flat(shares));
      picture.append(svg('line', {x1, y1, x2, y2, stroke: ink(kind), class: 'rr-until'}));
    }
    // The whole triangle, small, with the part that is drawn here.
    const whole = 84, tiny = ([x, y]) => [width - whole - 18 + whole * (x - left) / side, height - 12 + whole * (y - foot) / side];
    const [to, depth] = flat(inv.shares), outside = to < 0 || to > width || depth > height;
    if (outside) {
      picture.append(...['Inv is outside this picture:', inv.shares.map((share, i) => `${'ABC'[i]} ${signed(share)}`).join(', ')]
        .map((text, i) => svg('text', {x: width - whole - 38, y: height - 26 + 18 * i, 'text-anchor': 'end', class: 'rr-halo'}, text)));
    }
    const outline = shares => shares.map(tiny).join('L');
    picture.append(svg('path', {d: `M${outline(corners)}Z`, class: 'rr-part'}), svg('path', {d: `M${outline([[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(flat))}Z`, class: 'rr-edge'}));
    for (const [name, corner, dx, dy] of [['A', [1, 0, 0], -12, 5], ['B', [0, 1, 0], 4, 5], ['C', [0, 0, 1], 8, 8]]) {
      const [x, y] = tiny(flat(corner));
      picture.append(svg('text', {x: x + dx, y: y + dy}, name));
    }
    // Where a name stands beside its point; that of MLE*, which is between two others, at the end of a line.
    const beside = {inv: [11, 6, 'start'], inv_p: [-10, 20, 'end'], inv_n: [10, 20, 'start'], mle_star: [28, -30, 'start'], truth: [-10, -4, 'end']};
    const names = points.map(({kind, name, shares}) => {
      const [x, y] = flat(shares), [dx, dy, anchor] = beside[kind];
      if (kind === 'mle_star' && apart) picture.append(svg('line', {x1: x, y1: y, x2: x + dx - 3, y2: y + dy - 4, class: 'rr-axis'}));
      picture.append(svg('circle', {cx: x, cy: y, r: 6, fill: ink(kind), class: 'rr-spot'}));
      return (kind === 'inv' ? !outside : apart || kind === 'truth') ? svg('text', {x: x + dx, y: y + dy, 'text-anchor': anchor, class: 'rr-halo'}, name) : '';
    });
    picture.append(...names);
    const line = svg('svg', {width, height: 92, role: 'img', 'aria-label': `The line from InvP at 0 to InvN at 100${position === null ? '' : `; MLE* at ${Math.round(position)}`}`});
    const at = place => 10 + (width - 20) * (place + 50) / 200;
    if (!apart) {
      const alike = Math.min(...inv.shares) < 0 ? 'InvP, MLE* and InvN are hardly apart here' : 'InvP, MLE* and InvN leave Inv as it is';
      line.replaceChildren(svg('text', {x: width / 2, y: 50, 'text-anchor': 'middle'}, alike));
      line.setAttribute('aria-label', 'no line');
      host.append(picture, line);
      return;
    }
    line.append(svg('line', {x1: at(-50), x2: at(150), y1: 38, y2: 38, class: 'rr-axis'}));
    const spot = (place, kind, name, y) => line.append(svg('circle', {cx: at(place), cy: 38, r: 8, fill: kind === 'guess' ? 'none' : ink(kind), class: 'rr-spot'}),
      svg('text', {x: at(place), y, 'text-anchor': place < -30 ? 'start' : place > 130 ? 'end' : 'middle', class: 'rr-halo'}, name));
    spot(0, 'inv_p', 'InvP, 0', 20);
    spot(100, 'inv_n', 'InvN, 100', 20);
    if (position !== null) spot(position, 'mle_star', `MLE*, ${Math.round(position)}`, 64);
    if (you) spot(you.place, 'guess', you.name, 84);
    host.append(picture, line);
  },
};

// How each kind of question is asked: nodes for the host; `say` is called with each prediction, `said` is the present one.
const QUESTIONS = {
  number({low, high, unit, in_ratios, text}, host, said, say) {
    const range = make('input', 'rr-range'), ends = 200, value = make('output', '', 'move the slider');
    const number = place => in_ratios ? Math.round(low * (high / low) ** (place / ends)) : Math.round(low + (high - low) * place / ends);
    const place = number => ends * (in_ratios ? Math.log(number / low) / Math.log(high / low) : (number - low) / (high - low));
    Object.assign(range, {type: 'range', min: 0, max: ends, step: in_ratios ? 1 : ends / (high - low), value: said ? place(said[0]) : ends / 2});
    range.setAttribute('aria-label', text);
    const words = number => `${number.toLocaleString('en-US').replace('-', '−')}${number === 1 ? unit.replace(/s$/, '') : unit}`;
    range.classList.toggle('rr-unset', !said);
    const tell = () => {
      range.classList.remove('rr-unset');
      const now = number(range.valueAsNumber);
      value.textContent = words(now);
      range.setAttribute('aria-valuetext', words(now));
      say([now]);
    };
    range.addEventListener('input', tell);
    range.addEventListener('pointerup', tell);
    range.addEventListener('keydown', event => { if (event.key === 'Enter') tell() });
    if (said) value.textContent = words(said[0]);
    host.append(make('div', 'rr-head', '', make('span', '', 'Your prediction'), value), range, ends_of(words(low), words(high)));
  },

  choice({options, pictures}, host, said, say) {
    host.append(make('fieldset', 'rr-question', '', ...options.map((option, i) => {
      const radio = make('input');
      Object.assign(radio, {type: 'radio', name: 'rr-choice', value: i, checked: said?.[0] === i});
      radio.addEventListener('change', () => say([i]));
      const small = pictures[i] && make('span', 'rr-small', '', ...pictures[i].map(share => {
        const bar = make('i');
        bar.style.height = `${100 * share / Math.max(...pictures.flat())}%`;
        return bar;
      }));
      return make('label', '', '', radio, make('span', '', option), ...(small ? [small] : []));
    })));
  },

  order({items, hints, ends}, host, said, say) {
    let order = [];
    const nodes = items.map((_, i) => button('', '', () => {
      order = order.includes(i) ? order.filter(one => one !== i) : [...order, i];
      draw();
      say(order.length === items.length ? order : null);
    }));
    const draw = () => nodes.forEach((node, i) => {
      const place = order.indexOf(i);
      node.replaceChildren(make('b', '', place < 0 ? items[i] : `${place + 1}. ${items[i]}`), make('span', '', hints[i]));
      node.setAttribute('aria-pressed', place >= 0);
    });
    draw();
    host.append(make('p', '', `Press the ${ends[0]} first, the ${ends[1]} last; once more takes it back.`), make('div', 'rr-choice', '', ...nodes));
  },

  bars({names}, host, said, say, {series: [{kind, name, shares}]}) {
    const all = bar_rows(names, [kind, 'guess']);
    let drawn = said ?? apportion(names.map(() => 1), 100);
    drawable(all, names, 'Your prediction', () => shares, () => drawn, changed => say(drawn = changed))();
    host.append(legend_of([[kind, name], ['guess', 'Your prediction: drag the rings']]).list,
                make('div', 'rr-rows', '', ...all.map(({row}) => row)));
  },
};

// How far this browser has come: the query of the last link; empty where nothing may be stored.
const PLACE = 'rr-lesson';
function remembered(query) {
  try {
    if (query) localStorage.setItem(PLACE, query);
    return localStorage.getItem(PLACE) ?? '';
  } catch { return '' }
}

class Scene {
  constructor(root, data) {
    this.root = root;
    this.dots = make('span', 'rr-dots');
    this.dots.setAttribute('aria-hidden', 'true');
    this.count = make('span');
    this.title = make('h2', 'rr-title');
    this.title.tabIndex = -1;
    this.words = make('p', 'rr-words');
    this.asked = make('p', 'rr-asked');
    this.result = make('p', 'rr-result');
    this.result.setAttribute('aria-live', 'polite');
    this.body = make('div', 'rr-body');
    this.dial = make('div', 'rr-privacy');
    this.back = button('', 'Back', () => this.send('goes', {to: this.data.number - 1}));
    this.anew = button('', 'Try a new draw', () => this.send('goes', {to: 'anew'}));
    this.predict = button('rr-primary', 'This is my prediction', () => this.send('predicts', {scene: this.data.key, values: this.said}));
    this.climb = button('', '', () => this.view(this.root.dataset.view ? '' : 'hill'));
    this.next = button('', 'Next', () => this.send('goes', {to: this.data.number + 1}));
    const before = new URLSearchParams(remembered()), scene = Number(before.get('scene'));
    this.onward = make('a', 'rr-skip', `Go on with scene ${scene}`);
    this.onward.href = `lesson?${before}`;
    this.onward.hidden = !(scene > 1) || data.number > 1;
    root.replaceChildren(make('div', 'rr-where', '', this.count, this.dots, this.onward), make('div', 'rr-text', '', this.title, this.words, this.asked, this.result),
                         this.body, this.dial, make('div', 'rr-buttons', '', this.back, this.anew, this.climb), make('div', 'rr-way', '', this.predict, this.next));
    new ResizeObserver(([{contentRect: {width}}]) => {
      if (this.shown && width !== this.width && !this.root.dataset.view) this.draw(this.shown);
      this.width = width;
    }).observe(root);
  }

  // What the server tells: a scene, with its answer once the reader has predicted.
  show(data, send) {
    this.send = send;
    const state = JSON.stringify([data.number, data.draw, data.said]), was = this.data;
    for (const [name, colour] of Object.entries(data.colours)) this.root.style.setProperty(`--rr-${name}`, colour);
    if (state === this.state) return;
    this.state = state;
    this.data = data;
    cancelAnimationFrame(this.frame);
    this.root.dataset.scene = data.key;
    this.root.dataset.answered = data.answered ? 'yes' : '';
    this.count.textContent = `Scene ${data.number} of ${data.of}`;
    this.dots.replaceChildren(...Array.from({length: data.of}, (_, i) => make('i', i < data.number ? 'rr-on' : '')));
    this.title.textContent = data.title;
    this.words.textContent = data.before;
    this.asked.textContent = data.answered ? `${data.answered.recall} ${data.question.text}`.trim() : data.question.text;
    this.result.textContent = '';
    this.predict.hidden = Boolean(data.answered);
    clearTimeout(this.opening);
    const lock = locked => { this.next.disabled = this.anew.disabled = locked };
    lock(Boolean(was && data.answered));
    this.opening = setTimeout(() => lock(false), LOCKED);
    this.next.classList.toggle('rr-primary', Boolean(data.answered));
    this.next.textContent = !data.answered ? 'Skip' : data.number === data.of ? 'To the end' : 'Next scene';
    this.climb.hidden = !data.answered?.hill;
    if (was || data.said) this.onward.hidden = true;
    // The address follows the picture after a moment.
    clearTimeout(this.saving);
    if (was || data.said || data.number > 1) this.saving = setTimeout(() => remembered(location.search), 800);
    this.view('');
    if (was) {
      this.title.focus({preventScroll: true});
      if (this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView();
    }
  }

  // The scene, or the hill of the likelihood in its place.
  view(which) {
    cancelAnimationFrame(this.frame);
    this.root.dataset.view = which;
    this.climb.textContent = which ? 'Back to the scene' : 'Climb the hill yourself';
    this.anew.hidden = Boolean(which) || !this.data.answered;
    this.back.hidden = Boolean(which) || this.data.number === 1;
    if (which) {
      const host = make('div');
      this.body.replaceChildren(host);
      new Hill(host, this.data.answered.hill).show(this.data.answered.hill);
    } else if (this.data.answered) this.answer();
    else this.ask();
  }

  ask() {
    this.said = this.you = null;
    this.root.dataset.away = '';
    this.predict.disabled = true;
    this.dial.replaceChildren();
    this.host = make('div', 'rr-shown');
    const question = make('div', 'rr-ask');
    this.body.replaceChildren(this.host, question);
    const {picture, question: about} = this.data;
    this.draw(about.kind === 'bars' ? {kind: 'nothing'} : picture);   // bars are drawn upon those of the picture
    QUESTIONS[about.kind](about, question, null, said => {
      this.said = said;
      this.predict.disabled = said === null;
    }, picture);
  }

  answer() {
    const {answered, picture} = this.data, {frames, first, reveal} = answered;
    this.host = make('div', 'rr-shown');
    this.caption = make('p', 'rr-caption');
    this.body.replaceChildren(this.host, this.caption);
    const end = answered.after.search(/\. /) + 1;   // what was right stands out
    this.result.replaceChildren(make('b', '', answered.after.slice(0, end)), answered.after.slice(end));
    const name = answered.dial, range = slider(name, 0, frames.length - 1, first), value = make('output');
    const put = place => {
      this.you = place === first ? answered.you : null;
      this.root.dataset.away = place === first ? '' : 'yes';   // the words are about the first place
      value.textContent = frames[place].value;
      range.setAttribute('aria-valuetext', frames[place].value);
      this.caption.textContent = frames[place].caption;
    };
    range.addEventListener('input', () => {
      const from = this.shown;
      this.root.dataset.moving = '';
      put(range.valueAsNumber);
      this.move([from, frames[range.valueAsNumber].picture], 250);
    });
    this.dial.replaceChildren(make('div', 'rr-head', '', make('span', '', name), value), range, ...(name.includes('ε') ? [privacy_ends()] : []));
    put(first);
    this.root.dataset.moving = 'yes';   // the words wait for the picture
    const way = [picture, ...reveal, frames[first].picture];
    this.move(way, Math.min(SLOW, WHOLE / (way.length - 1)));
  }

  // Through these pictures, one after the other.
  move(pictures, time) {
    cancelAnimationFrame(this.frame);
    const begun = performance.now(), steps = pictures.length - 1;
    const frame = now => {
      const gone = still() ? steps : Math.min(steps, Math.max(0, (now - begun) / time)), step = Math.min(steps - 1, Math.floor(gone)), part = gone - step;
      const smooth = part * part * (3 - 2 * part);
      const [from, to] = pictures.slice(step);
      this.draw(part === 1 ? to : (to.each ? turned : between)(from, to, smooth));
      if (gone === steps) this.root.dataset.moving = '';
      else if (this.host.isConnected) this.frame = requestAnimationFrame(frame);
    };
    frame(begun);
  }

  draw(picture) {
    this.shown = picture;
    this.host.replaceChildren();
    PICTURES[picture.kind](this.host, picture, this.you);
  }
}
