"""What results look like to people: text tables, and later charts and reports. Frames in, text out."""
