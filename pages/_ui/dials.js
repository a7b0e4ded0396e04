// Dials that answer while the hand moves. At most one run of the page is under way: what was set meanwhile is remembered,
// the newest value alone, and sent when the server has answered. So a busy server makes the dial slower, and never lets
// moves pile up.
const GIVE_UP = 8000;  // milliseconds until an answer counts as lost

const text = (dial, value) => dial.whole ? value.toLocaleString('en-US') : String(Number(value.toPrecision(6)));

// Where a key is a letter that is typed.
const TYPING = 'input:not([type="range"], [type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"]';

// The figure may fill the window, with the dials at its foot.
const isFull = () => document.body.classList.contains('rr-fills');
const words = wanted => isFull() ? 'Back to the page' : wanted;
const FILL = 'M3 8V3h5 M12 3h5v5 M17 12v5h-5 M8 17H3v-5', CLOSE = 'M4 4l12 12 M16 4L4 16';
const sign = path => `<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="2"
  aria-hidden="true"><path d="${path}"/></svg>`;
const fill = full => {
  const app = document.querySelector('[data-testid="stApp"]');
  document.body.style.setProperty('--rr-page', getComputedStyle(app).backgroundColor);
  document.body.classList.toggle('rr-fills', full);
  for (const root of document.querySelectorAll('.rr-dials')) root.dials?.name();
  if (full) document.querySelector('.st-key-foot .rr-range')?.focus();
  else regain('[data-testid="stSidebar"] .rr-full');
};

// Whoever goes by keyboard finds the focus again where the page has taken its place away.
const isLost = () => window.rrByKey && (document.activeElement === document.body || !document.activeElement.checkVisibility());
const regain = selector => setTimeout(() => { if (isLost()) document.querySelector(selector)?.focus() }, 100);
if (!window.rrLeave) {
  window.rrLeave = true;
  // Streamlit frames the page where a key is pressed after a click in it: not for a key of ours.
  const unframe = () => { if (document.activeElement.matches('[data-testid="stMain"]')) document.activeElement.blur() };
  addEventListener('keydown', event => {
    if (event.key === 'Escape' && isFull()) { unframe(); return fill(false) }
    const lead = window.rrLead, opened = document.querySelector('[data-testid="stPopoverBody"]');
    const wanted = event.key === 'p' || (event.key === 'Escape' && lead?.presenting && !opened);
    if (!wanted || event.ctrlKey || event.altKey || event.metaKey || event.key === 'p' && event.target.closest(TYPING)) return;
    unframe();
    lead?.present();
  });
  addEventListener('keydown', () => { window.rrByKey = true }, true);
  addEventListener('pointerdown', () => { window.rrByKey = false }, true);
  // A button that takes itself away, or turns grey, takes the focus with it.
  addEventListener('click', event => {
    const button = event.target.closest?.('[data-testid="stMain"] [data-testid="stButton"] button');
    window.rrPressed = button && {button, row: button.closest('.stHorizontalBlock')};
  }, true);
  addEventListener('focusin', event => { if (event.target !== window.rrPressed?.button) window.rrPressed = null });
  // The button of a file is off while the file is made, which takes the focus from it.
  addEventListener('click', event => {
    const button = event.target.closest?.('[data-testid="stDownloadButton"] button');
    if (button) new MutationObserver((_, seen) => {
      if (button.disabled) return;
      seen.disconnect();
      if (document.activeElement === document.body) button.focus();
    }).observe(button, {attributeFilter: ['disabled']});
  });
}

// Whoever opens a tab that brings a film wants to see it, and it may stand below the window.
if (!window.rrTabs) {
  window.rrTabs = true;
  const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
  addEventListener('pointerdown', event => {  // a tab opens before the click, which then falls upon what has come
    const tab = event.target.closest?.('[role="tab"]'), end = performance.now() + GIVE_UP;
    const look = () => {
      const film = document.getElementById(tab.getAttribute('aria-controls'))
        ?.querySelector('.js-plotly-plot:has(.updatemenu-button)');
      if (performance.now() > end) return;
      if (!film || tab.ariaSelected !== 'true') return setTimeout(look, 100);
      film.style.scrollMarginTop = '7rem';  // the tabs stay in view
      film.scrollIntoView({behavior: still() ? 'auto' : 'smooth'});
    };
    if (tab && tab.ariaSelected !== 'true') setTimeout(look, 100);
  }, true);
}

// On a phone the sidebar lies over the page: whoever chooses a page there wants to see it.
if (!window.rrDrawer) {
  window.rrDrawer = true;
  addEventListener('click', event => {
    if (innerWidth > 640 || !event.target.closest?.('[data-testid="stSidebar"] [data-testid="stPageLink"]')) return;
    setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
  });
}

