"""The pickers' screens. Everything but `app.py` is free of Textual, which takes longer to load than all of rigline."""
