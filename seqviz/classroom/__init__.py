"""Rooms in memory: seats, polls, shared texts, and what a teacher shows.

The package knows no network, page or language. A room has a code that students type, a token that
only its teacher's browser has, and seats with one secret each. No names are stored, and a room ends
with the lecture. Entry point: `rooms.Rooms`.
"""
