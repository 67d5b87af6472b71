"""What a device saves, stage by stage, and whether its answers are the processor's."""
