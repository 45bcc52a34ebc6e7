"""The one meter that every model call passes through, in process or over HTTP."""
