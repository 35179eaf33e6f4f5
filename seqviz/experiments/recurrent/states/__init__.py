"""Bundled recurrent networks read letters and reviews; jobs on those that were held out."""
