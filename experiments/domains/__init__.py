"""A bench of domains: the same questions on steel, blood cells, clothing, rubbish, textures and Caltech-101."""
