"""Frame in, frame out: samples to counts, counts to a tally, a tally to curves, and what stands on them."""
