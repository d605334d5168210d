"""Tables of texts, of features or of vectors, as samples."""
