"""The keyboard for a film: Plotly draws its buttons where only a mouse can reach them."""

from __future__ import annotations

import streamlit as st

# Listeners are set once per tab. A film that is interrupted rejects a promise that Plotly leaves to nobody: no
# error, so it is not reported as one.
_SCRIPT = """<script>
(() => {
  const chart = '.st-key-ibu [data-testid="stPlotlyChart"]';
  const reachable = () => document.querySelectorAll(chart + ':not([tabindex])').forEach(e => { e.tabIndex = 0 });
  reachable();
  if (window.filmKeys) return;
  window.filmKeys = true;
  let playing = false;
  new MutationObserver(reachable).observe(document.body, {subtree: true, childList: true});
  window.addEventListener('unhandledrejection', e => { if (e.reason === undefined) e.preventDefault() });
  document.addEventListener('keydown', e => {
    const film = e.target.closest && e.target.closest(chart);
    if (!film) return;
    const press = word => [...film.querySelectorAll('.updatemenu-button')]
      .filter(b => b.textContent.includes(word)).forEach(b => b.dispatchEvent(new MouseEvent('click')));
    if (e.key === 'ArrowRight') { press('Step'); playing = false }
    else if (e.key === 'ArrowLeft') { press('Back'); playing = false }
    else if (e.key === 'Home') { press('Start over'); playing = false }
    else if (e.key === ' ') { press(playing ? 'Pause' : 'Play'); playing = !playing }
    else return;
    e.preventDefault();
  });
})();
</script>"""


def listen() -> None:
    """Let a person reach the film with Tab: right and left step, the space bar plays and pauses."""
    st.html(_SCRIPT, unsafe_allow_javascript=True)
