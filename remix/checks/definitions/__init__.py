"""Rules, by what they are about."""
