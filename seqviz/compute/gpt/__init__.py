"""Text generation from next-token scores: sampling, beam search, trees and surprisal."""
