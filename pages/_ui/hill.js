// The likelihood of the story's reports as a hill that one climbs. It runs wholly here: nothing is sent to the server.
class Hill {
  static WALK = 700;                     // milliseconds that a walk takes
  static ABOVE = 10; static BELOW = 32;   // factors of ten that the picture shows above the summit and below it
  static BEFORE = 1; static BEYOND = 0.3;   // distances from the summit that it shows, on both sides
  // Pixels: that a line of words needs, that the words at the left need, and that the climber needs at the left edge.
  static LETTERS = 24; static WORDS = 130; static MARGIN = 10;

  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.place = data.first;     // of ε among the values
    this.people = data.people[1];
    this.equal = data.answers.map(() => 1 / data.answers.length);
    root.classList.add('rr-hill');
    this.build();
    this.start();
    new ResizeObserver(() => this.draw()).observe(this.picture);
  }

  // Whatever the server tells: new colours.
  show(data) {
    for (const [name, colour] of Object.entries(data.colours)) this.root.style.setProperty(`--rr-${name}`, colour);
  }

  get now() { return this.data.steps[this.place] }
  get reports() { return this.now.counts.map(count => count / sum(this.now.counts)) }
  get summit() { return this.now.mle_star }
  // The share that a full bar stands for.
  get widest() { return Math.max(...this.summit, ...this.shares) > 0.6 ? 1 : 0.6 }

  // The mathematics: shares of the reports are phi, chances p and q of a report, and p - q is `keep`.

  seen(shares) { return shares.map(share => this.now.p - this.now.keep + this.now.keep * share) }
  // Negative log-likelihood per report, and by how much the log-likelihood lies below the summit's, for all reports.
  loss(shares) {
    const seen = this.seen(shares);
    return -sum(this.reports.map((phi, i) => phi ? phi * Math.log(seen[i]) : 0));
  }
  depth(shares) {
    const seen = this.seen(shares), {keep} = this.now;
    return Math.max(0, this.people * sum(this.reports.map((phi, i) =>
      phi * Math.log1p(keep * (this.summit[i] - shares[i]) / seen[i]))));
  }
  // The factors by which a step of IBU multiplies the shares.
  factors(shares) {
    const seen = this.seen(shares), {p, keep} = this.now, ratio = this.reports.map((phi, i) => phi / seen[i]);
    return ratio.map(own => (p - keep) * sum(ratio) + keep * own);
  }
  after_step(shares) {
    const factors = this.factors(shares);
    return shares.map((share, i) => share * factors[i]);
  }
  // By how much the largest factor is above 1. By Jensen's inequality no shares make a report, on average, likelier by a
  // larger factor, nor all reports by more than its power: `above` is the logarithm of that.
  certificate(shares) { return Math.max(...this.factors(shares)) - 1 }
  above(shares) { return this.people * Math.log1p(Math.max(0, this.certificate(shares))) }
  // Total variation.
  from_summit(shares) { return sum(shares.map((share, i) => Math.abs(share - this.summit[i]))) / 2 }

  // Building

  build() {
    const {answers, people, steps} = this.data;
    const {list} = legend_of([['observed', 'Reports'], ['guess', 'Shares: drag the rings']]);
    this.rows = bar_rows(answers, ['observed', 'guess']);
    let base = null;   // the shares when the hand took hold
    this.rows.forEach((row, i) => {
      row.range = ring(row.track, `Share: ${answers[i]}`, 100, value => {
        base ??= this.shares;
        const own = value / 100, others = sum(base) - base[i];
        const gives_way = share => (1 - own) * (others > 1e-9 ? share / others : 1 / (base.length - 1));
        this.trail = [];
        this.go([base.map((share, j) => j === i ? own : gives_way(share))], 'Your shares');
      }, () => { base = null });
    });
    this.picture = make('div', 'rr-picture');
    this.picture.setAttribute('role', 'img');
    this.odds = make('p', 'rr-result');
    this.odds.setAttribute('aria-live', 'polite');
    this.bound = make('p', 'rr-bound');
    this.star = make('p', 'rr-star');
    this.counts = people.map(number => [number, button('', number.toLocaleString('en-US'), () => {
      this.people = number;
      this.settle();
    })]);
    const choice = make('div', 'rr-choice', '', ...this.counts.map(([, node]) => node));
    choice.setAttribute('role', 'group');
    choice.setAttribute('aria-label', 'Number of people');
    this.root.replaceChildren(
      make('div', 'rr-hand-side', '',
        make('h2', 'rr-title', 'How likely are these reports?'),
        list, make('div', 'rr-rows', '', ...this.rows.map(({row}) => row))),
      make('div', 'rr-hill-side', '', this.picture, this.odds, this.bound),
      make('div', 'rr-people', '', make('span', '', 'Reports like these, from so many people'), choice),
      this.privacy(steps),
      make('div', 'rr-climb', '',
        button('', 'Start again', () => this.start()),
        button('', 'One step of IBU', () => this.climb(1)),
        button('', '10 steps', () => this.climb(10)),
        button('rr-primary', 'Go to the summit: MLE*', () => this.rise())),
      this.star,
    );
  }

  privacy(steps) {
    const name = 'Privacy ε, in this picture only';
    this.value = make('output');
    this.epsilon = slider(name, 0, steps.length - 1, this.place);
    this.epsilon.addEventListener('input', () => {
      this.place = this.epsilon.valueAsNumber;
      this.trail = [];
      if (!['Your shares', 'Equal shares'].includes(this.whose)) this.whose = 'The same shares';
      this.settle();
    });
    return make('div', 'rr-privacy', '', make('span', '', name), this.epsilon, this.value);
  }

  // Moving

  start() {
    this.trail = [];
    this.go([this.equal], 'Equal shares');
  }
  climb(steps) {
    const path = [this.shares];
    for (let i = 0; i < steps; i++) path.push(this.after_step(path.at(-1)));
    if (!this.trail.length) this.trail = [this.shares];
    this.trail.push(...path.slice(1));
    this.go(path, 'IBU');
  }
  rise() {
    this.trail = [];
    this.go([this.shares, this.summit], 'MLE*');
  }

  // Along a path of shares to its last one.
  go(path, whose) {
    cancelAnimationFrame(this.frame);
    this.shares = this.shown = path.at(-1);
    this.whose = whose;
    this.settle();
    if (still() || path.length < 2) return;
    const begun = performance.now();
    const frame = time => {
      const part = Math.min(1, Math.max(0, (time - begun) / Hill.WALK)), at = part * (path.length - 1);
      const from = path[Math.floor(at)], to = path[Math.ceil(at)];
      this.shown = part < 1 ? from.map((share, i) => share + (at % 1) * (to[i] - share)) : this.shares;
      this.draw();
      if (part < 1) this.frame = requestAnimationFrame(frame);
    };
    frame(begun);
  }

  // Say and draw where one stands.
  settle() {
    cancelAnimationFrame(this.frame);
    this.shown = this.shares;
    const {epsilon} = this.now;
    this.value.textContent = `ε = ${epsilon}`;
    this.epsilon.setAttribute('aria-valuetext', String(epsilon));
    this.counts.forEach(([number, node]) => node.setAttribute('aria-pressed', number === this.people));
    const certificate = this.certificate(this.shares), depth = this.depth(this.shares);
    Object.assign(this.root.dataset, {
      epsilon, certificate, people: this.people, loss: this.loss(this.shares), depth, shares: JSON.stringify(this.shares),
      factors: JSON.stringify(this.factors(this.shares)),
    });
    this.say(depth, certificate, this.above(this.shares));
    this.draw();
  }

  say(depth, certificate, above) {
    const steps = this.trail.length - 1, by_ibu = this.whose === 'IBU';
    const stuck = by_ibu && this.summit.some((share, i) => share > 0 && !this.shares[i]);
    this.star.textContent = stuck ? 'IBU multiplies: a bar at zero stays at zero, and the summit is out of reach.'
      : 'The star of MLE*: computed, not climbed. IBU (iterative Bayesian update) multiplies each bar by a factor.';
    if (this.whose === 'MLE*') {
      this.odds.textContent = 'MLE* makes these reports most likely: this is the summit.';
      this.bound.textContent = 'IBU multiplies no bar by over 1, so no shares make these reports more likely: the certificate.';
      return;
    }
    const make_them = by_ibu ? `IBU, after ${steps} step${steps > 1 ? 's' : ''}, makes` : `${this.whose} make`;
    const less = depth < Math.log(1.01) ? 'less than 1%' : `${this.times(depth, Math.round)} times`;
    this.odds.textContent = `${make_them} these reports ${less} less likely than the best shares do.`;
    const factor = 1 + Math.ceil(1e6 * Math.max(0, certificate)) / 1e6;
    this.bound.textContent = `IBU multiplies no bar by over ${factor}, so no shares make these reports over ${this.times(above, Math.ceil)} times as likely: the certificate.`;
  }

  // e to the power of `nats`, in words, rounded by `round`.
  times(nats, round) {
    if (nats < Math.log(9.99)) return (round(100 * Math.exp(nats)) / 100).toFixed(2);
    const power = Math.floor(nats / Math.LN10), two = round(10 ** (nats / Math.LN10 - power + 1));
    if (power < 6) return (two * 10 ** (power - 1)).toLocaleString('en-US');
    const carried = two === 100, raised = String(carried ? power + 1 : power);
    return `${(carried ? 1 : two / 10).toFixed(1)}·10${[...raised].map(digit => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]).join('')}`;
  }

  // Drawing

  draw() {
    this.rows.forEach(({bars, number, range}, i) => {
      bars[0].style.width = `${100 * this.reports[i] / this.widest}%`;
      bars[1].style.width = `${100 * this.shown[i] / this.widest}%`;
      number.textContent = `${(100 * this.shown[i]).toFixed(1)}%`;
      range.max = 100 * this.widest;
      range.value = 100 * this.shown[i];
      range.setAttribute('aria-valuetext', number.textContent);
    });
    const {clientWidth: width, clientHeight: height} = this.picture;
    if (!width) return;
    const tall = height - Hill.LETTERS;
    const across = distance => Hill.MARGIN + (width - Hill.MARGIN) * (Hill.BEFORE - distance) / (Hill.BEFORE + Hill.BEYOND);
    const up = nats => tall * (Hill.ABOVE - nats / Math.LN10) / (Hill.ABOVE + Hill.BELOW);
    const far = this.from_summit(this.shown), depth = this.depth(this.shown);
    if (far > 1e-6) this.way = this.shown;
    const at = [across(far), Math.min(tall - 8, up(-depth))];
    const top = Math.max(2, up(this.above(this.shown) - depth));
    const ticks = [['the best', 0], ['10¹⁰ times less', 10], ['10²⁰ times less', 20], ['10³⁰ times less', 30]]
      .map(([words, power]) => [words, up(-power * Math.LN10)]).flatMap(([words, y]) => [
        svg('line', {class: 'rr-grid', x1: 0, x2: width, y1: y, y2: y}), svg('text', {x: 2, y: y - 4}, words)]);
    const marks = [['← farther from the summit', 0, 'start'], ['summit', across(0), 'middle']]
      .map(([words, x, anchor]) => svg('text', {x, y: height - 6, 'text-anchor': anchor}, words));
    const {outline, edge} = this.slope(across, up, tall), beyond = across(edge) + 8, low = tall / 2;
    const cliff = ['here a bar', 'is below', 'zero'].map((word, i) => svg('text', {x: beyond, y: low + 17 * i}, word));
    const aside = at[0] < Hill.WORDS;
    const foot = svg('text', {x: at[0] + (aside ? 14 : 0), y: at[1] + (aside ? 4 : -14),
      'text-anchor': aside ? 'start' : 'middle'}, 'far below');
    const whole = svg('svg', {width, height, 'aria-hidden': 'true'});
    whole.append(
      ...ticks,
      svg('rect', {class: 'rr-wall', x: across(edge), y: 0, width: width - across(edge), height: tall}),
      svg('path', {class: 'rr-slope', d: outline}),
      svg('line', {class: 'rr-certificate', x1: 62, x2: width, y1: top, y2: top}),
      svg('text', {x: across(0) - 10, y: top > 20 ? top - 5 : top + 16, 'text-anchor': 'end'},
        `certificate${top > 2 ? '' : ': far above'}`),
      svg('line', {class: 'rr-grid', x1: 0, x2: width, y1: tall, y2: tall}),
      ...this.trail.map(shares => svg('circle', {class: 'rr-step', r: 3, cx: across(this.from_summit(shares)),
        cy: Math.min(tall - 3, up(-this.depth(shares)))})),
      svg('path', {class: 'rr-flag', d: `M${across(0)},${up(0)}v-24l14,6l-14,6`}),
      svg('circle', {class: 'rr-climber', r: 8, cx: at[0], cy: at[1]}),
      ...(up(-depth) > tall ? [foot] : []),
      ...marks, ...(width - beyond > 64 ? cliff : []),
    );
    this.picture.replaceChildren(whole);
    this.picture.setAttribute('aria-label', `A hill. ${this.odds.textContent} ${this.bound.textContent}`);
  }

  // The hill's cross-section along the line from where one stands through the summit, as far as no share is below zero: its
  // outline, and how far before the summit (beyond it, where negative) it ends.
  slope(across, up, tall) {
    const way = this.way.map((share, i) => share - this.summit[i]), unit = this.from_summit(this.way);
    const reach = sign => Math.min(...way.map((slope, i) => sign * slope < 0 ? this.summit[i] / Math.abs(slope) : Infinity));
    const from = Math.min(reach(1), Hill.BEFORE / unit), to = -Math.min(reach(-1), Hill.BEYOND / unit), points = [];
    for (let i = 0; i <= 400; i++) {
      const part = from + (to - from) * i / 400;
      const shares = this.summit.map((share, j) => Math.max(0, share + part * way[j]));
      points.push(`${across(part * unit).toFixed(2)},${Math.min(tall, up(-this.depth(shares))).toFixed(2)}`);
    }
    return {outline: `M${across(from * unit)},${tall}L${points.join('L')}L${across(to * unit)},${tall}Z`, edge: to * unit};
  }
}
