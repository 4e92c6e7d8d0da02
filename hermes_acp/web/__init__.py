"""Web access: pages, search engines, a browser."""