// Watches the page. A page that comes at once, without an empty one before it, would be where the last one was scrolled to.
class Lead {
  constructor() {
    new MutationObserver(() => this.look()).observe(document.body, {childList: true, subtree: true});
    this.look();
  }

  look() {
    this.showTop();
    this.showTab();
    clearTimeout(this.passing);
    this.passing = setTimeout(() => this.passFocus(), 100);
  }

  // Then the first button that is left in its row has it, else the first one of the page.
  passFocus() {
    const {button, row} = window.rrPressed ?? {};
    if (!button || !isLost() || (button.isConnected && button.checkVisibility() && !button.disabled)) return;
    const place = row?.isConnected ? row : document.querySelector('[data-testid="stMain"]');
    place.querySelector('button:enabled, a[href]')?.focus();
  }

  // So does a new answer, which was asked for further down.
  showTop() {
    const answer = document.querySelector('[class*="st-key-answer_"]')?.className.match(/st-key-answer_\S+/)[0];
    const come = answer && answer !== this.answer;
    if (location.pathname === this.path && !come) return;
    if (this.path) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    if (location.pathname !== this.path && isFull()) fill(false);  // by the browser's Back, to a page without a figure
    this.path = location.pathname;
    this.answer = answer || this.answer;
    if (!come) return;
    document.querySelector(`.${answer}`).tabIndex = -1;
    regain(`.${answer}`);  // the button that asked for it is gone
  }

  // A link may open a tab that lies beyond the edge of a narrow screen.
  showTab() {
    if (this.tab?.isConnected) return;
    this.tab = document.querySelector('[data-testid="stMain"] [role="tab"][aria-selected="true"]');
    const list = this.tab?.closest('[role="tablist"]');
    if (!list) return;
    const tab = this.tab.getBoundingClientRect(), seen = list.getBoundingClientRect();
    if (tab.right > seen.right || tab.left < seen.left) list.scrollLeft += tab.left - seen.left - 24;
  }

  fill() { fill(!isFull()) }

  // Present the page, or stop presenting it.
  present() { this.send?.('presents', {on: !this.presenting}) }
}

function button(name, act) {
  const node = document.createElement('button');
  Object.assign(node, {className: `rr-full ${name}`.trim(), type: 'button'});
  node.addEventListener('click', act);
  return node;
}

class Dials {
  constructor(root) {
    this.root = root;
    this.rows = new Map();
    this.sent = 0;
    this.waiting = null;   // timer of the answer that is awaited
    this.wanted = null;    // the newest move that has not been sent
    this.hand = null;      // the dial that is being moved
    this.button = button('', () => fill(!isFull()));
    this.present = button('', () => window.rrLead.present());
    this.present.textContent = 'Present';
    this.present.title = 'One figure and one sentence, in large letters, for the front of a room. Key p.';
    this.another = button('rr-another', () => this.send('draws', {at: Date.now()}));   // at the foot alone
    this.another.textContent = 'New draw';
    this.buttons = document.createElement('div');
    this.buttons.className = 'rr-pair';
    this.buttons.append(this.button, this.present, this.another);
  }

  show(data, send) {
    this.send = send;
    const names = data.dials.map(dial => dial.name).join(), presentable = names && data.figure;
    if (names !== this.names || presentable !== this.presentable) {
      Object.assign(this, {names, presentable});
      this.rows.clear();
      this.root.replaceChildren(...data.dials.map(dial => this.row(dial)), ...(presentable ? [this.buttons] : []));
    }
    this.compact = data.compact;
    window.rrLead ??= new Lead();
    if (this.compact && data.presenting) regain('.st-key-foot .rr-dial:not(.rr-off) .rr-range, .st-key-present button');
    if (!this.compact && window.rrLead.presenting) regain('[data-testid="stSidebar"] .rr-full + .rr-full');
    if (!this.compact || data.presenting) Object.assign(window.rrLead, {send: presentable ? send : null, presenting: data.presenting});
    this.another.disabled = Boolean(data.still);
    this.another.title = data.still;
    this.name();
    const answered = this.waiting && data.answered >= this.sent;
    this.sent = Math.max(this.sent, data.answered);
    for (const dial of data.dials) this.update(dial);
    if (answered) this.free();
  }

  name() {
    this.button.innerHTML = this.compact ? sign(isFull() ? CLOSE : FILL) : words('Full window');
    this.button.title = words('Figure in full window');
    this.button.setAttribute('aria-label', this.button.title);
  }

  free() {
    clearTimeout(this.waiting);
    this.waiting = null;
    this.next();
  }

  next() {
    if (this.waiting || !this.wanted) return;
    const move = {...this.wanted, number: ++this.sent};
    this.wanted = null;
    this.waiting = setTimeout(() => this.free(), GIVE_UP);
    this.send('moved', move);
  }

