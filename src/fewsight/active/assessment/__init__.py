"""How good the decisions on a pool are, whether more labels would help, and which labels look wrong."""
