"""Values that are read and written everywhere: ids, times, texts, money."""
