"""The paper's experiments, small and real: networks that learn with and without layer norm.

`results` reads what ships, with NumPy alone; the networks themselves need JAX and optax, the extra
`normgeo[experiments]`.
"""
