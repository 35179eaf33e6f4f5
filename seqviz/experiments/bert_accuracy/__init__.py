"""The accuracy lesson on a real encoder: masked, padded, turned one way, trained, and tested."""
