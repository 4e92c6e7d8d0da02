"""What the program writes about itself."""
