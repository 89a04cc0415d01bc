"""What a measurement is: its records on disk and the statistics over them."""
