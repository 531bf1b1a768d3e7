"""The labelling page: a small server on this machine alone, over one `LabellingSession`."""
