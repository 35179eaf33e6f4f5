"""Loop, update, settings, initial weights and progress reports shared by all trainings."""
