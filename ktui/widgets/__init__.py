"""Small parts that screens are put together from; a widget a file."""
