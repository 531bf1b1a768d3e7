"""The tables and figures of Holub2008: models of parts, what their Fisher scores add, and what unlabelled images give."""
