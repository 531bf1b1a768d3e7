"""The labelling page as people meet it: pictures of its views, and a simulated person who answers by keys."""
