// The story at the head of the home page. It runs wholly here: nothing is sent to the server.
// In milliseconds: of a coin's fall; of the reports' arrival, and of one report's fall.
const FALL = 900, ARRIVAL = 3000, DROP = 500;
const MOVE = 1600;   // milliseconds that the bars take from one picture to the next
const DOTS = 200;    // falling reports: one for ten people
const WIDEST = 50;   // percent that a full bar stands for, where no share is larger

const BELOW = ['', 'One bar is', 'Two bars are', 'Three bars are', 'Four bars are'];
const REPAIRS = {inv_n: 'InvN', inv_p: 'InvP', mle_star: 'MLE*'};

// Half the sum of the differences, in whole percentage points: how many people in a hundred stand in a wrong bar.
const distance = (shares, truth) => Math.round(50 * sum(shares.map((share, i) => Math.abs(share - truth[i]))));

// Who came closest, in a sentence made of the numbers on screen: pairs of name and distance, the estimate's last.
function verdict(off) {
  const least = Math.min(...off.map(([, number]) => number));
  const first = off.filter(([, number]) => number === least).map(([name]) => name);
  const names = first.join(' and ');
  const closest = first.length === 3 ? 'All three are equally close.' : first.length === 2 ? `Equally close: ${names}.`
    : `${names[0].toUpperCase()}${names.slice(1)} came closest.`;
  const [[, reports], [, estimate]] = off.slice(-2);
  return estimate <= reports ? closest : `${closest} This noise misleads even the estimate.`;
}

// A coin's fall on a line: the part for the truth, and the two for any answer. `show` draws their chances, and gives in words
// the first two and their sum, with so many digits that they add up as written.
function spinner() {
  const zones = ['the truth, as the coin says', 'any answer, by accident the truth', 'any answer, not the truth']
    .map((words, i) => ({zone: make('i', `rr-zone-${i}`), key: make('i', `rr-zone-${i}`), chance: make('b'), words}));
  const strip = make('div', 'rr-strip', '', ...zones.map(({zone}) => zone), make('i', 'rr-fair'));
  const keys = make('div', 'rr-zones', '', ...zones.map(({key, chance, words}) => make('p', '', '', key, chance, words)));
  const show = parts => {
    const [told, accident] = parts, number = (share, digits) => (100 * share).toFixed(digits);
    const add_up = digits => (+number(told, digits) + +number(accident, digits)).toFixed(digits) === number(told + accident, digits);
    const digits = [1, 2, 3].find(add_up) ?? 1, words = share => `${number(share, digits)}%`;
    parts.forEach((part, i) => {
      zones[i].zone.style.width = `${100 * part}%`;
      zones[i].chance.textContent = words(part);
    });
    return [told, accident, told + accident].map(words);
  };
  return {strip, keys, show};
}

// Bars that one draws, upon those of the `given` shares: a ring moves one, the others give way, so that all make 100%.
// `present` gives the whole percentages, `change` takes them; the function returned draws both.
function drawable(rows, names, label, given, present, change) {
  let base = null;   // the percentages when the hand took hold
  const ranges = rows.map(({track}, i) => ring(track, `${label}: ${names[i]}`, WIDEST, value => {
    base ??= present();
    const rest = apportion(base.filter((_, j) => j !== i), 100 - value);
    change([...rest.slice(0, i), value, ...rest.slice(i)]);
    draw();
  }, () => { base = null }));
  const draw = () => {
    const shares = given(), drawn = present();
    rows.forEach(({bars, number}, i) => {
      bars[0].style.width = `${100 * 100 / WIDEST * shares[i]}%`;
      bars[1].style.width = `${Math.min(100, 100 / WIDEST * drawn[i])}%`;
      number.textContent = `${drawn[i]}%`;
      ranges[i].value = drawn[i];
      ranges[i].setAttribute('aria-valuetext', `${drawn[i]}%`);
    });
  };
  return draw;
}

