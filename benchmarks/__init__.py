"""The asv suite: what fastpassk's work costs, beside what others need for the same rows."""
