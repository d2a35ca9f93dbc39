"""What HIPE-scorer has of its own: mentions of layers, how answers meet gold, and the counts made of it."""
