"""Films by keyboard and by name: what their buttons are called, and the keys that press them. "Watch it come in": films
of the scenario's own reports, built only while they are shown."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, figure_controls, truth
from pages._ui.draw_results import DrawResults
from rr_core.arrivals import LARGEST_K, follow_estimates, follow_reports
from rr_core.comparison import Target, truth_of
from rr_core.figures.arrivals import arriving_estimates, arriving_reports
from rr_core.figures.film import ASIDE, BACK, CONTROLS, FAST, NORMAL, PAUSE, PLAY, SLOW, START, STEP

# Listeners are set once per tab. An animation that is interrupted rejects a promise that Plotly leaves to nobody: no
# error, so it is not reported as one. Plotly writes its own labels into the buttons with each frame; the observer has
# changed them before they are painted.
_SCRIPT = """<style>
/* At the top Plotly's toolbar would lie on a film's buttons. */
.js-plotly-plot:has(.updatemenu-button) .modebar-container {top: auto !important; bottom: 1.9rem;}
.js-plotly-plot:has(.updatemenu-button) .updatemenu-button[aria-pressed="true"] .updatemenu-item-rect {
  stroke: light-dark(#44546A, #B9C6D6) !important; stroke-width: 2.5px !important;
}
</style>
<script>
(() => {
  if (window.filmKeys) return;
  window.filmKeys = true;
  const names = %(names)s, keys = %(keys)s, aside = %(aside)s, speeds = %(speeds)s;
  const play = %(play)s, pause = %(pause)s, chart = '.js-plotly-plot', button = '.updatemenu-button';
  const press = (film, label) => [...film.querySelectorAll(button)].find(b => b.dataset.is === label)
    ?.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  const speed = film => film.dataset.speed || speeds[1];
  const set = (b, name, value) => b.getAttribute(name) === value || b.setAttribute(name, value);
  const prepare = () => document.querySelectorAll(chart + ' ' + button).forEach(b => {
    const film = b.closest(chart), words = b.querySelector('.updatemenu-item-text');
    if (!words) return;
    const is = b.dataset.is ??= words.textContent, shown = is === play && film.dataset.playing ? pause : is;
    if (words.textContent !== shown) words.textContent = shown;
    if (aside.includes(is)) {
      b.style.display = 'none';
    } else {
      set(b, 'role', 'button');
      set(b, 'tabindex', '0');
      if (speeds.includes(is)) set(b, 'aria-pressed', String(is === speed(film)));
    }
    if (b.getAttribute('aria-label') !== names[shown]) {
      b.setAttribute('aria-label', names[shown]);
      const title = b.querySelector('title') ?? document.createElementNS('http://www.w3.org/2000/svg', 'title');
      title.textContent = names[shown];
      b.prepend(title);
    }
    film.tabIndex = 0;
    film.setAttribute('aria-keyshortcuts', Object.keys(keys).map(key => key.replace(' ', 'Space')).join(' '));
    if (film.on && film.on !== film.heard) {  // another function in each new plot
      film.heard = film.on;
      film.dataset.playing = '';
      film.on('plotly_animated', () => { film.dataset.playing = ''; prepare(); });
    }
  });
  prepare();
  new MutationObserver(prepare).observe(document.body, {subtree: true, childList: true});
  window.addEventListener('unhandledrejection', e => { if (e.reason === undefined) e.preventDefault() });
  document.addEventListener('click', e => {
    const pressed = e.target.closest?.(chart + ' ' + button), is = pressed?.dataset.is;
    if (!is) return;
    const film = pressed.closest(chart), playing = film.dataset.playing;
    if (is === play) {
      e.stopPropagation();
      film.dataset.playing = playing ? '' : 'yes';
      press(film, playing ? pause : speed(film));
    } else if (speeds.includes(is)) {
      film.dataset.speed = is;
      if (!playing) e.stopPropagation();  // it is for the next Play
    } else {
      film.dataset.playing = '';
    }
    prepare();
  }, true);
  document.addEventListener('keydown', e => {
    const film = e.target.closest?.(chart);
    if (!film?.querySelector(button) || e.ctrlKey || e.altKey || e.metaKey) return;
    const on = e.key === 'Enter' || e.key === ' ' ? e.target.closest(button)?.dataset.is : undefined;
    const wanted = on ?? keys[e.key];
    if (!wanted) return;
    press(film, wanted);
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
    """Make one button of Play and Pause, and speeds of the other ones; make the films of a page operable by keyboard:
    arrows step, Home goes back to the start, the space bar plays and pauses."""
    given = {
        "names": CONTROLS | ASIDE,
        "keys": _KEYS,
        "aside": list(ASIDE),
        "speeds": [SLOW, NORMAL, FAST],
        "play": PLAY,
        "pause": PAUSE,
    }
    script = _SCRIPT % {name: json.dumps(value) for name, value in given.items()}
    st.html(script, unsafe_allow_javascript=True)


_WAIT = "The reports come in…"


def reports_section(results: DrawResults) -> None:
    """The film of the histogram: shares among the reports so far."""
    if _possible(results, "These very reports, one after the other."):
        view = figure_controls.most_frequent_bars(results)
        theta = truth.unless_hidden(results.draw.theta)
        seen = results.once(
            "arriving_reports", view.title, lambda: follow_reports(results.draw, view.categories), wait=_WAIT
        )
        figure = arriving_reports(seen, theta, results.draw.mechanism, view)
        show(figure, "arriving_reports")


def estimates_section(results: DrawResults, target: Target) -> None:
    """The film of the estimates: the truth, and the four estimators on the reports so far."""
    if _possible(results, "The same estimates while the reports come in."):
        view = figure_controls.most_frequent_bars(results)
        estimated = truth_of(results.draw, target)
        seen = results.once(
            "arriving_estimates",
            (target, view.title),
            lambda: follow_estimates(results.draw, estimated, view.categories),
            wait=_WAIT,
        )
        figure = arriving_estimates(seen, truth.unless_hidden(estimated), view)
        show(figure, "arriving_estimates")


def _possible(results: DrawResults, about: str) -> bool:
    """Whether there are few enough categories for a film; draws the line above it, or why there is none."""
    k = results.draw.scenario.k
    if k > LARGEST_K:
        st.caption(f"Films are made for up to {LARGEST_K:,} categories; here are {k:,}.")
        return False
    st.caption(f"{about} A bar may be taller than the picture.")
    return True
