"""What runs on its own: the nightly schedule, the sensors of commits, the freshness of labels, the failure webhook.

Modules with schedules, sensors and checks have no `from __future__ import annotations`: Dagster finds their
resources by the annotations.
"""
