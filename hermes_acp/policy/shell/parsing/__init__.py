"""Parse command lines with the grammar of bash."""
