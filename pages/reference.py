"""Reference: symbols, names, formulas, estimators compared, misprints, glossary, how to cite."""

from pages._ui.frame import open_reading

open_reading("reference", "What does this symbol, name or formula mean?")
