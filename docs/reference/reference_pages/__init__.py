"""The generated reference pages, one module a page; each exports `render`."""
