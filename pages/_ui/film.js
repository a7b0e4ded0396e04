// Listeners are set once per tab. An animation that is interrupted rejects a promise that Plotly leaves to nobody: no
// error, so it is not reported as one. Plotly writes its own labels into the buttons with each frame; the observer
// has changed them before they are painted.
function listenToFilms({names, keys, aside, speeds, play, pause}) {
  if (window.filmKeys) return;
  window.filmKeys = true;
  const chart = '.js-plotly-plot', button = '.updatemenu-button';
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
}
