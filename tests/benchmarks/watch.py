"""What a browser's own clock is asked: when the figure first changed after a key, and whether the page rests."""

# The figure's lines as text, and the moment at which that text first differs after a key.
FIGURE_SEEN = """() => {
  const lines = () => [...document.querySelectorAll('.js-plotly-plot .scatterlayer path.js-line')]
    .map(path => path.getAttribute('d')).join();
  const look = () => { if (window.moved && !window.seen && lines() && lines() !== window.before)
    window.seen = performance.now() };
  new MutationObserver(look).observe(document.body,
    {subtree: true, childList: true, attributes: true, attributeFilter: ['d']});
  document.addEventListener('keydown', () => { window.moved = performance.now() }, true);
  window.arm = () => { window.before = lines(); window.moved = window.seen = 0 } }"""
AT_REST = """() => document.querySelector('.js-plotly-plot .main-svg')
  && document.querySelector('[data-testid="stApp"]').getAttribute('data-test-script-state') === 'notRunning'"""
