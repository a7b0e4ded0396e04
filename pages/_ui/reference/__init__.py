"""The sections of the reference page: its parts and the search, and how each part is shown."""
