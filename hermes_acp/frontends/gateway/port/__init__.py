"""What a platform is to the gateway."""
