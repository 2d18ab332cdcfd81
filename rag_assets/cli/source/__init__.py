"""Commands about one place of the sources: `read`, `show`, `explain`, `cite`."""
