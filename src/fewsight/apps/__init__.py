"""What people use without writing code. `workbench/` does all the work; the apps only ask it and show the answer."""
