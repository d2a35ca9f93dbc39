"""What is neleval's own: measures as triples of aggregate, filter and key."""
