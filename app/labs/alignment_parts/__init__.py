"""The parts of the Alignment page: settings and controls (light), then one module a panel."""
