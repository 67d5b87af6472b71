"""Points on shapes of known geometry."""
