"""What goes wrong outside: servers that stop, connections that break, values that do not fit."""
