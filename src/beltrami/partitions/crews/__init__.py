"""Who works on partitions, here or elsewhere: tasks enter, what each found leaves."""
