"""What differs between the two databases: one small file each."""
