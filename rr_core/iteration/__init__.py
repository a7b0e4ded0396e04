"""The names that scripts downloaded from `/ibu` in earlier versions import; for anything else see `rr_core.ibu`."""
