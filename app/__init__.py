"""The Streamlit app: pages, page furniture, experiments, charts and browser components."""
