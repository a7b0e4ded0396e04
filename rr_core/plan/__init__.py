"""Planning a collection: what a choice of epsilon and N buys, and what else could be done."""
