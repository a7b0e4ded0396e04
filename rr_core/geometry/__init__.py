"""Where the three repairs lie (how they lie for any number of categories: `rr_core.collinearity`).

simplex      three categories: the triangle, the reports and estimates in it, where estimators set zeros; circles of
             distance and curves of likelihood around Inv
push_down    one category's count lowered until MLE* leaves the line
replicates   many collections: the bias of the repairs, and how often the three are on one line
"""
