"""How blocks are written: conventions, the families with them, and which a block follows."""
