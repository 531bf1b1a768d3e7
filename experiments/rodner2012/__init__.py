"""The figures of Rodner2012, on Caltech-101 bags of words and on histograms that are made up."""
