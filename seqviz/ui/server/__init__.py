"""The app as a server: what is served beside the pages, measured, logged and allowed."""
