"""What a recurrent network costs: parameters, time, and the terms of its loss."""
