"""What the tables are: column names and their aliases, the frames, the policies, the spellings of an outcome."""
