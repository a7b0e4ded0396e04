"""Reference."""

from pages._ui.frame import open_page

page = open_page("reference", "What does this symbol, name or formula mean?")
