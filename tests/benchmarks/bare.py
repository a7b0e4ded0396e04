"""The bare page of the page benchmark: one slider, one line of 2,000 points. As little as Streamlit can do."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

wave = st.slider("Privacy ε", 0.1, 10.0, 2.0, 0.1)
x = np.arange(2000, dtype=np.float32)
st.plotly_chart(go.Figure(go.Scatter(x=x, y=np.sin(x / 100 * wave), mode="lines")))
