"""GPU benchmarks: agreement with the CPU, speed, faults (`python -m benchmarks.gpu`)."""
