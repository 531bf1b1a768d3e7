"""The figures of Rodner2010: a category from one image, with what a related category lends."""
