"""The feed: parsing of lines, their application to shipments, and saving in batches."""
