"""What `rigline doctor` looks at: each module answers with checks, and none of them changes anything."""
