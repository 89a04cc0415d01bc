"""Facts about a device, one file each; found by scanning this folder."""
