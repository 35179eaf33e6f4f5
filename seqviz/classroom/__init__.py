"""A class in one place: rooms in memory, their seats, votes, and what a teacher shows.

Nothing here knows a network, a page or a language. A room has a code that students type, a token
that only its teacher's browser has, and seats, each with a secret of its own. There are no names
and nothing is kept: a room ends with the lecture.
"""
