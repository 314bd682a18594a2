"""What executes, reruns, compares and decorates the notebooks."""
