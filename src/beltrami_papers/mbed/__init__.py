"""Zien and Quiñonero Candela (2005), Mbed: figures 1 to 3, tables 1 and 2."""
