"""The network beyond models: pages, search engines, a browser."""
