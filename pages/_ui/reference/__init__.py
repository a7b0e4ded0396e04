"""The content of the reference page: one topic per module, each with its entries and how it is shown."""
