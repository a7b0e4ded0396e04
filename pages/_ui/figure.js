// The main figure of a page: one Plotly figure, which is kept and updated. So there is a picture at every moment, and
// what a person has zoomed into or hidden stays so while the dials move.

// Streamlit's own charts bring a Plotly: where one of the same major version is there first, no other is loaded, which
// would keep the picture waiting for as long again.
const major = version => version?.split('.')[0];
const plotly = (address, version) => window.rrPlotly ??= major(window.Plotly?.version) === major(version) ?
  Promise.resolve(window.Plotly) :
  new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = address;
    script.onload = () => done(window.Plotly);
    script.onerror = () => { window.rrPlotly = null; failed(new Error('Plotly could not be loaded')) };
    document.head.append(script);
  });

// Names that the legend hides, by page.
const hiddenOn = window.rrHidden ??= {};

// The same object each time: with another configuration Plotly would begin anew.
const FULL = {
  name: 'Fullscreen', title: 'Fullscreen', click: () => window.rrLead?.fill(),
  icon: {width: 20, height: 20, path: 'M0 0h7v2H2v5H0z M13 0h7v7h-2V2h-5z M20 13v7h-7v-2h5v-5z M7 20H0v-7h2v5h5z'},
};

// Streamlit's look of charts, whose axis titles on white are too pale to read: at least 4.5 : 1 by WCAG 2.
function look(root) {
  const style = getComputedStyle(root), of = name => style.getPropertyValue(`--st-${name}`).trim();
  const dark = style.colorScheme === 'dark', page = of('background-color');
  const color = dark ? '#e6eaf1' : '#5C6070', line = dark ? '#31333F' : '#e6eaf1';
  const axis = {color, tickcolor: line, zerolinecolor: line, gridcolor: line, automargin: true};
  return {layout: {
    font: {color, family: of('font'), size: 12, weight: 400}, paper_bgcolor: page, plot_bgcolor: page,
    legend: {font: {color: dark ? '#fafafa' : '#262730'}, title: {font: {color}, side: 'top'}, valign: 'top', borderwidth: 0},
    xaxis: {...axis, showgrid: false, zeroline: false, title: {standoff: 20}},
    yaxis: {...axis, title: {standoff: 24}, ticklabeloverflow: 'allow'}, margin: {pad: 8, r: 0, l: 0},
    hoverlabel: {bgcolor: page, bordercolor: of('border-color'), font: {color}},
    coloraxis: {colorbar: {thickness: 16, xpad: 24, outlinewidth: 8, outlinecolor: 'transparent', len: 0.75, y: 0.5745}},
  }};
}

// On a phone long names of categories would stand upright: short ones lie aslant, as many as there is room for. Whole
// ones are under the finger.
const NARROW = 480, APART = 19, LETTERS = 9;
function aslant(axis, width) {
  const letters = (axis.ticktext ?? []).map(name => name.match(/&\w+;|./gu) ?? []);
  if (width > NARROW || letters.every(name => name.length < 4)) return axis;
  const step = Math.ceil(APART * letters.length / width);
  const short = name => name.length > LETTERS + 1 ? `${name.slice(0, LETTERS).join('').trimEnd()}…` : name.join('');
  return {...axis, tickangle: -45, ticktext: letters.map((name, i) => i % step ? '' : short(name))};
}

// Who has zoomed keeps the picture while the dials move; but an axis whose range is given in one picture and left to
// Plotly in the next would keep the given one.
const revised = axis => ({...axis, uirevision: axis.range ? 'given' : 'free'});

class Figure {
  constructor(root) {
    this.root = root;
    this.holder = root.closest('.stBidiComponent');
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(root);
  }

  async show(data, send) {
    this.send = send;
    const text = new TextDecoder().decode(data);
    if (text !== this.text) {
      this.text = text;
      this.given = JSON.parse(text);
      this.fresh = true;
      this.drawn = '';
      this.root.setAttribute('role', 'figure');
      this.root.setAttribute('aria-label', this.given.alt);
      Object.assign(this.holder.style, {position: 'relative', minHeight: `${this.given.layout.height}px`});
    }
    this.plotly = await plotly(this.given.script, this.given.version);
    // While a hand moves a dial its next move goes out first, and the server works meanwhile.
    const moves = [...document.querySelectorAll('.rr-dials')].some(root => root.dials?.hand);
    moves ? setTimeout(() => this.draw()) : this.draw();
  }

  draw() {
    const {clientWidth: width, clientHeight: height} = this.root, template = look(this.root);
    const now = JSON.stringify([width, height, template]);
    if (!this.plotly || !width || !height || now === this.drawn) return;
    this.drawn = now;
    const {data, layout, frames, config} = JSON.parse(this.text);  // anew, for Plotly writes into what it is given
    const hidden = hiddenOn[location.pathname] ?? [];
    const figure = {
      data: data.map(trace => hidden.includes(trace.name) ? {...trace, visible: 'legendonly'} : trace),
      layout: {...layout, template, width, height, uirevision: 'kept',
               xaxis: revised(aslant(layout.xaxis, width - layout.margin.l - layout.margin.r)),
               yaxis: revised(layout.yaxis),
               shapes: layout.shapes?.filter(shape => !hidden.includes(shape.name))},
      frames, config: {...config, modeBarButtonsToAdd: [FULL]},
    };
    // A film that plays would go on with the frames that it has: another one begins anew.
    const kept = this.root.on && !(frames && this.fresh);
    this.fresh = false;
    this.plotly[kept ? 'react' : 'newPlot'](this.root, figure).then(() => this.legend());
    if (kept) return;
    this.root.on('plotly_restyle', ([change]) => {
      if (!('visible' in change)) return;
      hiddenOn[location.pathname] = this.root._fullData.filter(one => one.visible === 'legendonly').map(one => one.name);
      this.drawn = '';
      this.draw();
    });
    this.root.on('plotly_click', ({points: [{x, y}]}) => this.given.clickable && this.send('clicked', {x, y}));
  }

  // Plotly draws the names of its legend for the mouse alone: here each is a box that a key ticks.
  legend() {
    if (this.given.layout.legend?.itemclick === false) return;
    for (const item of this.root.querySelectorAll('.legend .traces')) {
      const {trace} = item.__data__[0], box = item.querySelector('.legendtoggle');
      const told = {tabindex: 0, role: 'checkbox', 'aria-label': item.textContent, 'aria-checked': trace.visible === true};
      for (const [attribute, value] of Object.entries(told)) box.setAttribute(attribute, value);
      box.onkeydown = event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();  // it is no key of a film
        const isOfIt = one => one.name === trace.name || trace.legendgroup && one.legendgroup === trace.legendgroup;
        const own = this.root._fullData.filter(isOfIt).map(one => one.index);
        this.plotly.restyle(this.root, {visible: trace.visible === true ? 'legendonly' : true}, own);
      };
    }
  }

  end() {
    this.sizes.disconnect();
    this.plotly?.purge(this.root);
  }
}

export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.rr-figure');
  root.figure ??= new Figure(root);
  root.figure.show(data, setTriggerValue);
  return () => root.figure.end();
}
