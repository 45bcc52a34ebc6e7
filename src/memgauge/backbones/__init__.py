"""Chat models that answer and that memories use inside."""
