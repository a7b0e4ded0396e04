"""Numbers in, words about them out: one module a topic, and the phrases that all share."""