// Where the visitor of this tab is, for the way back from another page.
const KEPT = 'rr-story';
function kept(place) {
  try {
    if (place) sessionStorage.setItem(KEPT, JSON.stringify(place));
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch { return {} }
}

class Story {
  constructor(root, data) {
    this.root = root;
    this.step = 0;
    this.place = data.first;   // of ε among the values
    this.answer = null;        // the visitor's
    this.guess = null;         // whole percentages, once the visitor has moved one
    this.repair = 'inv_n';     // the one on screen in the last step
    Object.assign(this, kept());
    this.steps = [this.ask, this.toss, this.arrive, this.ask_for_a_guess, this.reveal, this.take_away, this.stretch,
                  this.mend];
    this.build(data);
    new IntersectionObserver(([seen]) => { root.dataset.near = seen.isIntersecting ? 'yes' : '' }).observe(root);
  }

  // Whatever the server tells: a new scenario for the last link.
  show(data) {
    this.data = data;
    this.truth = data.true_counts.map(count => count / data.n);
    for (const [name, colour] of Object.entries(data.colours)) this.root.style.setProperty(`--rr-${name}`, colour);
    if (!this.body.hasChildNodes()) this.go(this.step, false);
    this.onward.href = `noisy_histogram?${new URLSearchParams(data.query)}`;
  }

  get now() { return this.data.steps[this.place] }
  get reports() { return this.now.counts.map(count => count / this.data.n) }

  build(data) {
    this.dots = make('span', 'rr-dots', '', ...this.steps.map(() => make('i')));
    this.dots.setAttribute('aria-hidden', 'true');
    this.count = make('span');
    this.skip = button('rr-skip', 'Skip', () => {
      const after = document.querySelector('.st-key-path');
      after?.scrollIntoView({behavior: still() ? 'auto' : 'smooth'});
    });
    this.title = make('h2', 'rr-title');
    this.title.tabIndex = -1;
    this.words = make('p', 'rr-words');
    this.result = make('p', 'rr-result');
    this.result.setAttribute('aria-live', 'polite');
    this.body = make('div', 'rr-body');
    this.back = button('', 'Back', () => this.go(this.step - 1));
    this.next = button('rr-primary', 'Next', () => this.go(this.step + 1));
    this.again = button('', 'Again', () => { this.answer = this.guess = null; this.go(0) });
    this.onward = make('a', 'rr-button rr-primary', 'See the noise on a whole histogram →');
    this.onward.addEventListener('click', event => this.leave(event));
    this.root.replaceChildren(
      make('div', 'rr-where', '', this.count, this.dots, this.skip),
      make('div', 'rr-text', '', this.title, this.words, this.result),
      this.body,
      this.privacy(data),
      make('div', 'rr-buttons', '', this.back, this.again, this.next, this.onward),
    );
  }

  // The page's own link to the lab goes there without loading the app anew.
  leave(event) {
    const own = document.querySelector('[data-testid="stMain"] [data-testid="stPageLink"] a[href*="noisy_histogram"]');
    if (!own || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    own.click();
  }

  privacy(data) {
    const name = 'Privacy ε, in this story only';
    this.epsilon = slider(name, 0, data.steps.length - 1, this.place);
    this.value = make('output');
    this.epsilon.addEventListener('input', () => {
      this.place = this.epsilon.valueAsNumber;
      this.settle();
    });
    const head = make('div', 'rr-head', '', make('span', '', name), this.value);
    this.dial = make('div', 'rr-privacy', '', head, this.epsilon, privacy_ends());
    return this.dial;
  }

  go(step, focus = true) {
    cancelAnimationFrame(this.frame);
    this.step = step;
    const last = this.steps.length - 1;
    this.count.textContent = `Step ${step + 1} of ${last + 1}`;
    [...this.dots.children].forEach((dot, i) => dot.classList.toggle('rr-on', i <= step));
    this.back.hidden = this.dial.hidden = step === 0;   // nothing depends on ε yet
    this.next.hidden = step === last;
    this.again.hidden = this.onward.hidden = step !== last;
    this.next.disabled = false;
    this.result.textContent = '';
    this.root.dataset.step = step + 1;
    this.refresh = () => {};
    this.body.replaceChildren();
    this.steps[step].call(this);
    this.settle();
    if (focus) this.title.focus({preventScroll: true});
    if (focus && this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView();
  }

  // Draw the step at the current ε.
  settle() {
    const epsilon = String(this.now.epsilon);
    this.value.textContent = `ε = ${epsilon}`;
    this.epsilon.setAttribute('aria-valuetext', epsilon);
    const {step, place, answer, guess, repair} = this;
    kept({step, place, answer, guess, repair});
    this.refresh();
  }

  say(title, words) {
    this.title.textContent = title;
    this.words.textContent = words;
  }

  // 1: the question

  ask() {
    this.say('Would you say it aloud?', 'Pick an answer, true or invented. Nothing that you do in this story leaves your '
      + 'browser.');
    const field = make('fieldset', 'rr-question', '', make('legend', '', this.data.question));
    this.data.answers.forEach((answer, i) => {
      const radio = make('input');
      Object.assign(radio, {type: 'radio', name: 'rr-answer', value: i, checked: i === this.answer});
      radio.addEventListener('change', () => { this.answer = i; this.next.disabled = false });
      field.append(make('label', '', '', radio, make('span', '', answer)));
    });
    this.body.append(field);
    this.next.disabled = this.answer === null;
  }

  // 2: the coin

  toss() {
    const coin = make('div', 'rr-coin'), {strip, keys, show} = spinner();
    const face = make('p', 'rr-face'), report = make('p', 'rr-report');
    const again = button('', 'Toss again', () => throw_it());
    coin.setAttribute('aria-hidden', 'true');
    const outcome = make('div', 'rr-outcome', '', face, report, again);
    this.body.append(make('div', 'rr-air', '', coin), strip, keys, outcome);
    const {answers} = this.data, mine = this.answer ?? 0;
    // The part of the strip for any answer has one equal piece for each, the visitor's own first.
    const pieces = [mine, ...answers.keys()].filter((answer, i) => i === 0 || answer !== mine);
    let landed = 0, timer = 0, known = false;
    this.refresh = () => {
      const {keep, p} = this.now, tells = landed < keep;
      const said = tells ? mine : pieces[Math.floor(answers.length * (landed - keep) / (1 - keep))];
      const [told, accident, both] = show([keep, p - keep, 1 - p]);
      this.say('Let a coin decide', `A fair coin says “the truth” every second time (dotted line). ε bends it: here it says so with chance ${told}, `
        + 'and else any of the five answers, drawn at random. Only the report is handed in.');
      const how = tells ? 'the truth.' : said === mine ? 'any answer. By accident the truth.' : 'any answer.';
      face.textContent = known ? `The coin says: ${how}` : 'The coin falls …';
      report.textContent = known ? `Your report: ${answers[said]}` : '';
      const together = [told, '+', accident, '=', both].join('\u00a0');
      const doubt = p < 0.9 ? 'A report is no proof: it' : 'This ε hardly protects: a report';
      this.result.textContent = `${doubt} is true with chance ${together}.`;
    };
    const throw_it = () => {
      clearTimeout(timer);
      landed = Math.random();
      known = still();
      coin.style.left = `${100 * landed}%`;
      coin.classList.remove('rr-falls');
      void coin.offsetWidth;   // so that the fall begins anew
      coin.classList.add('rr-falls');
      if (!known) timer = setTimeout(() => { known = true; if (coin.isConnected) this.refresh() }, FALL);
      this.refresh();
    };
    throw_it();
  }

  // 3 to 5 show rows of bars: an answer, its bars, and a number; in 5 each bar has its own.

  rows(...kinds) {
    const rows = bar_rows(this.data.answers, kinds);
    this.chart = make('div', 'rr-rows', '', ...rows.map(({row}) => row));
    this.body.append(this.chart);
    return rows;
  }

  legend(entries, numbers = '') {
    const {list, words} = legend_of(entries, numbers);
    this.body.append(list);
    return words;
  }

  arrive() {
    const {n, answers} = this.data;
    this.say(`${n.toLocaleString('en-US')} people do the same`, 'Each tosses a coin in private and hands in one report. The true '
      + 'answers stay hidden. Which one is really the most frequent?');
    this.legend([['observed', 'Reports']], 'Share of all reports');
    const rows = this.rows('observed');
    const draw = part => rows.forEach(({bars, number}, i) => {
      bars[0].style.width = `${100 * 100 / WIDEST * part(i) * this.reports[i]}%`;
      number.textContent = percent(part(i) * this.reports[i]);
    });
    const all = () => draw(() => 1);
    if (still()) {
      this.refresh = all;
      return;
    }
    // Each falling dot stands for some reports of an answer, in an order drawn at random.
    const of = answers.flatMap((_, i) => Array(Math.round(DOTS * this.reports[i])).fill(i));
    const dots = of.map(answer => ({answer, at: Math.random() * (ARRIVAL - DROP), aside: Math.random()}));
    const most = answers.map((_, i) => of.filter(answer => answer === i).length || 1);
    const sky = make('canvas', 'rr-sky');
    this.chart.append(sky);
    this.chart.classList.add('rr-moving');
    const begun = performance.now(), ink = this.data.colours.observed, here = this.place;
    const end = () => {
      cancelAnimationFrame(this.frame);
      sky.remove();
      this.chart.classList.remove('rr-moving');
      this.refresh = all;
      all();
    };
    const frame = time => {
      const elapsed = time - begun;
      if (elapsed > ARRIVAL || !sky.isConnected) return end();
      const landed = answers.map((_, i) => dots.filter(dot => dot.answer === i && dot.at + DROP <= elapsed).length);
      draw(i => landed[i] / most[i]);
      const box = this.chart.getBoundingClientRect(), scale = devicePixelRatio || 1;
      sky.width = box.width * scale;
      sky.height = box.height * scale;
      const brush = sky.getContext('2d');
      brush.scale(scale, scale);
      brush.fillStyle = ink;
      const targets = rows.map(({bars, track}) => [bars[0].getBoundingClientRect(), track.getBoundingClientRect()]);
      for (const dot of dots) {
        const fallen = (elapsed - dot.at) / DROP;
        if (fallen <= 0 || fallen >= 1) continue;
        const [bar, track] = targets[dot.answer];
        brush.beginPath();
        brush.arc(bar.right - box.left + 6 + 40 * dot.aside * (1 - fallen),
                  fallen * fallen * (track.top + track.height / 2 - box.top), 4, 0, 7);
        brush.fill();
      }
      this.frame = requestAnimationFrame(frame);
    };
    this.refresh = () => { if (this.place !== here) end() };
    draw(() => 0);
    this.frame = requestAnimationFrame(frame);
  }

  // 4: the guess

  ask_for_a_guess() {
    this.say('Guess the truth', 'The blue bars mix truth and chance. Which share of the people does each answer really have? '
      + 'Drag the rings; the other bars give way, so that all five make 100%.');
    this.legend([['observed', 'Reports'], ['guess', 'Your guess']], 'Your guess');
    const rows = this.rows('observed', 'guess');
    this.refresh = drawable(rows, this.data.answers, 'Your guess', () => this.reports,
                            () => this.guess ?? apportion(this.reports, 100), guess => { this.guess = guess });
  }

  // 5: the truth

  reveal() {
    this.say('Now the truth', '“Off by” counts, of 100 people, those in a wrong bar. The estimate, called MLE*, makes these '
      + 'reports likeliest.');
    const series = [
      ['truth', 'Truth', () => this.truth],
      ...(this.guess ? [['guess', 'Your guess', () => this.guess.map(share => share / 100)]] : []),
      ['observed', 'Reports', () => this.reports],
      ['mle_star', 'Estimate', () => this.now.mle_star],
    ];
    const kinds = series.map(([kind]) => kind), names = series.map(([, name]) => name);
    const legend = this.legend(series);
    const rows = this.rows(...kinds).map(({bars, number, track}) => {
      number.remove();
      const numbers = bars.map(() => make('span', 'rr-number'));
      const lines = bars.map((bar, j) => make('div', 'rr-one', '', bar, numbers[j]));
      lines.forEach(line => line.setAttribute('role', 'img'));
      track.replaceChildren(...lines);
      return {bars, numbers, lines};
    });
    this.refresh = () => {
      const all = series.map(([, , shares]) => shares());
      const widest = Math.max(WIDEST / 100, ...all.flat());
      rows.forEach(({bars, numbers, lines}, i) => all.forEach((shares, j) => {
        bars[j].style.setProperty('--rr-share', shares[i] / widest);
        numbers[j].textContent = percent(shares[i]);
        lines[j].setAttribute('aria-label', `${names[j]}: ${percent(shares[i])}`);
      }));
      const off = all.slice(1).map(shares => distance(shares, this.truth));
      off.forEach((number, j) => { legend[j + 1].textContent = `${names[j + 1]}: off by ${number}%` });
      const whose = {guess: 'your guess', observed: 'the reports', mle_star: 'the estimate'};
      this.result.textContent = verdict(off.map((number, j) => [whose[kinds[j + 1]], number]));
    };
  }

  // 6 to 8: how the truth comes back. One bar an answer, which a slider moves from one picture to the next; it may lie below
  // zero. `at` gives the shares when the slider is at a part of 1; `crowd`, where it is drawn, what is left of the crowd then.

  moved(name, kind, at, crowd = null) {
    const legend = this.legend([[kind(), ''], ['mark', 'Truth'], ...(crowd ? [['crowd', 'The crowd']] : [])]);
    const rows = this.rows('moved').map(row => {
      const part = kind => row.track.appendChild(make('i', `rr-line rr-${kind}`));
      return {...row, zero: part('zero'), truth: part('mark'), crowd: crowd && part('crowd')};
    });
    const range = slider(name, 0, 100, 0, 'rr-gesture');
    this.body.append(make('label', 'rr-hand', '', make('span', '', name), range));
    this.draw = () => {
      const ends = [...this.now.inv, ...this.reports, ...this.truth, WIDEST / 100];
      const low = Math.min(0, ...ends), span = Math.max(...ends) - low, place = share => `${100 * (share - low) / span}%`;
      const part = range.valueAsNumber / 100, shown = at(part);
      legend[0].parentNode.firstChild.className = `rr-bar rr-${kind()}`;
      legend[0].textContent = {observed: 'Reports', inv: 'Inv', ...REPAIRS}[kind()];
      rows.forEach(({bars: [bar], number, zero, truth, crowd: line}, i) => {
        bar.className = `rr-bar rr-moved rr-${kind()} ${shown[i] < 0 ? 'rr-below' : ''}`;
        bar.style.setProperty('--rr-ink', `var(--rr-${kind()})`);
        bar.style.left = place(Math.min(0, shown[i]));
        bar.style.width = `${100 * Math.abs(shown[i]) / span}%`;
        zero.style.left = place(0);
        truth.style.left = place(this.truth[i]);
        if (line) line.style.left = place(crowd(part));
        number.textContent = signed(shown[i]);
      });
    };
    range.addEventListener('input', () => { cancelAnimationFrame(this.frame); this.draw() });
    this.refresh = this.draw;
    this.play = () => {
      cancelAnimationFrame(this.frame);
      const begun = performance.now();
      const frame = time => {
        const part = still() ? 1 : Math.min(1, Math.max(0, (time - begun) / MOVE));
        range.value = 100 * part * part * (3 - 2 * part);
        this.draw();
        if (part < 1 && range.isConnected) this.frame = requestAnimationFrame(frame);
      };
      frame(begun);
    };
    this.play();
  }

  get crowd() { return this.now.p - this.now.keep }
  get below() { return this.now.inv.filter(share => share < 0).length }
  less(part) { return this.reports.map(share => share - part * this.crowd) }
  // From what is left, at 0, to Inv, at 1.
  stretched(part) { return this.less(1).map((share, i) => share + part * (this.now.inv[i] - share)) }

  // 6
  take_away() {
    this.moved('Take the crowd away', () => 'observed', part => this.less(part), part => (1 - part) * this.crowd);
    this.refresh = () => {
      this.draw();
      const {counts} = this.now, least = counts.indexOf(Math.min(...counts)), chance = this.crowd * this.data.n;
      const crowd = Math.round(chance) === counts[least] ? chance.toFixed(1) : Math.round(chance);
      this.say('How does the truth come back?', `Chance alone would bring every answer the same crowd: ${signed(this.crowd)} of all `
        + `reports, ${crowd}. Take it away from each bar.`);
      this.result.textContent = this.below ? `“${this.data.answers[least]}” got only ${counts[least]}, so less than nothing is left.`
        : 'Here every answer got at least as many.';
    };
  }

  // 7
  stretch() {
    this.moved('Stretch', () => 'inv', part => this.stretched(part));
    this.refresh = () => {
      this.draw();
      const times = (1 / this.now.keep).toPrecision(3);
      this.say('Stretch it to 100%', `What is left adds up to ${signed(this.now.keep)}, the chance that a coin says “the truth”. It stands for `
        + `everybody: stretch it ${times} times. This estimate is called Inv. Over many surveys it is right on average.`);
      this.result.textContent = this.below ? `${BELOW[this.below]} below zero. No share of people can be: it has to be mended.`
        : 'No bar is below zero, and nothing has to be mended. Move ε to the left.';
    };
  }

  // 8
  mend() {
    const buttons = Object.entries(REPAIRS).map(([name, label]) =>
      [name, button('', label, () => { this.repair = name; this.settle(); this.play() })]);
    this.body.append(make('div', 'rr-choice', '', ...buttons.map(([, node]) => node)));
    this.moved('Mend', () => this.repair, part => this.mended(part));
    this.refresh = () => {
      this.draw();
      buttons.forEach(([name, node]) => node.setAttribute('aria-pressed', name === this.repair));
      const {counts, mle_star} = this.now, {answers} = this.data;
      const struck = counts.flatMap((count, i) => mle_star[i] ? [] : [`“${answers[i]}” (${count})`]);
      const rest = sum(counts.filter((_, i) => mle_star[i])), odds = this.now.p / this.crowd, parts = odds + counts.length - struck.length - 1;
      const chance = Math.round(rest / parts);
      const how = {
        inv_n: 'InvN cuts off what is below zero, and scales the rest down to 100%: the tallest bar loses most.',
        inv_p: `InvP lowers every bar that stays by the same ${(100 * this.lowered).toFixed(1)} percentage points, until they add up to 100%: small bars come to zero first.`,
        mle_star: `MLE* strikes out ${struck.join(', ')}: fewer than the ${chance} that chance brings each of ${counts.length - struck.length} `
          + `answers in a survey of the other ${rest.toLocaleString('en-US')}. Its Inv: take ${chance} away, stretch ${(parts / (odds - 1)).toPrecision(3)} times.`,
      };
      const below = Math.min(...this.now.inv) < 0;
      this.say('Three repairs', below ? how[this.repair] : 'No bar is below zero: all three repairs leave Inv as it is.');
      const off = Object.entries(REPAIRS).map(([name, label], i) => `${label} ${i ? '' : 'is off by '}${distance(this.now[name], this.truth)}%`);
      const usual = Object.keys(REPAIRS).map(name => (100 * this.data.usual[this.place][name]).toFixed(1));
      const least = Math.min(...usual), apart = Math.max(...usual) - least >= 1;
      const choice = apart ? `${Object.values(REPAIRS).filter((_, i) => Number(usual[i]) === least).join(' and ')} wins`
        : below ? 'no winner here' : 'nothing to choose';
      this.result.textContent = `In this survey ${off.join(', ')}; on average over 1,000 surveys ${usual.map(one => `${one}%`).join(', ')}: ${choice}.`;
    };
    this.refresh();
  }

  // By how much InvP lowers each bar that it keeps.
  get lowered() {
    const {inv, inv_p} = this.now;
    return Math.max(...inv.map((share, i) => inv_p[i] > 0 ? share - inv_p[i] : 0));
  }

  // From Inv, at 0, to the repair, at 1.
  mended(part) {
    const {inv} = this.now, to = this.now[this.repair];
    const cut = Math.min(1, 2 * part), scaled = Math.max(0, 2 * part - 1);   // InvN first cuts, then scales
    return inv.map((share, i) => {
      if (this.repair === 'inv_n') return share < 0 ? share * (1 - cut) : share + scaled * (to[i] - share);
      if (this.repair === 'inv_p') return share < 0 ? share * (1 - part) : Math.max(0, share - part * this.lowered);
      return share + part * (to[i] - share);
    });
  }
}
