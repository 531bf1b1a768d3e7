"""The figures and tables of Gehler2009: kernels that are learned."""
