"""The names that scripts downloaded from `/your_reports` in earlier versions import; for anything else see
`rr_core.reports`."""
