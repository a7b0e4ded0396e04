"""Films by keyboard and by name: what their buttons are called, and the keys that press them."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart
from rr_core.figures.film import BACK, CONTROLS, PAUSE, PLAY, START, STEP

# Listeners are set once per tab. An animation that is interrupted rejects a promise that Plotly leaves to nobody: no
# error, so it is not reported as one.
_SCRIPT = """<style>
/* At the top Plotly's toolbar would lie on a film's buttons. */
.js-plotly-plot:has(.updatemenu-button) .modebar-container {top: auto !important; bottom: 1.9rem;}
</style>
<script>
(() => {
  if (window.filmKeys) return;
  window.filmKeys = true;
  const names = %(names)s, keys = %(keys)s, chart = '.js-plotly-plot', button = '.updatemenu-button';
  const label = b => b.querySelector('.updatemenu-item-text')?.textContent;
  const prepare = () => document.querySelectorAll(chart + ' ' + button).forEach(b => {
    const name = names[label(b)], film = b.closest(chart);
    if (b.getAttribute('aria-label') !== name) {
      b.setAttribute('role', 'button');
      b.setAttribute('tabindex', '0');
      b.setAttribute('aria-label', name);
      const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
      title.textContent = name;
      b.prepend(title);
    }
    film.tabIndex = 0;
    film.setAttribute('aria-keyshortcuts', Object.keys(keys).map(key => key.replace(' ', 'Space')).join(' '));
    if (film.on && film.on !== film.heard) {  // another function in each new plot
      film.heard = film.on;
      film.dataset.playing = '';
      film.on('plotly_animated', () => { film.dataset.playing = '' });
    }
  });
  prepare();
  new MutationObserver(prepare).observe(document.body, {subtree: true, childList: true});
  window.addEventListener('unhandledrejection', e => { if (e.reason === undefined) e.preventDefault() });
  document.addEventListener('click', e => {
    const pressed = e.target.closest?.(chart + ' ' + button);
    if (pressed) pressed.closest(chart).dataset.playing = (names[label(pressed)] || '').startsWith('Play') ? 'yes' : '';
  }, true);
  document.addEventListener('keydown', e => {
    const film = e.target.closest?.(chart);
    if (!film?.querySelector(button) || e.ctrlKey || e.altKey || e.metaKey) return;
    const wanted = e.key === ' ' && film.dataset.playing ? %(pause)s : keys[e.key];
    const pressed = e.key === 'Enter' || (e.key === ' ' && e.target.closest(button))
      ? e.target.closest(button) : [...film.querySelectorAll(button)].find(b => label(b) === wanted);
    if (!pressed) return;
    pressed.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    e.preventDefault();
  });
})();
</script>"""
_KEYS = {"ArrowRight": STEP, "ArrowLeft": BACK, "Home": START, " ": PLAY}


def show(figure: go.Figure, name: str) -> None:
    """Draw a film that is not the main figure of its page, with its keys."""
    chart.show(figure, name)
    with st.container(key="film_keys"):
        st.caption("Keys: space plays and pauses, arrows step, Home starts.")
    listen_for_keys()


def listen_for_keys() -> None:
    """Make the films of a page operable by keyboard: arrows step, Home goes back to the start, the space bar plays and
    pauses; give their buttons names, and keep Plotly's toolbar off them."""
    script = _SCRIPT % {"names": json.dumps(CONTROLS), "keys": json.dumps(_KEYS), "pause": json.dumps(PAUSE)}
    st.html(script, unsafe_allow_javascript=True)
