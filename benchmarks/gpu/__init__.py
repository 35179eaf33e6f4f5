"""What a GPU changes: agreement with the CPU, speed, faults. `python -m benchmarks.gpu`."""
