"""What the experiments on several papers share: the command line, Gram matrices on disk, cells that are resumed."""
