"""The transforms: functions of functions."""
