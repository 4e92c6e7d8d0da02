"""Tell people who are not at a client what happened: what is done, has failed or waits for them."""