  row(dial) {
    const row = document.createElement('div');
    row.className = 'rr-dial';
    row.innerHTML = `<div class="rr-head"><label></label><input class="rr-box" type="text" role="spinbutton"
      inputmode="decimal" autocomplete="off" spellcheck="false"></div><input class="rr-range" type="range" min="0" step="any">
      <div class="rr-ends" aria-hidden="true"><span></span><span></span></div><div class="rr-why"></div>
      <div class="rr-error" role="alert"></div>`;
    const part = name => row.querySelector(name);
    const of = {dial, row, label: part('label'), box: part('.rr-box'), range: part('.rr-range'), error: part('.rr-error'),
                why: part('.rr-why'), ends: part('.rr-ends')};
    of.range.id = `rr-${dial.name}-${Math.random().toString(36).slice(2)}`;
    of.label.htmlFor = of.range.id;
    of.label.textContent = dial.label;
    of.range.max = dial.stops.length - 1;
    of.range.setAttribute('aria-label', dial.label);
    of.box.setAttribute('aria-label', dial.exact);
    [...of.ends.children].forEach((end, i) => { end.textContent = dial.ends[i] });
    of.range.addEventListener('input', () => this.move(of, of.dial.stops[Math.round(of.range.valueAsNumber)]));
    for (const end of ['change', 'pointerup', 'pointercancel', 'blur']) of.range.addEventListener(end, () => this.release(of));
    of.range.addEventListener('keydown', event => this.key(of, event));
    of.range.addEventListener('keyup', () => this.release(of));
    of.box.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.commit(of);
      if (event.key === 'Escape') { of.typing = false; this.display(of, of.value) }
      if (!/^(Arrow|Page)(Up|Down)$/.test(event.key)) return;  // the other arrows are for what is typed
      of.typing ? this.commit(of) : this.key(of, event);
    });
    of.box.addEventListener('keyup', () => this.release(of));
    of.box.addEventListener('input', () => { of.typing = true });
    of.box.addEventListener('blur', () => { this.release(of); this.commit(of) });
    this.rows.set(dial.name, of);
    return row;
  }

  update(dial) {
    const of = this.rows.get(dial.name);
    of.dial = dial;
    of.error.textContent = dial.error;
    of.range.disabled = of.box.disabled = Boolean(dial.off);  // why the dial does nothing here; empty where it does
    of.row.classList.toggle('rr-off', Boolean(dial.off));
    of.why.textContent = dial.off;
    of.label.title = dial.off || dial.help;
    of.range.setAttribute('aria-description', of.label.title);
    of.ends.hidden = Boolean(dial.off) || !dial.ends.join('');
    // What the hand has set since is newer than what the server knows.
    if (this.hand !== of && this.wanted?.name !== dial.name) this.display(of, dial.value);
  }

  display(of, value) {
    of.value = value;
    of.range.value = place(of.dial.stops, value);
    const words = text(of.dial, value);
    of.range.setAttribute('aria-valuetext', words);
    of.box.setAttribute('aria-valuenow', value);
    if (!of.typing) of.box.value = words;
  }

  move(of, value) {
    if (value === of.value && this.hand === of) return;
    this.hand = of;
    of.typing = false;
    this.display(of, value);
    this.wanted = {name: of.dial.name, text: String(value), moving: true};
    this.next();
  }

  release(of) {
    if (this.hand !== of) return;
    this.hand = null;
    this.wanted = {name: of.dial.name, text: String(of.value), moving: false};
    this.next();
  }

  commit(of) {
    if (!of.typing) return;
    of.typing = false;
    this.wanted = {name: of.dial.name, text: of.box.value, moving: false};
    this.next();
  }

  key(of, event) {
    const stops = of.dial.stops, last = stops.length - 1;
    const above = stops.findIndex(stop => stop > of.value * (1 + 1e-9));
    const up = above < 0 ? last : above;
    const below = stops.findLastIndex(stop => stop < of.value * (1 - 1e-9));
    const down = Math.max(below, 0);
    const to = {ArrowRight: up, ArrowUp: up, ArrowLeft: down, ArrowDown: down, PageUp: Math.min(up + 4, last),
                PageDown: Math.max(down - 4, 0), Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.move(of, stops[to]);
  }
}

// The position of a value among the stops, between two of them where it is none.
function place(stops, value) {
  const last = stops.length - 1, above = stops.findIndex(stop => stop >= value);
  if (above < 0) return last;
  if (above === 0 || stops[above] === value) return above;
  return above - (stops[above] - value) / (stops[above] - stops[above - 1]);
}

export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.rr-dials');
  root.dials ??= new Dials(root);
  root.dials.show(data, setTriggerValue);
}
